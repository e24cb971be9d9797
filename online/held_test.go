package online

import (
	"math"
	"testing"

	"tutti/coll"
)

// What is known is held to be best, where it was recorded; nothing stands where nothing was.
func TestHeld(t *testing.T) {
	var recorded []coll.Measurement
	add := func(nodes int, bytes int64, name string, seconds float64) {
		recorded = append(recorded, coll.Measurement{Seconds: seconds, Samples: 10, Candidate: coll.Candidate{
			Point: coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 1, MsgBytes: bytes}, Algorithm: coll.Algorithm{Name: name},
		}})
	}
	for _, at := range []struct {
		nodes int
		bytes int64
	}{{2, 8}, {2, 1024}, {4, 8}} {
		add(at.nodes, at.bytes, coll.Default.Name, 2e-5)
		add(at.nodes, at.bytes, "ring", 1e-5)
		add(at.nodes, at.bytes, "tree", 4e-5)
	}
	add(8, 8, "ring", 1e-5) // without a default there is nothing to compare with
	maps, err := Held(PolicyExplore, recorded, nil, [][]coll.Measurement{recorded}, DefaultOptions())
	if err != nil || len(maps) != 1 {
		t.Fatalf("%v, %v", maps, err)
	}
	m := maps[0]
	if m.Title != "bcast" || len(m.Rows) != 2 || len(m.Columns) != 2 {
		t.Fatalf("%+v, want bcast, 2 layouts by 2 sizes", m)
	}
	if m.Cells[0][0] != 0.5 || m.Cells[0][1] != 0.5 || m.Cells[1][0] != 0.5 || !math.IsNaN(m.Cells[1][1]) {
		t.Errorf("%v, want a half, and nothing at the point that was not recorded", m.Cells)
	}
}
