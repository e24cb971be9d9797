package testutil_test

import (
	"fmt"
	"math"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

func points(t *testing.T) []coll.Point {
	t.Helper()
	g := coll.Grid{Nodes: []int{1, 2, 3, 7, 16, 64}, PPN: []int{1, 2, 5, 36}}
	for size := int64(1); size <= 1<<24; size *= 8 {
		g.MsgBytes = append(g.MsgBytes, size)
	}
	ps := testutil.Must(g.Points(coll.Bcast))(t)
	return ps
}

// TestSyntheticBest checks that SyntheticBest returns the fastest measured algorithm, and never linear.
func TestSyntheticBest(t *testing.T) {
	ps := points(t)
	ms := testutil.SyntheticMeasurements(ps)
	if want := len(ps) * len(testutil.SyntheticAlgorithms()); len(ms) != want {
		t.Fatalf("%d measurements, want %d", len(ms), want)
	}
	fastest := map[coll.Point]coll.Measurement{}
	wins := map[string]int{}
	for _, m := range ms {
		testutil.NoError(t, m.Validate())
		if m.CostSeconds != 1000*m.Seconds {
			t.Errorf("%v costs %g s, want a thousand calls of %g s", m.Candidate, m.CostSeconds, m.Seconds)
		}
		if best, ok := fastest[m.Point]; !ok || m.Seconds < best.Seconds {
			fastest[m.Point] = m
		}
	}
	for _, p := range ps {
		best := testutil.SyntheticBest(p)
		wins[best.Name]++
		if best != fastest[p].Algorithm {
			t.Errorf("Best(%v) = %v, but %v is the fastest", p, best, fastest[p].Algorithm)
		}
	}
	if wins["tree"] == 0 || wins["halving"] == 0 || wins["ring"] == 0 || wins["linear"] != 0 {
		t.Errorf("wins = %v, want some of tree, halving and ring and none of linear", wins)
	}
}

// TestSyntheticTimes checks the times on two processes, where tree sends a single message with the whole
// buffer.
func TestSyntheticTimes(t *testing.T) {
	p := coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 1 << 20}
	bytes := float64(1 << 20)
	want := map[string]float64{
		"tree":    testutil.SyntheticLatency + bytes*testutil.SyntheticGap,
		"linear":  2*testutil.SyntheticLatency + 2*bytes*testutil.SyntheticGap,
		"halving": 2*testutil.SyntheticLatency + bytes*testutil.SyntheticGap,
		"ring":    2*testutil.SyntheticLatency + bytes*testutil.SyntheticGap/2,
	}
	for _, m := range testutil.SyntheticMeasurements([]coll.Point{p}) {
		if math.Abs(m.Seconds/want[m.Algorithm.Name]-1) > 1e-12 {
			t.Errorf("%v takes %g s, want %g s", m.Candidate, m.Seconds, want[m.Algorithm.Name])
		}
	}
}

func ExampleSyntheticBest() {
	for _, size := range []int64{8, 1 << 24} {
		p := coll.Point{Collective: coll.Bcast, Nodes: 16, PPN: 1, MsgBytes: size}
		fmt.Println(p, testutil.SyntheticBest(p))
	}
	// Output:
	// bcast 16x1 8B tree
	// bcast 16x1 16MiB ring
}
