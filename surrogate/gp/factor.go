package gp

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// factor is the lower Cholesky factor L of a symmetric positive definite matrix. Row i has i+1 entries. A
// new row is appended in O(n²) operations, and the other rows stay in place.
//
// It also stores the inverse of each diagonal block, which turns triangular solves into block
// products.
type factor struct {
	n    int
	rows [][]float64 // row i of L has i+1 numbers; rows from n on are unused memory
	inv  [][]float64 // row i of the inverse of its diagonal block: blockLen numbers, zero after the diagonal
}

// storage allocates the rows with an index below `to`.
func (f *factor) storage(to int) {
	if n := len(f.rows); n < to {
		f.rows = append(f.rows, trapezoid(n, to)...)
		f.inv = append(f.inv, newRows(to-n, blockLen)...)
	}
}

// extend factors the matrix rows with index i, n ≤ i < to, and appends them to L. The function `fill` sets
// the first i+1 entries of row i. The result is true if all new pivots are finite and larger than rounding
// errors. Otherwise the factor keeps the rows up to the last valid block. It takes O(to³-n³) operations.
func (f *factor) extend(to int, fill func(i int, row []float64)) bool {
	f.storage(to)
	for f.n < to {
		if f.n%blockLen != 0 || to-f.n < tileRows {
			fill(f.n, f.rows[f.n])
			if !f.pushRow() {
				return false
			}
			continue
		}
		last := min(f.n+blockLen, to)
		for i := f.n; i < last; i++ {
			fill(i, f.rows[i])
		}
		if !f.pushBlock(last) {
			return false
		}
	}
	return true
}

// pushRow replaces row n of the matrix by row n of L and reports whether that succeeds. It takes O(n²)
// operations.
func (f *factor) pushRow() bool {
	x := f.rows[f.n]
	diagonal := x[f.n]
	f.solveRow(x[:f.n])
	x[f.n] -= dot(x[:f.n], x[:f.n])
	return f.pivot(f.n, diagonal)
}

// pushBlock replaces the matrix rows n to last-1, at most one block, by rows of L and reports whether that
// succeeds.
func (f *factor) pushBlock(last int) bool {
	first := f.n
	x := f.rows[first:last]
	f.solve(x, 0)
	var c block
	c.mul(x, x, 0, first)
	for i, row := range x {
		own := row[first:]
		diagonal := own[i]
		for j := range own {
			own[j] -= c[i*blockLen+j]
		}
		for j := range i {
			done := x[j][first:]
			own[j] = (own[j] - dot(own[:j], done[:j])) / done[j]
			own[i] -= own[j] * own[j]
		}
		if !f.pivot(first+i, diagonal) {
			f.n = first
			return false
		}
	}
	return true
}

// minPivot is the smallest accepted square of a pivot, relative to the diagonal entry of the matrix. A
// smaller square may consist of rounding errors, which are about n·2⁻⁵².
const minPivot = 1e-13

// pivot completes row i of L, whose last entry holds the square of the pivot. It also appends a row to the
// inverse of the diagonal block. `diagonal` is the diagonal entry of the matrix. The result
// says whether the pivot is accepted (see minPivot).
func (f *factor) pivot(i int, diagonal float64) bool {
	x := f.rows[i]
	if !(x[i] > minPivot*diagonal) || !(diagonal > 0) || math.IsInf(x[i], 1) {
		return false
	}
	x[i] = math.Sqrt(x[i])
	first := i - i%blockLen
	inv := f.inv[i]
	clear(inv)
	for k := first; k < i; k++ {
		floats.AddScaled(inv[:k-first+1], -x[k]/x[i], f.inv[k][:k-first+1])
	}
	inv[i-first] = 1 / x[i]
	f.n = i + 1
	return true
}

// solveRow replaces b by L⁻¹b, with the first len(b) rows of L. It takes O(len(b)²) operations.
func (f *factor) solveRow(b []float64) {
	for j := range b {
		row := f.rows[j]
		b[j] = (b[j] - dot(row[:j], b[:j])) / row[j]
	}
}

// solve replaces b by L⁻¹b for each row of xs, where b is the first n numbers of the row. The columns with
// an index below `from` are zero and remain zero. It takes O(len(xs)·n²) operations in block products.
func (f *factor) solve(xs [][]float64, from int) {
	var c, remainder block
	var lines [blockLen][]float64
	for i := range lines {
		lines[i] = remainder[i*blockLen : (i+1)*blockLen]
	}
	from -= from % blockLen
	for len(xs) > 0 {
		part := xs[:min(blockLen, len(xs))]
		xs = xs[len(part):]
		for first := from; first < f.n; first += blockLen {
			last := min(first+blockLen, f.n)
			c.mul(part, f.rows[first:last], from, first)
			for i, x := range part {
				line := lines[i]
				for j, b := range x[first:last] {
					line[j] = b - c[i*blockLen+j]
				}
				clear(line[last-first:])
			}
			c.mul(lines[:len(part)], f.inv[first:last], 0, blockLen)
			for i, x := range part {
				copy(x[first:last], c[i*blockLen:])
			}
		}
	}
}

// times replaces z by Lz for each row z of zs, in block products.
func (f *factor) times(zs [][]float64) {
	var c block
	for len(zs) > 0 {
		part := zs[:min(blockLen, len(zs))]
		zs = zs[len(part):]
		for first := (f.n - 1) / blockLen * blockLen; first >= 0; first -= blockLen {
			last := min(first+blockLen, f.n)
			c.mul(part, f.rows[first:last], 0, first)
			for i, z := range part {
				for j := last - 1; j >= first; j-- {
					z[j] = c[i*blockLen+j-first] + dot(f.rows[j][first:j+1], z[first:j+1])
				}
			}
		}
	}
}

// inverseRoot sets u to L⁻ᵀ: row i of u is column i of L⁻¹. u must have n rows of at least n numbers.
func (f *factor) inverseRoot(u [][]float64) {
	for first := 0; first < f.n; first += blockLen {
		last := min(first+blockLen, f.n)
		for i := first; i < last; i++ {
			clear(u[i])
			u[i][i] = 1
		}
		f.solve(u[first:last], first)
	}
}

// solveBack replaces b by L⁻ᵀb. It takes O(n²) operations.
func (f *factor) solveBack(b []float64) {
	for i := f.n - 1; i >= 0; i-- {
		row := f.rows[i]
		b[i] /= row[i]
		floats.AddScaled(b[:i], -b[i], row[:i])
	}
}

// halfLogDet returns half the logarithm of the determinant of the factored matrix.
func (f *factor) halfLogDet() float64 {
	var s float64
	for i, row := range f.rows[:f.n] {
		s += math.Log(row[i])
	}
	return s
}

func dot(x, y []float64) float64 { return floats.Dot(x, y) }

// The jitters that the method `build` tries, relative to the diagonal. If rows are close to each other,
// rounding errors of about n·2⁻⁵² can make the matrix indefinite. A jitter of 1e-4 is 1 % of the signal's
// standard deviation.
const (
	firstJitter = 1e-10
	lastJitter  = 1.5e-4
)

// build factors an n×n matrix in the same way as extend. If a pivot is not accepted, it adds a jitter (a
// small number) to the diagonal. The jitter is `diagonal` times the smallest of 1e-10, 1e-9, …
// 1e-4 with which all pivots are accepted. The result `ok` is false if even the largest jitter is too small.
func (f *factor) build(n int, diagonal float64, fill func(i int, row []float64)) (ok bool) {
	for jitter := 0.0; !ok && jitter <= lastJitter; jitter = max(jitter*10, firstJitter) {
		f.n = 0 // keeps the memory of the rows
		ok = f.extend(n, func(i int, row []float64) {
			fill(i, row)
			row[i] += jitter * diagonal
		})
	}
	return ok
}
