package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"tutti/benchrunner"
)

// Replay identifies one replay of a run. A replay is a campaign simulated with recorded measurements.
type Replay struct {
	Data       string  `json:"data"`
	Collective string  `json:"collective"`
	Strategy   string  `json:"strategy"`
	Launch     string  `json:"launch"` // name of the price of launches, see LaunchName
	Seed       uint64  `json:"seed"`
	Noise      float64 `json:"noise"`
	Tail       float64 `json:"tail,omitzero"`
}

func (r Replay) key() Replay { return r }

type result interface {
	Outcome | Calibration
	key() Replay
}

// ResultFile is a file of outcomes or calibrations. An interrupted run can continue from it. The first line
// contains the options of the run, and each other line contains one result, all as JSON. It is safe for
// concurrent use. A nil *ResultFile keeps nothing.
type ResultFile[T result] struct {
	mu    sync.Mutex
	f     *os.File
	known map[Replay]T
}

// resultHeader is the first line of the file. It contains the options that affect the results but are not
// part of them.
type resultHeader struct {
	Content       string  `json:"content"` // outcomes or calibrations
	LaunchSeconds float64 `json:"launch_seconds"`
	Options       Options `json:"options"`
}

// OpenOutcomes opens the file of outcomes at path, or creates it. It removes an incomplete last line. If
// the file has other content or was written with other options, OpenOutcomes returns an error and does not
// change the file. If path is "", it returns nil.
func OpenOutcomes(path string, opt Options, launchSeconds float64) (*ResultFile[Outcome], error) {
	return openResults[Outcome](path, resultHeader{"outcomes", launchSeconds, opt})
}

// OpenCalibrations does the same as OpenOutcomes for calibrations. It ignores the noise in `opt`, because
// each calibration contains its own.
func OpenCalibrations(path string, opt Options, launchSeconds float64) (*ResultFile[Calibration], error) {
	opt.Noise, opt.Tail = 0, 0
	return openResults[Calibration](path, resultHeader{"calibrations", launchSeconds, opt})
}

func openResults[T result](path string, header resultHeader) (*ResultFile[T], error) {
	if path == "" {
		return nil, nil
	}
	header.Options.Workers, header.Options.Launch = 0, benchrunner.LaunchCost{}
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	k := &ResultFile[T]{known: map[Replay]T{}}
	end := bytes.LastIndexByte(content, '\n') + 1
	if err := k.read(content[:end], content[end:], header); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if k.f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, err
	}
	err = k.f.Truncate(int64(end))
	if err == nil {
		_, err = k.f.Seek(0, io.SeekEnd)
	}
	if err == nil && end == 0 {
		err = k.write(header)
	}
	return k, err
}

// read reads the complete lines of a file of results. `rest` is the incomplete line at its end, if any.
func (k *ResultFile[T]) read(lines, rest []byte, want resultHeader) error {
	header, err := json.Marshal(want)
	if err != nil {
		return err
	}
	if len(lines) == 0 && bytes.HasPrefix(header, rest) {
		return nil // a new file, or one whose first line was interrupted
	}
	n := 0
	for line := range bytes.Lines(lines) {
		if n++; n == 1 {
			if err := checkHeader(line, want); err != nil {
				return err
			}
			continue
		}
		var v T
		if err := decodeStrictly(line, &v); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		k.known[v.key()] = v
	}
	if n == 0 {
		return checkHeader(rest, want)
	}
	return nil
}

// checkHeader returns an error unless the first line of a file equals the given header.
func checkHeader(line []byte, want resultHeader) error {
	var have resultHeader
	if err := decodeStrictly(line, &have); err != nil || have.Content != want.Content {
		return fmt.Errorf("line 1: this is no file of %s and was not changed: want another file", want.Content)
	}
	if have != want {
		return fmt.Errorf("its %s have other options, %s: want another file or the same options", want.Content, bytes.TrimSpace(line))
	}
	return nil
}

// decodeStrictly decodes JSON into v. It returns an error if the JSON has a field that v does not have.
func decodeStrictly(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func (k *ResultFile[T]) find(r Replay) (v T, ok bool) {
	if k != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		v, ok = k.known[r]
	}
	return v, ok
}

// Add appends a result to the file. If k is nil, it does nothing.
func (k *ResultFile[T]) Add(v T) error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[v.key()] = v
	return k.write(v)
}

func (k *ResultFile[T]) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = k.f.Write(append(line, '\n'))
	return err
}
