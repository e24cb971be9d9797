package lab

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

// TestAgainst checks the comparison of a selection with the default by recorded times.
func TestAgainst(t *testing.T) {
	at := func(size int64, name string, seconds float64) coll.Measurement {
		p := coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: size}
		return coll.Measurement{Candidate: coll.Candidate{Point: p, Algorithm: coll.Algorithm{Name: name}}, Seconds: seconds}
	}
	truth := []coll.Measurement{
		at(1, "ring", 0.5), at(1, "library_default", 1), // twice as fast
		at(2, "ring", 1.04), at(2, "library_default", 1),
		at(3, "ring", 1.5), at(3, "library_default", 1),
		at(4, "ring", 1),            // no default
		at(5, "library_default", 1), // the choice has no time
	}
	got := Harm{}.against(truth, func(coll.Point) coll.Algorithm { return coll.Algorithm{Name: "ring"} }, func(coll.Point) float64 { return 2 })
	want := Harm{Points: 3, Slower2: 2, Slower5: 1, Slower10: 1, Worst: 1.5, Weight: 6, Gain: 2 * (math.Log(2) - math.Log(1.04) - math.Log(1.5))}
	if math.Abs(got.Gain-want.Gain) > 1e-12 {
		t.Errorf("gain %g, want %g", got.Gain, want.Gain)
	}
	if got.Gain = want.Gain; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestMeasureHarm checks that the guard removes harm, that confirmation adds gain for machine time, and that points of
// other files are compared, too. The results must not depend on the number of workers.
func TestMeasureHarm(t *testing.T) {
	opt := HarmOptions{
		File: "../../configs/small.yaml", Set: []string{"collectives=allgather"}, Seeds: Seeds(1, 1),
		OffGrid: []string{"../../data/simgrid/C_allgather_np2.csv"},
	}
	all := testutil.Must(MeasureHarm(context.Background(), opt, func([]Harm) {}))(t)
	groups := groupHarm(all)
	if len(groups) != 6 {
		t.Fatalf("%d groups, want three selections on and off the grid", len(groups))
	}
	unguarded, guarded, confirmed := groups[0].seeds[0], groups[1].seeds[0], groups[2].seeds[0]
	switch {
	case guarded.Slower5 > 0 || confirmed.Slower5 > 0:
		t.Errorf("points more than 5 %% slower: %d guarded, %d confirmed", guarded.Slower5, confirmed.Slower5)
	case unguarded.MachineSeconds != guarded.MachineSeconds || confirmed.MachineSeconds <= guarded.MachineSeconds:
		t.Errorf("machine seconds %g, %g, %g", unguarded.MachineSeconds, guarded.MachineSeconds, confirmed.MachineSeconds)
	case confirmed.Gain <= guarded.Gain:
		t.Errorf("confirmation does not add gain: %g after %g", confirmed.Gain, guarded.Gain)
	case groups[3].seeds[0].Points == 0:
		t.Error("no points off the grid")
	}
	opt.Set = append(opt.Set, "workers=3")
	again := testutil.Must(MeasureHarm(context.Background(), opt, func([]Harm) {}))(t)
	if a, b := testutil.Must(json.Marshal(all))(t), testutil.Must(json.Marshal(again))(t); string(a) != string(b) {
		t.Error("other results with other workers")
	}
	var table strings.Builder
	testutil.NoError(t, WriteHarm(&table, all))
	if !strings.Contains(table.String(), "confirmed, off the grid") {
		t.Errorf("no row off the grid:\n%s", &table)
	}
}
