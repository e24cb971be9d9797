package discover

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"tutti/metrics"
)

// logTable holds the natural logarithms of the distances in a Matrix.
type logTable struct {
	n int
	x []float64
}

func (t logTable) row(i int) []float64 { return t.x[i*t.n : (i+1)*t.n] }

func (m Matrix) smallest() float64 {
	out := math.Inf(1)
	for _, x := range m.d {
		if x > 0 {
			out = min(out, x)
		}
	}
	return out
}

func logs(m Matrix, unit float64) logTable {
	t := logTable{n: m.n, x: make([]float64, len(m.d))}
	for i, x := range m.d {
		if x > 0 {
			t.x[i] = math.Log(x / unit)
		}
	}
	return t
}

// Clip is a quantile of all distances. The function Profile limits longer distances to this quantile.
// Without the limit, a few delayed messages would dominate the difference between two rows of the matrix.
const Clip = 0.97

// Profile compares the profiles of all members of a complete matrix. A profile is a member's row of the
// distance matrix, as logarithms.
//
// Profile returns the root mean square difference between each two profiles, without the columns of the two
// members. Distances are limited to the Clip quantile. Members of one group have similar profiles, and
// averaging over a row reduces the noise. Profile takes O(n³) time.
//
// Source: Reinfjell, Automatic Detection of Interconnect Topologies (NTNU 2023), equations 3.5 and 3.6, with
// logarithms.
func Profile(m Matrix) Matrix {
	return Matrix{n: m.n, d: profile(logs(m, m.smallest()))}
}

// profile returns the n·n root mean square differences between the rows of t. The diagonal of t must be
// zero.
func profile(t logTable) []float64 {
	most := metrics.Quantile(upper(t.n, t.x), Clip)
	limited := logTable{n: t.n, x: make([]float64, len(t.x))}
	for i, x := range t.x {
		limited.x[i] = min(x, most)
	}
	out := make([]float64, len(t.x))
	for i := range t.n {
		for j := range i {
			all := floats.Distance(limited.row(i), limited.row(j), 2)
			own := limited.row(i)[j] // the difference in the columns i and j
			x := math.Sqrt(max(all*all-2*own*own, 0) / float64(max(t.n-2, 1)))
			out[i*t.n+j], out[j*t.n+i] = x, x
		}
	}
	return out
}

func allMembers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
