package lab

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"tutti/benchrunner"
)

// ResultFile is a file of outcomes or calibrations. An interrupted run can continue from it. The first line
// contains the options of the run, and each other line contains one result, all as JSON.
type ResultFile[T Outcome | Calibration] struct {
	f       *os.File
	Results []T // results that were in the file
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
// change the file.
func OpenOutcomes(path string, opt Options, launchSeconds float64) (*ResultFile[Outcome], error) {
	return openResults[Outcome](path, resultHeader{"outcomes", launchSeconds, opt})
}

// OpenCalibrations does the same as OpenOutcomes for calibrations. It ignores the noise in opt, because
// each calibration contains its own.
func OpenCalibrations(path string, opt Options, launchSeconds float64) (*ResultFile[Calibration], error) {
	opt.Noise, opt.Tail = 0, 0
	return openResults[Calibration](path, resultHeader{"calibrations", launchSeconds, opt})
}

func openResults[T Outcome | Calibration](path string, header resultHeader) (*ResultFile[T], error) {
	header.Options.Workers, header.Options.Launch = 0, benchrunner.LaunchCost{}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	k := &ResultFile[T]{f: f}
	if err := k.read(header); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return k, nil
}

// read reads the results and removes an incomplete last line. It changes nothing before it has checked the
// first line.
func (k *ResultFile[T]) read(want resultHeader) error {
	header, err := json.Marshal(want)
	if err != nil {
		return err
	}
	lines := bufio.NewReader(k.f)
	end := int64(0)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		incomplete := errors.Is(err, io.EOF)
		if err != nil && !incomplete {
			return err
		}
		switch {
		case n == 1 && incomplete && bytes.HasPrefix(header, line): // a new file, or one whose first line was interrupted
		case n == 1:
			if err := checkHeader(line, want); err != nil {
				return err
			}
			if incomplete {
				return errors.New("line 1: its end is missing")
			}
		case !incomplete:
			var v T
			if err := decodeStrictly(line, &v); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			k.Results = append(k.Results, v)
		}
		if incomplete {
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

// checkHeader returns an error unless the first line is the header want.
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

// Add appends a result to the file.
func (k *ResultFile[T]) Add(v T) error { return k.write(v) }

func (k *ResultFile[T]) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = k.f.Write(append(line, '\n'))
	return err
}

// Close closes the file.
func (k *ResultFile[T]) Close() error { return k.f.Close() }
