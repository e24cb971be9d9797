package coll

import (
	"iter"
	"slices"
)

// Space is the set of candidates of one collective. It has points, and for each point the algorithms that
// can run there.
type Space struct {
	points     []Point
	algorithms []Algorithm
	feasible   [][]int // sets of algorithms as indices, ascending
	set        []int32 // point index -> index in feasible; 4 bytes for each point, since a space may have a million
}

// NewSpace returns the combinations of points and algorithms for which the function `check` returns nil. It omits
// points at which no algorithm can run, and algorithms that can run at no point. Points are ordered by
// ComparePoints, algorithms by CompareAlgorithms. Duplicates are removed.
func NewSpace(points []Point, algorithms []Algorithm, check func(Candidate) error) *Space {
	points, algorithms = slices.Clone(points), slices.Clone(algorithms)
	slices.SortFunc(points, ComparePoints)
	slices.SortFunc(algorithms, CompareAlgorithms)
	points, algorithms = slices.Compact(points), slices.Compact(algorithms)

	s := &Space{points: points[:0], set: make([]int32, 0, len(points))}
	runs := make([]bool, len(algorithms))
	var last, here []int
	for _, p := range points {
		here = here[:0]
		for a, alg := range algorithms {
			if check(Candidate{Point: p, Algorithm: alg}) == nil {
				here = append(here, a)
				runs[a] = true
			}
		}
		if len(here) == 0 {
			continue
		}
		if !slices.Equal(here, last) {
			last = slices.Clone(here)
			s.feasible = append(s.feasible, last)
		}
		s.points, s.set = append(s.points, p), append(s.set, int32(len(s.feasible)-1))
	}
	renumbered := make([]int, len(algorithms))
	for a, alg := range algorithms {
		renumbered[a] = len(s.algorithms)
		if runs[a] {
			s.algorithms = append(s.algorithms, alg)
		}
	}
	for _, here := range s.feasible {
		for i, a := range here {
			here[i] = renumbered[a]
		}
	}
	return s
}

// With returns a larger space. It also has the points and the algorithms of the candidates in `more`, in all
// combinations for which `check` returns nil.
func (s *Space) With(more []Candidate, check func(Candidate) error) *Space {
	points := slices.Clone(s.points)
	for _, c := range more {
		points = append(points, c.Point)
	}
	return NewSpace(points, slices.Concat(s.algorithms, AlgorithmsOf(more)), func(c Candidate) error {
		if s.Has(c) {
			return nil
		}
		return check(c)
	})
}

// Has reports whether a candidate is in the space: its point is one of the space's points, and its algorithm
// can run there.
func (s *Space) Has(c Candidate) bool {
	i, ok := s.Index(c.Point)
	return ok && slices.ContainsFunc(s.Feasible(i), func(a int) bool { return s.algorithms[a] == c.Algorithm })
}

// Points returns the points in order; the caller must not change them.
func (s *Space) Points() []Point { return s.points }

// Algorithms returns the algorithms in order; the caller must not change them.
func (s *Space) Algorithms() []Algorithm { return s.algorithms }

// Feasible returns the algorithms that can run at point i, as indices into Algorithms. The caller must not
// change the result.
func (s *Space) Feasible(i int) []int { return s.feasible[s.set[i]] }

// Index returns the position of a point in Points. It returns false if the point is not in the space.
func (s *Space) Index(p Point) (int, bool) {
	return slices.BinarySearchFunc(s.points, p, ComparePoints)
}

// At returns the candidates at the point with index i in Points.
func (s *Space) At(i int) []Candidate {
	out := make([]Candidate, len(s.Feasible(i)))
	for k, a := range s.Feasible(i) {
		out[k] = Candidate{Point: s.points[i], Algorithm: s.algorithms[a]}
	}
	return out
}

// All returns all candidates, sorted by point and then by algorithm.
func (s *Space) All() iter.Seq[Candidate] {
	return func(yield func(Candidate) bool) {
		for i, point := range s.points {
			for _, a := range s.Feasible(i) {
				if !yield(Candidate{Point: point, Algorithm: s.algorithms[a]}) {
					return
				}
			}
		}
	}
}

// Candidates returns all candidates as a slice, in the same order as All.
func (s *Space) Candidates() []Candidate { return slices.Collect(s.All()) }

// Size returns the number of candidates in the space.
func (s *Space) Size() int {
	n := 0
	for i := range s.points {
		n += len(s.Feasible(i))
	}
	return n
}
