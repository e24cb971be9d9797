package verify

import (
	"slices"
	"testing"

	"tutti/coll"
)

// bands is a selection: the default on two nodes; on other nodes tree up to 1 KiB, ring up to 16 KiB, and the
// default for larger sizes.
func bands(p coll.Point) coll.Algorithm {
	switch {
	case p.Nodes == 2 || p.MsgBytes > 20000:
		return coll.Default
	case p.MsgBytes <= 2000:
		return coll.Algorithm{Name: "tree"}
	}
	return coll.Algorithm{Name: "ring"}
}

func grid() []coll.Point {
	var out []coll.Point
	for _, n := range []int{2, 4, 16} {
		for size := int64(8); size <= 1<<20; size *= 2 {
			out = append(out, coll.Point{Collective: coll.Allreduce, Nodes: n, PPN: 4, MsgBytes: size})
		}
	}
	return out
}

// TestExtraPoints checks that points lie on both sides of each change of the algorithm, that sizes are multiples of
// the element size, and that a runner that can measure only the grid gets no others.
func TestExtraPoints(t *testing.T) {
	rules := DefaultRules()
	rules.Between = 100
	p := Problem{Collective: coll.Allreduce, Grid: grid(), Choose: bands, OffGrid: true}
	points := extraPoints(p, rules)
	count := map[PointKind]int{}
	for _, s := range points {
		count[s.Kind]++
		if s.Choice != bands(s.Point) || s.MsgBytes%4 != 0 {
			t.Errorf("%+v: want %v and whole elements", s, bands(s.Point))
		}
		if s.Kind == Switch && s.Nodes != 2 && !slices.Contains([]int64{2000, 2004, 2008, 20000, 20004, 20008}, s.MsgBytes) {
			t.Errorf("%v is at no switch", s)
		}
	}
	if count[Control] != rules.Controls || count[Switch] != 12 || count[Between] == 0 {
		t.Errorf("points %v", count)
	}
	if !slices.ContainsFunc(points, func(s TestPoint) bool { return s.Nodes == 8 }) {
		t.Error("no layout between those of the grid")
	}
	if again := extraPoints(p, rules); !slices.Equal(points, again) {
		t.Error("the same seed gives other points")
	}
	p.OffGrid = false
	for _, s := range extraPoints(p, rules) {
		if !slices.Contains(p.Grid, s.Point) {
			t.Errorf("%v is off the grid", s)
		}
	}
}

func TestNeighbours(t *testing.T) {
	at := coll.Point{Collective: coll.Allreduce, Nodes: 4, PPN: 4, MsgBytes: 1000}
	got := neighbours(grid(), at)
	for _, want := range []coll.Point{
		{Collective: coll.Allreduce, Nodes: 4, PPN: 4, MsgBytes: 512}, {Collective: coll.Allreduce, Nodes: 4, PPN: 4, MsgBytes: 1024},
		{Collective: coll.Allreduce, Nodes: 2, PPN: 4, MsgBytes: 1024}, {Collective: coll.Allreduce, Nodes: 16, PPN: 4, MsgBytes: 1024},
	} {
		if !slices.Contains(got, want) {
			t.Errorf("neighbours of %v are %v, want %v among them", at, got, want)
		}
	}
}
