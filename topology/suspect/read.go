package suspect

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

var columns = []string{"a", "b", "seconds"}

// Read reads pairs from comma-separated values with a header that has the columns a, b
// and seconds, a pair a line; other columns are passed over, and file stands in errors. A
// pair may be there several times.
//
// It returns an error matching ErrPair for a header without one of them, a time that is
// no number and a file without pairs. Whether the nodes exist and the times can be is for
// Find.
func Read(r io.Reader, file string) ([]Pair, error) {
	c := csv.NewReader(r)
	header, err := c.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var at [3]int
	for i, name := range columns {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return nil, fmt.Errorf("%s:1: %w: header %q: want the columns %q", file, ErrPair, header, columns)
		}
	}
	var out []Pair
	for {
		cells, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		seconds, err := strconv.ParseFloat(cells[at[2]], 64)
		if err != nil {
			line, _ := c.FieldPos(at[2])
			return nil, fmt.Errorf("%s:%d: %w: %q: want seconds", file, line, ErrPair, cells[at[2]])
		}
		out = append(out, Pair{A: cells[at[0]], B: cells[at[1]], Seconds: seconds})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: %w: nothing below the header", file, ErrPair)
	}
	return out, nil
}
