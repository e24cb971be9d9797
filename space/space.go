package space

import (
	"math/rand/v2"
	"slices"

	"tutti/coll"
)

// Space is the set of candidates of one collective: its points and, at each, the
// algorithms that can run there.
type Space struct {
	points     []coll.Point
	algorithms []coll.Algorithm
	feasible   [][]int // point index -> algorithm indices, ascending
	index      map[coll.Point]int
}

// New returns the candidates of points × algorithms that check accepts (nil
// error). Points where nothing can run and algorithms that run nowhere are left
// out. Points come out ordered by coll.ComparePoints, algorithms by
// coll.CompareAlgorithms; duplicates count once.
func New(points []coll.Point, algorithms []coll.Algorithm, check func(coll.Candidate) error) *Space {
	points, algorithms = slices.Clone(points), slices.Clone(algorithms)
	slices.SortFunc(points, coll.ComparePoints)
	slices.SortFunc(algorithms, coll.CompareAlgorithms)
	points, algorithms = slices.Compact(points), slices.Compact(algorithms)

	s := &Space{index: map[coll.Point]int{}}
	runs := make([]bool, len(algorithms))
	var feasible [][]int
	for _, p := range points {
		var here []int
		for a, alg := range algorithms {
			if check(coll.Candidate{Point: p, Algorithm: alg}) == nil {
				here = append(here, a)
				runs[a] = true
			}
		}
		if len(here) > 0 {
			s.index[p] = len(s.points)
			s.points = append(s.points, p)
			feasible = append(feasible, here)
		}
	}
	renumbered := make([]int, len(algorithms))
	for a, alg := range algorithms {
		renumbered[a] = len(s.algorithms)
		if runs[a] {
			s.algorithms = append(s.algorithms, alg)
		}
	}
	for _, here := range feasible {
		for i, a := range here {
			here[i] = renumbered[a]
		}
	}
	s.feasible = feasible
	return s
}

// Points returns the points in order; the caller must not change them.
func (s *Space) Points() []coll.Point { return s.points }

// Algorithms returns the algorithms in order; the caller must not change them.
func (s *Space) Algorithms() []coll.Algorithm { return s.algorithms }

// Feasible returns the indices into Algorithms of what can run at point i; the
// caller must not change them.
func (s *Space) Feasible(i int) []int { return s.feasible[i] }

// Index returns the position of a point and whether the space holds it.
func (s *Space) Index(p coll.Point) (int, bool) {
	i, ok := s.index[p]
	return i, ok
}

// At returns the candidates at point i.
func (s *Space) At(i int) []coll.Candidate {
	out := make([]coll.Candidate, len(s.feasible[i]))
	for k, a := range s.feasible[i] {
		out[k] = coll.Candidate{Point: s.points[i], Algorithm: s.algorithms[a]}
	}
	return out
}

// Candidates returns every candidate, by point and then by algorithm.
func (s *Space) Candidates() []coll.Candidate {
	var out []coll.Candidate
	for i := range s.points {
		out = append(out, s.At(i)...)
	}
	return out
}

// Size is the number of candidates.
func (s *Space) Size() int {
	n := 0
	for _, here := range s.feasible {
		n += len(here)
	}
	return n
}

// Folds deals n rows into k folds of nearly equal size at random and returns the
// fold of each row. k is cut down to n; the same seed gives the same folds.
func Folds(n, k int, seed uint64) []int {
	k = max(1, min(k, n))
	fold := make([]int, n)
	for i, j := range rand.New(rand.NewPCG(seed, uint64(n))).Perm(n) {
		fold[j] = i % k
	}
	return fold
}
