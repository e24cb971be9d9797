package coll_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
)

// placedAt returns a measurement with a placement.
func placedAt(nodes, ppn int, order coll.Order, switches int) coll.Measurement {
	var m coll.Measurement
	m.Nodes, m.PPN, m.Placement = nodes, ppn, coll.Placement{Order: order, Switches: switches}
	return m
}

func TestPlacements(t *testing.T) {
	p := coll.PlacementsOf([]coll.Measurement{
		placedAt(1, 8, "", 0), placedAt(4, 4, coll.Cyclic, 2), placedAt(2, 4, coll.Cyclic, 1), placedAt(4, 8, coll.Cyclic, 1), placedAt(8, 4, coll.Cyclic, 0),
	})
	want := coll.Placements{Order: coll.Cyclic, PPN: []int{4, 8}, Switches: []coll.Switches{{Nodes: 2, Least: 1, Most: 1}, {Nodes: 4, Least: 1, Most: 2}}}
	if d := cmp.Diff(want, p); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got, want := p.String(), "ranks in cyclic order, 4 or 8 on a node; 2 nodes on 1 switch, 4 on 1 to 2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, tc := range []struct {
		name string
		m    coll.Measurement
		want string
	}{
		{"the same", placedAt(4, 4, coll.Cyclic, 2), ""},
		{"another order", placedAt(2, 4, coll.Block, 1), "ranks in block order, not cyclic"},
		{"more switches", placedAt(2, 4, coll.Cyclic, 3), "2 nodes on 3 switches, not on 1"},
		{"more than a range", placedAt(4, 4, coll.Cyclic, 3), "4 nodes on 3 switches, not on 1 to 2"},
		{"one node", placedAt(1, 4, "", 0), ""},
		{"switches that are not known", placedAt(2, 4, coll.Cyclic, 0), ""},
		{"a number of nodes that is not known", placedAt(8, 4, coll.Cyclic, 4), ""},
	} {
		if got := p.Differ(tc.m); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	if none := coll.PlacementsOf([]coll.Measurement{placedAt(1, 4, "", 0)}); none.Known() || none.String() != "ranks, 4 on a node" {
		t.Errorf("%+v", none)
	}
}

func TestParseOrder(t *testing.T) {
	for _, o := range coll.Orders() {
		if got, err := coll.ParseOrder(string(o)); got != o || err != nil {
			t.Errorf("ParseOrder(%q) = %q, %v", o, got, err)
		}
	}
	if _, err := coll.ParseOrder("plane"); err == nil || err.Error() != `order "plane": want block or cyclic` {
		t.Errorf("ParseOrder(plane): %v", err)
	}
}
