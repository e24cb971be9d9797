package gp

import "math"

// farAway is the squared distance at which the correlation is below 1e-300 and counts as zero:
// √(5·1e5) = 707 exceeds the 690 whose negative exponential is 1e-300.
const farAway = 1e5

// matern replaces the squared distances in r2 by signal times the Matérn-5/2 correlation,
// (1 + √5·r + 5r²/3)·exp(-√5·r), of functions with two derivatives. With slope not nil it also
// writes there the factor s for which the derivative with respect to the logarithm of length_d
// is s·((a_d - b_d)/length_d)².
//
// Source: Rasmussen and Williams, Gaussian Processes for ML (2006), equation 4.17.
func matern(r2, slope []float64, signal float64) {
	for i, q := range r2 {
		if q > farAway {
			r2[i] = 0
			if slope != nil {
				slope[i] = 0
			}
			continue
		}
		s := math.Sqrt(5 * q)
		e := signal * decay(s)
		r2[i] = e * (1 + s + 5./3*q)
		if slope != nil {
			slope[i] = e * (1 + s) * (5. / 3)
		}
	}
}

// columns holds rows divided by the length scales, one slice per column: the layout in which
// distances from one row to many are summed column by column.
type columns [][]float64

// newColumns scales rows by the inverse of length.
func newColumns(rows [][]float64, length []float64) columns {
	c := make(columns, len(length))
	for d := range c {
		c[d] = make([]float64, 0, len(rows))
	}
	for _, row := range rows {
		c.push(row, length)
	}
	return c
}

// push appends a row.
func (c columns) push(row, length []float64) {
	for d := range c {
		c[d] = append(c[d], row[d]/length[d])
	}
}

// row copies scaled row i to dst.
func (c columns) row(i int, dst []float64) {
	for d := range c {
		dst[d] = c[d][i]
	}
}

// between returns rows first up to last, sharing their memory.
func (c columns) between(first, last int) columns {
	part := make(columns, len(c))
	for d, col := range c {
		part[d] = col[first:last]
	}
	return part
}

// distances writes to dst the squared distances from the scaled row x to the first len(dst) rows.
func (c columns) distances(dst, x []float64) {
	clear(dst)
	for d, col := range c {
		xd := x[d]
		for j, v := range col[:len(dst)] {
			t := xd - v
			dst[j] += t * t
		}
	}
}
