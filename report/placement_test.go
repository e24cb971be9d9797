package report

import (
	"bytes"
	"strings"
	"testing"

	"tutti/coll"
)

// The page says how ranks were placed, and where a verification placed them otherwise.
func TestPlacementPage(t *testing.T) {
	tuned := coll.Placements{Order: coll.Block, PPN: []int{2}, Switches: []coll.Switches{{Nodes: 2, Least: 1, Most: 1}, {Nodes: 4, Least: 1, Most: 2}}}
	f := liveFacts()
	f.Libraries[0].Placement, f.Verification[0].Elsewhere = &tuned, []string{"2 nodes on 2 switches, not on 1", "4 nodes on 4 switches, not on 1 to 2"}
	var page bytes.Buffer
	if err := WriteHTML(&page, f); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"2 nodes on 2 switches, not on 1; 4 nodes on 4 switches, not on 1 to 2", "Measured with " + tuned.String()} {
		if !strings.Contains(page.String(), text) {
			t.Errorf("the page does not say %q", text)
		}
	}
}
