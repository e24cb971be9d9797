package coll

import (
	"cmp"
	"fmt"
	"slices"
)

// Layout is a number of nodes, together with a number of processes on each node.
type Layout struct {
	Nodes int `json:"nodes"`
	PPN   int `json:"ppn"`
}

// Ranks returns the size of the communicator: nodes times processes per node.
func (l Layout) Ranks() int { return l.Nodes * l.PPN }

// String returns nodes x ppn, for example 16x4.
func (l Layout) String() string { return fmt.Sprintf("%dx%d", l.Nodes, l.PPN) }

// CompareLayouts orders by nodes, then by ppn.
func CompareLayouts(a, b Layout) int {
	return cmp.Or(cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.PPN, b.PPN))
}

// Point is a collective with a number of nodes, a number of processes per node and a message size. A point
// together with an algorithm is a Candidate.
type Point struct {
	Collective Collective `json:"collective"`
	Nodes      int        `json:"nodes"`
	PPN        int        `json:"ppn"`
	MsgBytes   int64      `json:"msg_bytes"`
}

// Layout returns the point's layout: its nodes, and its processes per node.
func (p Point) Layout() Layout { return Layout{Nodes: p.Nodes, PPN: p.PPN} }

// WithSize returns the point with another message size. Points that differ in nothing but their sizes are equal
// afterwards.
func (p Point) WithSize(bytes int64) Point {
	p.MsgBytes = bytes
	return p
}

// Ranks returns the size of the communicator: nodes times processes per node.
func (p Point) Ranks() int { return p.Nodes * p.PPN }

// Count returns the number of elements in the message, in the datatype of the benchmarks. It is at least
// one, unless the message is empty.
func (p Point) Count() int64 {
	if p.MsgBytes == 0 {
		return 0
	}
	return max(1, p.MsgBytes/p.Collective.ElementBytes())
}

// Where returns the point without its collective, as a text such as "16x4 64KiB".
func (p Point) Where() string { return p.Layout().String() + " " + FormatBytes(p.MsgBytes) }

// String returns a text such as "bcast 16x4 64KiB".
func (p Point) String() string { return string(p.Collective) + " " + p.Where() }

// ComparePoints orders points by collective and then by each of Axes.
func ComparePoints(a, b Point) int {
	if c := cmp.Compare(a.Collective, b.Collective); c != 0 {
		return c
	}
	for i := range Axes {
		if c := cmp.Compare(Axes[i].Of(a), Axes[i].Of(b)); c != 0 {
			return c
		}
	}
	return 0
}

// Candidate is a point with an algorithm that can be measured there. An acquisition function scores
// candidates, and a runner measures them.
type Candidate struct {
	Point
	Algorithm Algorithm `json:"algorithm"`
}

// String returns a text such as "bcast 16x4 64KiB binomial".
func (c Candidate) String() string { return c.Point.String() + " " + c.Algorithm.String() }

// CompareCandidates orders by point, then by algorithm.
func CompareCandidates(a, b Candidate) int {
	return cmp.Or(ComparePoints(a.Point, b.Point), CompareAlgorithms(a.Algorithm, b.Algorithm))
}

// AlgorithmsOf returns the algorithms that occur in candidates, sorted and without duplicates.
func AlgorithmsOf(candidates []Candidate) []Algorithm {
	out := make([]Algorithm, len(candidates))
	for i, c := range candidates {
		out[i] = c.Algorithm
	}
	slices.SortFunc(out, CompareAlgorithms)
	return slices.Compact(out)
}

// Weight returns the weight of a point, 0 or more. If it is nil, all points have the weight 1.
type Weight func(Point) float64

// Of returns the weight of a point.
func (w Weight) Of(p Point) float64 {
	if w == nil {
		return 1
	}
	return w(p)
}
