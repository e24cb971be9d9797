package activelearn_test

import (
	"fmt"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/metrics"
)

func ExampleStrategy() {
	ledger := activelearn.NewLedger(sweep(10))
	strategy, err := activelearn.New("uncertainty", activelearn.Options{Seed: 1, Initial: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	batch, err := strategy.Ask(activelearn.State{Round: 1, Want: 8, Ledger: ledger})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range batch {
		if err := ledger.Pend(c); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(len(batch), "asked for,", ledger.Left(), "left")
	// Output: 8 asked for, 32 left
}

// The result of a trial is recorded when the trial ends. The candidate of a failed trial can be tried again
// or given up.
func ExampleLedger() {
	ledger := activelearn.NewLedger(sweep(2))
	c := ledger.Free(0)[0]
	if err := ledger.Pend(c); err != nil {
		fmt.Println(err)
		return
	}
	failed := coll.Trial{Measurement: coll.Measurement{Candidate: c, CostSeconds: 2}, State: coll.TrialFailed}
	if err := ledger.Record(failed); err != nil {
		fmt.Println(err)
		return
	}
	ledger.Abandon(c)
	fmt.Println(ledger.Trials(), "trial,", ledger.Failed(), "failed,", ledger.CostSeconds(), "s,", ledger.Left(), "left")
	// Output: 1 trial, 1 failed, 2 s, 7 left
}

// The criteria must be met by two successive evaluations.
func ExampleWatch() {
	watch := activelearn.NewWatch(activelearn.Criteria{Slowdown: 1.03, Mistakes: 0.05, Patience: 2}, activelearn.Limits{})
	for _, slowdown := range []float64{1.02, 1.04, 1.02, 1.01} {
		sum := metrics.Summary{Points: 20, Slowdown: slowdown, Mistakes: 0.01}
		fmt.Println(slowdown, watch.Observe(sum))
	}
	// Output:
	// 1.02 false
	// 1.04 false
	// 1.02 false
	// 1.01 true
}
