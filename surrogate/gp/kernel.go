package gp

import (
	"fmt"
	"math"
)

// Kernel is the family of covariance functions: how the correlation of two rows falls with
// their distance r, r² = Σ ((a_d - b_d)/length_d)².
type Kernel int

const (
	// Matern52 is (1 + √5·r + 5r²/3)·exp(-√5·r): functions with two derivatives. The default.
	//
	// Source: Rasmussen and Williams, Gaussian Processes for ML (2006), equation 4.17.
	Matern52 Kernel = iota
	// RBF is exp(-r²/2): infinitely smooth functions (same book, equation 4.9).
	RBF
)

// String names the kernel as reports show it.
func (k Kernel) String() string {
	switch k {
	case Matern52:
		return "matern52"
	case RBF:
		return "rbf"
	}
	return fmt.Sprintf("Kernel(%d)", int(k))
}

// farAway is the squared distance at which either kernel is below 1e-300 and counts as zero:
// √(5·1e5) = 707 exceeds the 690 whose negative exponential is 1e-300.
const farAway = 1e5

// covariance replaces the squared distances in r2 by signal times the correlation. With slope
// not nil it also writes there the factor s for which the derivative with respect to the
// logarithm of length_d is s·((a_d - b_d)/length_d)².
func (k Kernel) covariance(r2, slope []float64, signal float64) {
	if k == RBF {
		rbf(r2, slope, signal)
		return
	}
	for i, q := range r2 {
		if q > farAway {
			r2[i] = 0
			if slope != nil {
				slope[i] = 0
			}
			continue
		}
		s := math.Sqrt(5 * q)
		e := signal * math.Exp(-s)
		r2[i] = e * (1 + s + 5./3*q)
		if slope != nil {
			slope[i] = e * (1 + s) * (5. / 3)
		}
	}
}

func rbf(r2, slope []float64, signal float64) {
	for i, q := range r2 {
		e := 0.0
		if q <= farAway {
			e = signal * math.Exp(-0.5*q)
		}
		r2[i] = e
	}
	if slope != nil {
		copy(slope, r2)
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
