package discover

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"tutti/metrics"
)

func (m Matrix) smallest() float64 {
	out := math.Inf(1)
	for _, x := range m.d {
		if x > 0 {
			out = min(out, x)
		}
	}
	return out
}

// logs returns the natural logarithms of the distances divided by `unit`. The diagonal remains zero.
func logs(m Matrix, unit float64) Matrix {
	t := Matrix{n: m.n, d: make([]float64, len(m.d))}
	for i, x := range m.d {
		if x > 0 {
			t.d[i] = math.Log(x / unit)
		}
	}
	return t
}

// Clip is a quantile of all distances. The function Profile limits longer distances to this quantile.
// Without the limit, a few delayed messages would dominate the difference between two rows of the matrix.
const Clip = 0.97

// Profile returns how much the profiles of each two members of a complete matrix differ. A profile is a member's row
// of the distance matrix, as logarithms.
//
// The difference is the root mean square over the columns, without those of the two members. Distances are limited to
// the Clip quantile. Members of one group have similar profiles, and averaging over a row reduces the noise. Profile
// takes O(n³) time.
//
// Source: Reinfjell, Automatic Detection of Interconnect Topologies (NTNU 2023), equations 3.5 and 3.6, with
// logarithms.
func Profile(m Matrix) Matrix {
	return profile(logs(m, m.smallest()))
}

// profile returns the root mean square differences between the rows of t. The diagonal of t must be zero.
func profile(t Matrix) Matrix {
	most := metrics.Quantile(upper(t.n, t.d), Clip)
	limited := Matrix{n: t.n, d: make([]float64, len(t.d))}
	for i, x := range t.d {
		limited.d[i] = min(x, most)
	}
	out := Matrix{n: t.n, d: make([]float64, len(t.d))}
	for i := range t.n {
		for j := range i {
			all := floats.Distance(limited.Row(i), limited.Row(j), 2)
			own := limited.Row(i)[j] // the difference in the columns i and j
			x := math.Sqrt(max(all*all-2*own*own, 0) / float64(max(t.n-2, 1)))
			out.d[i*t.n+j], out.d[j*t.n+i] = x, x
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
