package discover

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrMatrix is the error for invalid or incomplete distances. errors.Is finds it.
var ErrMatrix = errors.New("not a matrix of distances")

// Matrix holds the distance between any two of n members, in seconds. It is symmetric, and its diagonal is
// zero. The distance of a pair that was not measured is NaN.
type Matrix struct {
	n int
	d []float64 // n·n, by rows
}

// NewMatrix returns the matrix with the given rows. A row may end at the diagonal. If the elements (i, j)
// and (j, i) are both present, the matrix contains their mean. NaN stands for a pair that was not measured.
//
// The error matches ErrMatrix if there are fewer than two rows or a row has a wrong length. It also matches
// if a distance is not above zero and finite, or if a diagonal element is not zero.
func NewMatrix(rows [][]float64) (Matrix, error) {
	n := len(rows)
	if n < 2 {
		return Matrix{}, fmt.Errorf("%w: %d members: want 2 or more", ErrMatrix, n)
	}
	m := Matrix{n: n, d: slices.Repeat([]float64{math.NaN()}, n*n)}
	for i, row := range rows {
		if len(row) != n && len(row) != i && len(row) != i+1 {
			return Matrix{}, fmt.Errorf("%w: row %d has %d columns: want %d, or %d up to the diagonal", ErrMatrix, i, len(row), n, i)
		}
		for j, x := range row {
			if err := m.set(i, j, x); err != nil {
				return Matrix{}, err
			}
		}
	}
	for i := range n {
		m.d[i*n+i] = 0
		for j := range i {
			x := meanOrOther(m.d[i*n+j], m.d[j*n+i])
			m.d[i*n+j], m.d[j*n+i] = x, x
		}
	}
	return m, nil
}

func (m Matrix) set(i, j int, x float64) error {
	switch {
	case math.IsNaN(x):
	case i == j && x != 0:
		return fmt.Errorf("%w: member %d to itself: %g: want 0", ErrMatrix, i, x)
	case i != j && !(x > 0) || math.IsInf(x, 0):
		return fmt.Errorf("%w: members %d and %d: %g: want a time above 0", ErrMatrix, i, j, x)
	}
	m.d[i*m.n+j] = x
	return nil
}

func meanOrOther(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	default:
		return (a + b) / 2
	}
}

// Len returns the number of members, such as ranks or nodes, between which there are distances.
func (m Matrix) Len() int { return m.n }

// At returns the distance between members i and j in seconds. It is NaN if the pair was not measured.
func (m Matrix) At(i, j int) float64 { return m.d[i*m.n+j] }

// Row returns the distances of member i to all members. The caller must not change the slice.
func (m Matrix) Row(i int) []float64 { return m.d[i*m.n : (i+1)*m.n] }

// Holes returns the pairs that were not measured, in the order of the rows.
func (m Matrix) Holes() [][2]int {
	var out [][2]int
	for i := range m.n {
		for j, x := range m.Row(i)[:i] {
			if math.IsNaN(x) {
				out = append(out, [2]int{j, i})
			}
		}
	}
	return out
}

// mostMissing is the largest fraction of a member's pairs that Fill estimates.
const mostMissing = 0.5

// Fill returns the matrix with an estimate for each pair of members that was not measured. The estimate is the length
// of the shortest detour from one member of the pair over a third member to the other one. The length of a detour is
// the longer of its two distances. In a tree the estimate is exact if some third member is near one of the two members.
//
// The error matches ErrMatrix if more than half of a member's pairs are missing. Otherwise any two members
// have a third member in common. Fill takes O(n) time for each missing pair.
func (m Matrix) Fill() (Matrix, error) {
	holes := m.Holes()
	if len(holes) == 0 {
		return m, nil
	}
	missing := make([]int, m.n)
	for _, h := range holes {
		missing[h[0]]++
		missing[h[1]]++
	}
	if most := slices.Max(missing); float64(most) > mostMissing*float64(m.n-1) {
		return Matrix{}, fmt.Errorf("%w: member %d was measured with %d of %d others: want half of them or more",
			ErrMatrix, slices.Index(missing, most), m.n-1-most, m.n-1)
	}
	full := Matrix{n: m.n, d: slices.Clone(m.d)}
	for _, h := range holes {
		x := m.detour(h[0], h[1])
		full.d[h[0]*m.n+h[1]], full.d[h[1]*m.n+h[0]] = x, x
	}
	return full, nil
}

func (m Matrix) detour(i, j int) float64 {
	best := math.Inf(1)
	a, b := m.Row(i), m.Row(j)
	for k := range a {
		if k != i && k != j {
			if x := max(a[k], b[k]); x < best { // false for NaN
				best = x
			}
		}
	}
	return best
}

func upper(n int, d []float64) []float64 {
	out := make([]float64, 0, n*(n-1)/2)
	for i := range n {
		out = append(out, d[i*n+i+1:(i+1)*n]...)
	}
	return out
}

// Labels holds the group number of each member. Groups are numbered from 0 in the order of their first
// members. NoGroup is the label of a member without a group.
type Labels []int

// NoGroup is the label of a member without a group.
const NoGroup = -1

// Groups returns into how many groups the members are divided.
func (l Labels) Groups() int {
	most := NoGroup
	for _, g := range l {
		most = max(most, g)
	}
	return most + 1
}

func (l Labels) sizes() []int {
	out := make([]int, l.Groups())
	for _, g := range l {
		if g != NoGroup {
			out[g]++
		}
	}
	return out
}

// NewLabels renumbers the groups from 0, in the order of their first members. It does not change NoGroup.
func NewLabels(raw []int) Labels {
	out := make(Labels, len(raw))
	names := map[int]int{}
	for i, g := range raw {
		if g == NoGroup {
			out[i] = NoGroup
			continue
		}
		name, seen := names[g]
		if !seen {
			name = len(names)
			names[g] = name
		}
		out[i] = name
	}
	return out
}
