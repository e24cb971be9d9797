package doctor_test

import (
	"bytes"
	"testing"

	"tutti/doctor"
	"tutti/internal/testutil"
	"tutti/topology"
	"tutti/topology/discover"
)

// TestNetworkChecks checks the warnings for slow nodes, for links whose times cannot be distinguished from
// those of other links, and for oversubscribed switches. A switch with noisy measurements must give no
// warning.
func TestNetworkChecks(t *testing.T) {
	slow := discover.Suspect{Component: discover.Component{Kind: topology.Node, Name: "n6"}, Slowdown: 1.9, Pairs: 6, Chance: 2e-20}
	checks := doctor.NetworkChecks(&discover.NetworkReport{
		Nodes:     64,
		Latency:   discover.SuspectReport{Noise: 0.021, Suspects: []discover.Suspect{slow}},
		Bandwidth: discover.SuspectReport{Noise: 0.013, LeftOut: 4, Unclear: []discover.Component{{Kind: topology.Switch, Name: "leaf2"}}},
		Bisections: []discover.Bisection{
			{Switch: "leaf1", Pairs: 16, Bytes: 180e9, Slowdown: 1.02, Chance: 0.3},
			{Switch: "noisy", Pairs: 2, Bytes: 12e9, Slowdown: 1.8, Chance: 0.2},
			{Switch: "top", Pairs: 32, Bytes: 90e9, Slowdown: 3.9, Chance: 1e-4},
		},
		Gaps: []string{"no tree is known"},
	})
	var b bytes.Buffer
	testutil.NoError(t, doctor.WriteChecks(&b, checks, 200))
	want := `  ok       nodes              64 nodes; noise of a pair 2.1 % (empty messages), 1.3 % (large ones)
             no tree is known
             4 pairs with large messages are not judged: too few pairs meet at the same height of the tree
  warn     node n6            empty messages take 1.9 times as long as usual, 6 pairs; by chance: less than 1e-9
             -> leave it out of campaigns until it is fixed
  warn     link of switch leaf2
             large messages: looks slow, but all its pairs pass another component, too
             -> measure it with other partners
  ok       switch leaf1       180 GB/s between its halves, 16 pairs at once: each 1 times as long as alone; by chance: 0.3
  ok       switch noisy       12 GB/s between its halves, 2 pairs at once: each 1.8 times as long as alone; by chance: 0.2
  warn     switch top         90 GB/s between its halves, 32 pairs at once: each 3.9 times as long as alone; by chance: 0.0001
             -> it is oversubscribed: keep jobs below one switch where messages are large
`
	if got := b.String(); got != want {
		t.Errorf("checks\n%s\nwant\n%s", got, want)
	}
}
