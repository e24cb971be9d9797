package activelearn

import (
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

// A point counts as one observation even if its algorithms are measured in different rounds. Its
// time is the fastest of the first of these rounds.
func TestUncertaintyObservesEachPointOnce(t *testing.T) {
	var points []coll.Point
	for i := range 6 {
		points = append(points, coll.Point{Collective: coll.Bcast, Nodes: 8, PPN: 2, MsgBytes: 1 << (3 * i)})
	}
	s := coll.NewSpace(points, testutil.SyntheticAlgorithms(), func(coll.Candidate) error { return nil })
	l := NewLedger(s)
	u := &uncertainty{opt: Options{Initial: 3}}
	for round := 1; l.Left() > 0; round++ {
		if _, err := u.Ask(State{Round: round, Want: 1, Ledger: l}); err != nil {
			t.Fatal(err)
		}
		if got, want := len(u.fastest), l.PointsMeasured(); got != want {
			t.Fatalf("round %d: %d points observed, want %d", round, got, want)
		}
		// In round r, one more algorithm is measured at each of the first r points.
		for i := range min(round, len(points)) {
			free := l.Free(i)
			if len(free) == 0 {
				continue
			}
			testutil.NoError(t, l.Pend(free[0]))
			m := coll.Measurement{Candidate: free[0], Seconds: 1e-6 * float64(1+i)}
			testutil.NoError(t, l.Record(coll.Trial{Measurement: m, State: coll.TrialDone}))
		}
	}
}
