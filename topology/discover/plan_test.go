package discover_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tutti/topology/discover"
)

func TestPlanText(t *testing.T) {
	p := discover.Plan{
		Nodes: 4, PPN: 2, Bytes: 1024, Passes: 8, Precision: 0.05, Seconds: 1.5, Inside: true, Rounds: 3,
		Chosen:  [][][2]string{{{"n1", "n2"}}, {{"n3", "n4"}}},
		Classes: []discover.Class{{Name: "node", Pairs: []discover.Measurement{{A: discover.Endpoint{Host: "n1"}, B: discover.Endpoint{Host: "n1", Rank: 1}}}}},
	}
	want := `tutti-pairs-plan 1
nodes 4
ppn 2
bytes 1024
passes 8
precision 0.05
seconds 1.5
inside yes
between 3
pair 0 n1 n2
pair 1 n3 n4
example node n1 0 n1 1
end
`
	if got := string(p.Text()); got != want {
		t.Errorf("plan\n%s\nwant\n%s", got, want)
	}
}

func TestDisjointRounds(t *testing.T) {
	pairs := [][2]string{{"a", "b"}, {"a", "c"}, {"c", "d"}, {"b", "d"}}
	rounds := discover.DisjointRounds(pairs)
	if len(rounds) != 2 || !slices.Equal(rounds[0], [][2]string{{"a", "b"}, {"c", "d"}}) || !slices.Equal(rounds[1], [][2]string{{"a", "c"}, {"b", "d"}}) {
		t.Errorf("rounds %v", rounds)
	}
}

func TestFitClasses(t *testing.T) {
	rows := []float64{1e-5, 2e-5} // 1 µs per message
	examples := []discover.Example{
		{Class: "switch0", Bytes: 0, RoundTrip: 10e-6, Rows: rows},
		{Class: "switch0", Bytes: 8, RoundTrip: 12e-6, Send: 1e-6, Receive: 3e-6, Rows: rows},
		{Class: "node", Bytes: 8, RoundTrip: 1e-6},
	}
	got, gaps := discover.FitClasses(examples)
	if len(got) != 1 || got[0].Class != "switch0" || math.Abs(got[0].Latency-4e-6) > 1e-12 || got[0].Sizes[0].Bytes != 8 || math.Abs(got[0].Sizes[0].Gap-1e-6) > 1e-12 {
		t.Errorf("parameters %+v, want a latency of 4 µs and a gap of 1 µs for 8 bytes", got)
	}
	if len(gaps) != 1 || !strings.Contains(gaps[0], "parameters of node: not a reading: no empty messages") {
		t.Errorf("gaps %q", gaps)
	}
}
