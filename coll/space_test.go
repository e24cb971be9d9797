package coll_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
)

func TestGridFaults(t *testing.T) {
	tests := []struct {
		name string
		grid coll.Grid
		want []string // expected faults, one in each line; none for a valid grid
	}{
		{name: "good", grid: coll.Grid{Nodes: []int{3, 1}, PPN: []int{7}, Sizes: []int64{0, 5}}},
		{
			name: "empty",
			want: []string{
				"grid.nodes: is empty: want at least one number",
				"grid.ppn: is empty: want at least one number",
				"grid.sizes: is empty: want at least one number",
			},
		},
		{
			name: "every number is looked at",
			grid: coll.Grid{Nodes: []int{0, 4, 4, -1}, PPN: []int{1}, Sizes: []int64{-8, 8, 0, 8, 0}},
			want: []string{
				"grid.nodes[0]: 0: want 1 or more",
				"grid.nodes[2]: 4 is given twice",
				"grid.nodes[3]: -1: want 1 or more",
				"grid.sizes[0]: -8: want 0 or more",
				"grid.sizes[3]: 8 is given twice",
				"grid.sizes[4]: 0 is given twice",
			},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			if err := tc.grid.Validate(); err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Validate() (-want +got):\n%s", diff)
			}
			points, err := tc.grid.Points(coll.Bcast)
			if (err != nil) != (tc.want != nil) || err != nil && points != nil {
				t.Errorf("Points() = %v, %v, want what Validate says", points, err)
			}
		})
	}
}

func TestGridPoints(t *testing.T) {
	tests := []struct {
		name       string
		grid       coll.Grid
		collective coll.Collective
		want       []string
	}{
		{
			name:       "ordered, 1x1 left out",
			grid:       coll.Grid{Nodes: []int{2, 1}, PPN: []int{4, 1}, Sizes: []int64{1024, 8}},
			collective: coll.Bcast,
			want: []string{
				"bcast 1x4 8B", "bcast 1x4 1KiB",
				"bcast 2x1 8B", "bcast 2x1 1KiB", "bcast 2x4 8B", "bcast 2x4 1KiB",
			},
		},
		{
			name:       "any numbers",
			grid:       coll.Grid{Nodes: []int{3, 10}, PPN: []int{7}, Sizes: []int64{5, 1000}},
			collective: coll.Allreduce,
			want:       []string{"allreduce 3x7 5B", "allreduce 3x7 1000B", "allreduce 10x7 5B", "allreduce 10x7 1000B"},
		},
		{
			name:       "a barrier has no sizes",
			grid:       coll.Grid{Nodes: []int{1, 2}, PPN: []int{1, 2}, Sizes: []int64{8, 16, 32}},
			collective: coll.Barrier,
			want:       []string{"barrier 1x2 0B", "barrier 2x1 0B", "barrier 2x2 0B"},
		},
		{
			name:       "a single rank",
			grid:       coll.Grid{Nodes: []int{1}, PPN: []int{1}, Sizes: []int64{8}},
			collective: coll.Bcast,
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			points := testutil.Must(tc.grid.Points(tc.collective))(t)
			var got []string
			for _, p := range points {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Points(%s) (-want +got):\n%s", tc.collective, diff)
			}
		})
	}
}

func alg(name string) coll.Algorithm { return coll.Algorithm{Name: name} }

func bcast(nodes int) coll.Point {
	return coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 1, MsgBytes: 8}
}

// check accepts the algorithm "pow2" if the number of nodes is a power of two, "any" only on two nodes, and
// "never" at no point. On three nodes it accepts no algorithm.
func check(c coll.Candidate) error {
	switch {
	case c.Algorithm.Name == "any" && c.Nodes == 2:
	case c.Algorithm.Name == "pow2" && c.Nodes&(c.Nodes-1) == 0:
	default:
		return errors.New("cannot run")
	}
	return nil
}

func TestNew(t *testing.T) {
	points := []coll.Point{bcast(4), bcast(3), bcast(2), bcast(4)}
	algorithms := []coll.Algorithm{alg("pow2"), alg("never"), alg("any"), alg("pow2"), alg("anew")}
	s := coll.NewSpace(points, algorithms, check)

	if diff := cmp.Diff([]coll.Point{bcast(2), bcast(4)}, s.Points()); diff != "" {
		t.Errorf("Points() (-want +got):\n%s", diff)
	}
	if want := []coll.Algorithm{alg("any"), alg("pow2")}; !slices.Equal(s.Algorithms(), want) {
		t.Errorf("Algorithms() = %v, want %v", s.Algorithms(), want)
	}
	for i, want := range [][]int{{0, 1}, {1}} {
		if got := s.Feasible(i); !slices.Equal(got, want) {
			t.Errorf("Feasible(%d) = %v, want %v", i, got, want)
		}
	}
	want := []coll.Candidate{{Point: bcast(2), Algorithm: alg("any")}, {Point: bcast(2), Algorithm: alg("pow2")}, {Point: bcast(4), Algorithm: alg("pow2")}}
	if got := s.Candidates(); !slices.Equal(got, want) {
		t.Errorf("Candidates() = %v, want %v", got, want)
	}
	if s.Size() != 3 {
		t.Errorf("Size() = %d, want 3", s.Size())
	}
	if i, ok := s.Index(bcast(4)); i != 1 || !ok {
		t.Errorf("Index(%v) = %d, %t, want 1, true", bcast(4), i, ok)
	}
	if i, ok := s.Index(bcast(3)); ok {
		t.Errorf("Index(%v) = %d, true, want none: nothing runs there", bcast(3), i)
	}
	if points[0] != bcast(4) || algorithms[0] != alg("pow2") {
		t.Errorf("New reordered its arguments: %v, %v", points, algorithms)
	}
}

// TestNewHoldsTheFeasible checks that a space has exactly the candidates that can run. It tries every possible
// set of candidates that can run.
func TestNewHoldsTheFeasible(t *testing.T) {
	for pattern := range 1 << 9 { // 3 points x 3 algorithms
		var points []coll.Point
		var algorithms []coll.Algorithm
		for i := range 3 {
			points = append(points, bcast(i+2))
			algorithms = append(algorithms, alg(fmt.Sprintf("a%d", i)))
		}
		bit := func(c coll.Candidate) int { return (c.Nodes-2)*3 + int(c.Algorithm.Name[1]-'0') }
		s := coll.NewSpace(points, algorithms, func(c coll.Candidate) error {
			if pattern>>bit(c)&1 == 0 {
				return errors.New("cannot run")
			}
			return nil
		})
		got := 0
		for _, c := range s.Candidates() {
			got |= 1 << bit(c)
		}
		if got != pattern {
			t.Errorf("pattern %09b: space holds %09b", pattern, got)
		}
	}
}
