package selection_test

import (
	"fmt"
	"testing"

	"tutti/coll"
	"tutti/selection"
)

func TestByCollective(t *testing.T) {
	at := func(c coll.Collective, nodes int) selection.Row {
		return selection.Row{Point: coll.Point{Collective: c, Nodes: nodes, PPN: 1, MsgBytes: 8}}
	}
	rows := []selection.Row{at(coll.Reduce, 2), at(coll.Bcast, 4), at(coll.Reduce, 1), at(coll.Bcast, 2)}
	var got []string
	for _, same := range selection.ByCollective(rows) {
		for _, r := range same {
			got = append(got, r.Point.String())
		}
		got = append(got, "/")
	}
	const want = "[bcast 2x1 8B bcast 4x1 8B / reduce 1x1 8B reduce 2x1 8B /]"
	if fmt.Sprint(got) != want || rows[0].Point.Collective != coll.Reduce {
		t.Errorf("ByCollective = %v, want %s, and the rows as they were", got, want)
	}
	if none := selection.ByCollective(nil); none != nil {
		t.Errorf("ByCollective of nothing = %v", none)
	}
}

// TestLeaves checks that Leaves counts the leaves of the trees for all layouts, including the trees between
// nodes. If there are no such trees, it must count the leaves of the trees of single layouts.
func TestLeaves(t *testing.T) {
	tree := func(leaves int) []*selection.Tree {
		return []*selection.Tree{{Summary: selection.Summary{Leaves: leaves}}}
	}
	layouts := []selection.LayoutTrees{{Trees: tree(10)}, {Trees: tree(20)}}
	for _, tc := range []struct {
		sel  selection.Selection
		want int
	}{
		{selection.Selection{}, 0},
		{selection.Selection{Trees: tree(1), Layouts: layouts}, 1},
		{selection.Selection{Trees: tree(1), Inter: tree(2)}, 3},
		{selection.Selection{Layouts: layouts}, 30},
	} {
		if got := tc.sel.Leaves(); got != tc.want {
			t.Errorf("%+v: %d leaves, want %d", tc.sel, got, tc.want)
		}
	}
}
