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

// TestFirstPoints checks that every segment (sizes with the same algorithm) has a test point even if few
// points are wanted. Points must lie on both sides of each change of the algorithm, and sizes must be
// multiples of the element size.
func TestFirstPoints(t *testing.T) {
	rules := DefaultRules()
	rules.Points, rules.Between = 1, 100
	p := Problem{Collective: coll.Allreduce, Grid: grid(), Choose: bands, OffGrid: true}
	points := firstPoints(p, rules)
	count := map[PointKind]int{}
	segments := map[string]bool{}
	for _, s := range points {
		count[s.Kind]++
		if s.Choice != bands(s.Point) || s.MsgBytes%4 != 0 {
			t.Errorf("%+v: want %v and whole elements", s, bands(s.Point))
		}
		if s.Kind == OnGrid {
			segments[s.Layout().String()+s.Choice.Name] = true
		}
		if s.Kind == Switch && s.Nodes != 2 && !slices.Contains([]int64{2000, 2004, 2008, 20000, 20004, 20008}, s.MsgBytes) {
			t.Errorf("%v is at no switch", s)
		}
	}
	if len(segments) != 4 || count[OnGrid] != 4 || count[Control] != rules.Controls || count[Switch] != 12 || count[Between] == 0 {
		t.Errorf("segments %v, points %v", segments, count)
	}
	if !slices.ContainsFunc(points, func(s TestPoint) bool { return s.Nodes == 8 }) {
		t.Error("no layout between those of the grid")
	}
	if again := firstPoints(p, rules); !slices.Equal(points, again) {
		t.Error("the same seed gives other points")
	}
	p.OffGrid = false
	for _, s := range firstPoints(p, rules) {
		if !slices.Contains(p.Grid, s.Point) {
			t.Errorf("%v is off the grid", s)
		}
	}
}

// TestFirstPointsAreLocal checks that a change of the selection changes test points only near the change.
func TestFirstPointsAreLocal(t *testing.T) {
	rules := DefaultRules()
	rules.Points = 6
	back := coll.Point{Collective: coll.Allreduce, Nodes: 16, PPN: 4, MsgBytes: 8192}
	before := firstPoints(Problem{Collective: coll.Allreduce, Grid: grid(), Choose: bands}, rules)
	after := firstPoints(Problem{Collective: coll.Allreduce, Grid: grid(), Choose: func(p coll.Point) coll.Algorithm {
		if p == back {
			return coll.Default
		}
		return bands(p)
	}}, rules)
	gone := 0 // points of four nodes that are missing; one may be replaced by the new switch
	for _, s := range before {
		if s.Nodes == 4 && s.Kind == OnGrid && !slices.Contains(after, s) {
			gone++
		}
	}
	if gone > 1 {
		t.Errorf("%d points are missing where nothing changed", gone)
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
