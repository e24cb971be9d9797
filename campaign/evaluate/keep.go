package evaluate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Kept is a file of outcomes, one JSON object a line, below one line that says with
// which options they came about. A comparison that is broken off goes on from it.
type Kept struct {
	f        *os.File
	Outcomes []Outcome // that were in it
}

// keptOptions are those that results depend on, beside what an outcome tells itself.
type keptOptions struct {
	Noise         float64 `json:"noise"`
	LaunchSeconds float64 `json:"launch_seconds"`
	Scaling       string  `json:"scaling"`
	Model         string  `json:"model"`
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
		Noise: o.Noise, LaunchSeconds: launchSeconds, Scaling: string(o.Scaling), Model: string(o.Model),
		Slowdown: o.Criteria.Slowdown, Mistakes: o.Criteria.Mistakes, Patience: o.Criteria.Patience,
		Candidates: o.Batch.Candidates, Growth: o.Batch.Growth, Trees: o.Trees, ToShare: o.ToShare,
		Nodes: o.Nodes,
	}
}

// Keep opens the file of outcomes at path, a new one where there is none. A last line
// that was not written to its end is cut off. It is an error when the file's outcomes
// came about with other options.
func Keep(path string, opt Options, launchSeconds float64) (*Kept, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	k := &Kept{f: f}
	if err := k.read(opt.kept(launchSeconds)); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return k, nil
}

func (k *Kept) read(want keptOptions) error {
	lines := bufio.NewReader(k.f)
	end := int64(0)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err != nil { // the last line, empty or torn
			break
		}
		if n == 1 {
			var have keptOptions
			if err := json.Unmarshal(line, &have); err != nil {
				return fmt.Errorf("line 1: %w", err)
			}
			if have != want {
				return fmt.Errorf("its outcomes came about with %s: want another file or the same options", bytes.TrimSpace(line))
			}
		} else {
			var o Outcome
			if err := json.Unmarshal(line, &o); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			k.Outcomes = append(k.Outcomes, o)
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

// Add appends an outcome without its curve.
func (k *Kept) Add(o Outcome) error {
	o.Curve = nil
	return k.write(o)
}

func (k *Kept) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = k.f.Write(append(line, '\n'))
	return err
}

// Close closes the file.
func (k *Kept) Close() error { return k.f.Close() }
