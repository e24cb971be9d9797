package clustering

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"tutti/topology/discover"
)

// Read reads a matrix from CSV, with one row in each line. An empty cell or NaN means that the pair was not
// measured. Errors begin with file, the name of the input.
func Read(r io.Reader, file string) (discover.Matrix, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = -1
	c.TrimLeadingSpace = true
	var rows [][]float64
	for {
		cells, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return discover.Matrix{}, fmt.Errorf("%s: %w", file, err)
		}
		row := make([]float64, len(cells))
		for i, cell := range cells {
			if row[i], err = number(cell); err != nil {
				line, _ := c.FieldPos(i)
				return discover.Matrix{}, fmt.Errorf("%s:%d: column %d: %w", file, line, i+1, err)
			}
		}
		rows = append(rows, row)
	}
	m, err := discover.NewMatrix(rows)
	if err != nil {
		return discover.Matrix{}, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}

// number parses a cell. It returns NaN if the cell is empty.
func number(cell string) (float64, error) {
	if cell == "" {
		return math.NaN(), nil
	}
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return 0, fmt.Errorf("%q: want a number or nothing", cell)
	}
	return x, nil
}

// values returns a copy of the distances, one row after another.
func values(m discover.Matrix) []float64 {
	var out []float64
	for i := range m.Len() {
		out = append(out, m.Row(i)...)
	}
	return out
}

// Agglomerate merges the two nearest groups of a matrix until one group remains. It takes O(n²) time and
// memory.
func Agglomerate(m discover.Matrix, by discover.Linkage) discover.Dendrogram {
	return discover.Agglomerate(m.Len(), values(m), by)
}

// Heights returns the distance of each merge in a dendrogram, in ascending order.
func Heights(d discover.Dendrogram) []float64 {
	out := make([]float64, len(d.Merges))
	for t, m := range d.Merges {
		out[t] = m.Height
	}
	return out
}
