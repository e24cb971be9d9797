package testutil

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"testing"
)

// ReadRows reads rows of numbers from CSV. An empty cell is NaN.
func ReadRows(t testing.TB, r io.Reader) [][]float64 {
	t.Helper()
	c := csv.NewReader(r)
	c.FieldsPerRecord, c.TrimLeadingSpace = -1, true
	var rows [][]float64
	for _, cells := range Must(c.ReadAll())(t) {
		row := make([]float64, len(cells))
		for i, cell := range cells {
			if row[i] = math.NaN(); cell != "" {
				row[i] = Must(strconv.ParseFloat(cell, 64))(t)
			}
		}
		rows = append(rows, row)
	}
	return rows
}
