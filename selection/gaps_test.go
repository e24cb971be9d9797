package selection_test

import (
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/selection"
)

// TestRulesEndAtTheDefault checks the ends of rules in sizes, processes per node and communicator sizes. Next to a grid
// value with the default, a rule ends at its own value. Between two algorithms it ends at the geometric mean.
func TestRulesEndAtTheDefault(t *testing.T) {
	rows := []selection.Row{
		at(4, 1, 1, "a", 1.0), at(4, 1, 16, "a", 1.0), at(4, 1, 256, "default", 1.0),
		at(4, 16, 1, "a", 1.0), at(4, 16, 16, "default", 1.0), at(4, 16, 256, "b", 1.0),
		at(16, 1, 1, "a", 1.0), at(16, 1, 16, "b", 1.0), at(16, 1, 256, "b", 1.0),
	}
	tree := testutil.Must(selection.Fit(rows, bytesOf, selection.Options{}))(t)
	for _, tc := range []struct {
		nodes, ppn int
		bytes      int64
		want       string
	}{
		{4, 1, 16, "a"}, {4, 1, 17, "library_default"}, {4, 1, 255, "library_default"},
		{4, 16, 255, "library_default"}, {4, 16, 256, "b"}, {4, 16, 257, "library_default"},
		{8, 1, 1, "a"}, {8, 1, 16, "a"}, {9, 1, 16, "b"}, {8, 1, 256, "library_default"}, {15, 1, 256, "library_default"},
		{16, 1, 256, "b"}, {17, 1, 1, "library_default"},
	} {
		alg, _ := tree.Select(coll.Point{Collective: coll.Bcast, Nodes: tc.nodes, PPN: tc.ppn, MsgBytes: tc.bytes})
		if alg.Name != tc.want {
			t.Errorf("%dx%d %d B: %s, want %s", tc.nodes, tc.ppn, tc.bytes, alg.Name, tc.want)
		}
	}
}
