package lab

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Kept is a file of outcomes or calibrations, one JSON object a line, below one line that
// says what they are and with which options they came about. A run that is broken off goes
// on from it.
type Kept[T Outcome | Calibration] struct {
	f     *os.File
	Known []T // that were in it
}

// keptOptions are those that results depend on, beside what a result tells itself.
type keptOptions struct {
	Kept          string  `json:"kept"` // what the lines are
	Noise         float64 `json:"noise,omitzero"`
	JobNoise      float64 `json:"job_noise,omitzero"`
	LaunchSeconds float64 `json:"launch_seconds"`
	Scaling       string  `json:"scaling"`
	Model         string  `json:"model"`
	Selected      bool    `json:"selected,omitzero"`
	Slowdown      float64 `json:"slowdown"`
	Mistakes      float64 `json:"mistakes"`
	Patience      int     `json:"patience"`
	Candidates    int     `json:"batch"`
	Growth        float64 `json:"growth"`
	Trees         int     `json:"trees"`
	ToShare       float64 `json:"to_share"`
	Nodes         int     `json:"nodes,omitzero"`
}

func (o Options) kept(launchSeconds float64) keptOptions {
	return keptOptions{
		JobNoise: o.JobNoise, LaunchSeconds: launchSeconds, Scaling: string(o.Scaling), Model: string(o.Model), Selected: o.Selected,
		Slowdown: o.Criteria.Slowdown, Mistakes: o.Criteria.Mistakes, Patience: o.Criteria.Patience,
		Candidates: o.Batch.Candidates, Growth: o.Batch.Growth, Trees: o.Trees, ToShare: o.ToShare,
		Nodes: o.Nodes,
	}
}

// KeepOutcomes opens the file of outcomes at path, a new one where there is none. A last
// line that was not written to its end is cut off. A file that holds anything else, or
// outcomes that came about with other options, is left as it is: that is an error.
func KeepOutcomes(path string, opt Options, launchSeconds float64) (*Kept[Outcome], error) {
	want := opt.kept(launchSeconds)
	want.Kept, want.Noise = "outcomes", opt.Noise
	return keep[Outcome](path, want)
}

// KeepCalibrations is KeepOutcomes for calibrations, which tell their noise themselves.
func KeepCalibrations(path string, opt Options, launchSeconds float64) (*Kept[Calibration], error) {
	want := opt.kept(launchSeconds)
	want.Kept = "calibrations"
	return keep[Calibration](path, want)
}

func keep[T Outcome | Calibration](path string, want keptOptions) (*Kept[T], error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	k := &Kept[T]{f: f}
	if err := k.read(want); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return k, nil
}

// read takes what the file holds and cuts off a torn last line. It changes nothing before
// it knows that the file is its own.
func (k *Kept[T]) read(want keptOptions) error {
	header, err := json.Marshal(want)
	if err != nil {
		return err
	}
	lines := bufio.NewReader(k.f)
	end := int64(0)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		torn := errors.Is(err, io.EOF)
		if err != nil && !torn {
			return err
		}
		switch {
		case n == 1 && torn && bytes.HasPrefix(header, line): // empty, or broken off at once
		case n == 1:
			if err := checkHeader(line, want); err != nil {
				return err
			}
			if torn { // our own options, but not as we write them
				return errors.New("line 1: its end is missing")
			}
		case !torn:
			var v T
			if err := decode(line, &v); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			k.Known = append(k.Known, v)
		}
		if torn {
			break
		}
		end += int64(len(line))
	}
	if err := k.f.Truncate(end); err != nil {
		return err
	}
	if _, err := k.f.Seek(end, io.SeekStart); err != nil {
		return err
	}
	if end > 0 {
		return nil
	}
	return k.write(want)
}

// checkHeader reports a first line that is none of ours, or of other options.
func checkHeader(line []byte, want keptOptions) error {
	var have keptOptions
	if err := decode(line, &have); err != nil || have.Kept != want.Kept {
		return fmt.Errorf("line 1: it is no file of %s: want another file, this one is left as it is", want.Kept)
	}
	if have != want {
		return fmt.Errorf("its %s came about with %s: want another file or the same options", want.Kept, bytes.TrimSpace(line))
	}
	return nil
}

// decode refuses fields that v does not have.
func decode(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// Add appends a result, an outcome without its curve.
func (k *Kept[T]) Add(v T) error {
	if o, ok := any(v).(Outcome); ok {
		o.Curve = nil
		return k.write(o)
	}
	return k.write(v)
}

func (k *Kept[T]) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = k.f.Write(append(line, '\n'))
	return err
}

// Close closes the file.
func (k *Kept[T]) Close() error { return k.f.Close() }
