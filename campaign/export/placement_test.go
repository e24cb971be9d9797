package export

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/journal"
)

// A verification whose ranks lay otherwise says so.
func TestOtherPlacements(t *testing.T) {
	trial := func(nodes int, order coll.Order, switches int) journal.VerifyStep {
		tr := coll.Trial{Measurement: coll.Measurement{Placement: coll.Placement{Order: order, Switches: switches}}}
		tr.Nodes, tr.PPN = nodes, 2
		return journal.VerifyStep{Library: "mpich", Session: 1, Trial: &tr}
	}
	tuned := coll.Placements{Order: coll.Block, PPN: []int{2}, Switches: []coll.Switches{{Nodes: 2, Least: 1, Most: 1}, {Nodes: 4, Least: 1, Most: 2}}}
	v := &journal.Verification{Steps: []journal.VerifyStep{
		trial(4, coll.Block, 2), trial(4, coll.Block, 4), trial(2, coll.Block, 2), {Library: "mpich", Session: 1}, trial(4, coll.Block, 4), trial(1, "", 0),
	}}
	want := []string{"2 nodes on 2 switches, not on 1", "4 nodes on 4 switches, not on 1 to 2"}
	if d := cmp.Diff(want, otherPlacements(tuned, v)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := otherPlacements(coll.Placements{}, v); got != nil {
		t.Errorf("nothing is known of the campaign: %q", got)
	}
	if got := otherPlacements(tuned, nil); got != nil {
		t.Errorf("nothing was verified: %q", got)
	}
}
