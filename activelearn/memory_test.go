package activelearn

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// manyMeasured returns a ledger with n measurements: those of ten algorithms at each point. At one further point,
// no algorithm is measured.
func manyMeasured(t *testing.T, n int) *Ledger {
	t.Helper()
	points, algorithms := make([]coll.Point, n/10+1), make([]coll.Algorithm, 10)
	for i := range points {
		points[i] = coll.Point{Collective: coll.Bcast, Nodes: 2 + i/400, PPN: 1 + i/20%20, MsgBytes: 1 << (i % 20)}
	}
	for a := range algorithms {
		algorithms[a] = coll.Algorithm{Name: fmt.Sprint("algorithm-", a)}
	}
	l := NewLedger(coll.NewSpace(points, algorithms, func(coll.Candidate) error { return nil }))
	for i, c := range slices.Collect(l.Space().All())[:n] {
		testutil.NoError(t, l.Pend(c))
		seconds := 1e-6 * (1 + float64(c.MsgBytes)/1e3) * (1 + 0.1*math.Sin(float64(i)))
		m := coll.Measurement{Candidate: c, Seconds: seconds, CostSeconds: 1000 * seconds, Job: fmt.Sprint("job-", i/500)}
		testutil.NoError(t, l.Record(coll.Trial{Measurement: m, State: coll.TrialDone}))
	}
	return l
}

// TestRoundAllocates checks that the steps of a round need little memory for each measurement of a large ledger. A
// copy of all measurements would take 192 bytes for each.
func TestRoundAllocates(t *testing.T) {
	testutil.SkipShort(t)
	const few, many = 20_000, 100_000
	allocated := func(n int) uint64 {
		l := manyMeasured(t, n)
		models := NewModels(l, nil, learner.Options{Model: learner.GaussianProcess, Scaling: preprocess.AlgorithmLog10})
		rule := NewStopRule(RuleOptions{UsesPosterior: true, Source: Predicted}, l, models)
		strategy := testutil.Must(New("regret", Options{Seed: 1}))(t)
		posterior := testutil.Must(models.Posterior())(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		testutil.Must(posterior.Update(models.Data()))(t)
		testutil.Must(rule.remeasure.findOutliers(2, Logged{}))(t)
		rule.Replicate()
		testutil.Must(posterior.Score(nil, l.After(n-100)))(t)
		testutil.Must(strategy.Ask(State{Round: 2, Want: 8, Ledger: l, Posterior: posterior}))(t)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	small, large := allocated(few), allocated(many)
	if each := (int64(large) - int64(small)) / (many - few); each > 250 {
		t.Errorf("a round allocates %d bytes for each measurement, want 250 at most", each)
	} else {
		t.Logf("%d bytes for each measurement", each)
	}
}
