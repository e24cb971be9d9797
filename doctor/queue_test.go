package doctor

import (
	"strings"
	"testing"

	"tutti/benchrunner/pbs"
	"tutti/internal/testutil"
)

// TestQueue checks the needs of a campaign whose jobs wait in a queue of PBS.
func TestQueue(t *testing.T) {
	for _, tc := range []struct {
		name, fault string
		nodes       int
		state       State
		want        string
	}{
		{"accepted", "", 1, OK, "1 node of 8 cores"},
		{"too many nodes", "", 4, Missing, "jobs of 4 nodes"},
		{"server down", "down", 1, Missing, "cannot connect to server"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, n := ready(t)
			dir := testutil.PBS(t)
			if tc.fault != "" {
				testutil.PBSFault(t, dir, tc.fault)
			}
			n.Runner.Kind, n.PBS, n.Grid.Nodes, n.Grid.PPN = "pbs", pbs.Options{Bin: dir}, []int{tc.nodes}, []int{4}
			x := m.x
			x.checkQueue(t.Context(), "PBS")
			if c := x.checks[len(x.checks)-1]; c.State != tc.state || !strings.Contains(strings.Join(c.Details, " "), tc.want) {
				t.Errorf("%+v, want %s and %q", c, tc.state, tc.want)
			}
		})
	}
}
