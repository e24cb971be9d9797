package selection_test

import (
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/selection"
)

func revertGrid() []coll.Point {
	var out []coll.Point
	for _, n := range []int{2, 4, 16} {
		for size := int64(8); size <= 1<<20; size *= 2 {
			out = append(out, coll.Point{Collective: coll.Allreduce, Nodes: n, PPN: 4, MsgBytes: size})
		}
	}
	return out
}

// TestRevertToDefault checks that the default is selected at every rejected point, on the grid or between
// its points. Only the necessary rows are reverted.
func TestRevertToDefault(t *testing.T) {
	var rows []selection.Row
	for _, p := range revertGrid() {
		r := selection.Row{Point: p, Options: []selection.Option{{Algorithm: coll.Default, Seconds: 2}, {Algorithm: coll.Algorithm{Name: "tree"}, Seconds: 1}}}
		rows = append(rows, r)
	}
	choose := func(rows []selection.Row) (func(coll.Point) coll.Algorithm, error) {
		tree, err := selection.Merge(rows, func(p coll.Point) int64 { return p.MsgBytes }, selection.Options{})
		return func(p coll.Point) coll.Algorithm { a, _ := tree.Select(p); return a }, err
	}
	points := []coll.Point{
		{Collective: coll.Allreduce, Nodes: 4, PPN: 4, MsgBytes: 64},
		{Collective: coll.Allreduce, Nodes: 8, PPN: 4, MsgBytes: 3000},
	}
	out := testutil.Must(selection.RevertToDefault(rows, selection.Rejected{Points: points}, choose))(t)
	selected := testutil.Must(choose(out))(t)
	for _, p := range points {
		if got := selected(p); !got.IsDefault() {
			t.Errorf("%v still has %v", p, got)
		}
	}
	reverted := 0
	for i, r := range out {
		if len(r.Options) != 2 {
			reverted++
		}
		if len(rows[i].Options) != 2 {
			t.Error("RevertToDefault changed its argument")
		}
	}
	if reverted < 2 || reverted > 4 {
		t.Errorf("%d rows are reverted, want 2 to 4", reverted)
	}
	all, err := selection.RevertToDefault(rows, selection.Rejected{All: true}, choose)
	if err != nil || slices.ContainsFunc(all, func(r selection.Row) bool { return len(r.Options) != 1 }) {
		t.Errorf("the whole collective: %v, %v", err, all)
	}
}
