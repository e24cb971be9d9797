package selection_test

import (
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/selection"
)

// TestReach checks how far rules reach in sizes, processes per node and communicator sizes: between grid values only where
// the same algorithm passes at both. Of the algorithms here, only "a" and "b" reach to any communicator size.
func TestReach(t *testing.T) {
	rows := []selection.Row{
		at(4, 1, 1, "a", 1.0), at(4, 1, 16, "a", 1.0), at(4, 1, 256, "default", 1.0),
		at(4, 16, 1, "a", 1.0), at(4, 16, 16, "default", 1.0), at(4, 16, 256, "b", 1.0),
		at(16, 1, 1, "a", 1.0), at(16, 1, 16, "b", 1.0), at(16, 1, 256, "b", 1.0),
		at(256, 1, 1, "c", 1.0), at(256, 1, 16, "b", 1.0, "c", 2.0, "default", 3.0), at(256, 1, 256, "c", 1.0),
		at(512, 1, 1, "c", 1.0), at(512, 1, 16, "a", 1.0, "default", 3.0), at(512, 1, 256, "c", 1.0, "a", 2.0, "default", 3.0),
	}
	opt := selection.Options{Between: func(a coll.Algorithm, _ selection.Gap) bool { return a.Name != "c" }}
	tree := testutil.Must(selection.Merge(rows, bytesOf, opt))(t)
	for _, tc := range []struct {
		nodes, ppn int
		bytes      int64
		want       string
	}{
		{4, 1, 16, "a"}, {4, 1, 17, "library_default"}, {4, 1, 255, "library_default"},
		{4, 16, 255, "library_default"}, {4, 16, 256, "b"}, {4, 16, 257, "library_default"},
		{8, 1, 1, "a"}, {8, 1, 16, "library_default"}, {9, 1, 16, "library_default"}, {8, 1, 256, "library_default"}, {15, 1, 256, "library_default"},
		{16, 1, 2, "library_default"}, {16, 1, 256, "b"}, {17, 1, 1, "library_default"}, // neither passes at the other size
		{256, 1, 15, "c"}, {256, 1, 16, "b"}, {256, 1, 17, "c"}, // c passes at all sizes
		{512, 1, 15, "library_default"}, {512, 1, 255, "a"}, {512, 1, 256, "c"}, // a passes at 256 bytes
		{300, 1, 1, "library_default"}, {300, 1, 16, "library_default"}, {300, 1, 256, "library_default"}, // c only where it was measured
		{512, 1, 1, "c"}, {513, 1, 1, "library_default"},
	} {
		alg, _ := tree.Select(coll.Point{Collective: coll.Bcast, Nodes: tc.nodes, PPN: tc.ppn, MsgBytes: tc.bytes})
		if alg.Name != tc.want {
			t.Errorf("%dx%d %d B: %s, want %s", tc.nodes, tc.ppn, tc.bytes, alg.Name, tc.want)
		}
	}
}

// TestReachWithoutDefault checks that the nearest grid value decides if there is no default to compare with.
func TestReachWithoutDefault(t *testing.T) {
	rows := []selection.Row{
		at(4, 1, 1, "a", 1.0), at(4, 1, 16, "b", 1.0),
		at(16, 1, 1, "c", 1.0), at(16, 1, 16, "b", 1.0),
	}
	tree := testutil.Must(selection.Merge(rows, bytesOf, selection.Options{Between: func(coll.Algorithm, selection.Gap) bool { return false }}))(t)
	for _, tc := range []struct {
		nodes int
		bytes int64
		want  string
	}{{4, 4, "a"}, {4, 5, "b"}, {8, 1, "a"}, {9, 1, "c"}, {8, 16, "b"}} {
		alg, _ := tree.Select(coll.Point{Collective: coll.Bcast, Nodes: tc.nodes, PPN: 1, MsgBytes: tc.bytes})
		if alg.Name != tc.want {
			t.Errorf("%d nodes, %d B: %s, want %s", tc.nodes, tc.bytes, alg.Name, tc.want)
		}
	}
}
