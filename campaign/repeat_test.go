package campaign_test

import (
	"context"
	"math"
	"testing"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/preprocess"
)

// A campaign measures a few candidates twice, in two rounds, for a fiftieth of the machine
// time at most beside those that are incredible, and learns from them how noisy the machine is. One that fails is none, and its
// candidate stays measured.
func TestRepeats(t *testing.T) {
	var all []preprocess.Replicate
	for seed := range uint64(4) {
		all = append(all, checkRepeats(t, seed+1)...)
	}
	at := coll.Point{MsgBytes: 8}
	if got := math.Sqrt(preprocess.NoiseOf(all).Between(at)) * math.Ln10; got < 0.05 || got > 0.2 {
		t.Errorf("noise of %.3f was learnt from %d repeats, want 0.1", got, len(all))
	}
}

// checkRepeats checks those of a campaign and returns them.
func checkRepeats(t *testing.T, seed uint64) []preprocess.Replicate {
	t.Helper()
	opt := replay.Options{Seed: seed, Noise: replay.Noise{Sigma: 0.1}, FailureRate: 0.1, Launch: benchrunner.LaunchCost{Model: benchrunner.LaunchNative, Seconds: 0.01}}
	s := spec("regret")
	s.CriteriaFrom, s.Launch = activelearn.Predicted, benchrunner.LaunchNative
	log, p := &memory{}, problem(t, opt)
	res, err := campaign.Run(context.Background(), s, p, nil, log, nil)
	if err != nil {
		t.Fatal(err)
	}
	rounds, doubted, failed, cost := map[coll.Candidate][]int{}, map[coll.Candidate]bool{}, 0, 0.0
	for _, rec := range log.records {
		for i, why := range rec.Reasons {
			doubted[rec.Batch[i]] = doubted[rec.Batch[i]] || why.Outlier
		}
		if rec.Trial == nil {
			continue
		}
		of := rounds[rec.Trial.Candidate]
		if len(of) > 0 && of[len(of)-1] == rec.Round {
			t.Errorf("%v was measured twice in round %d", rec.Trial.Candidate, rec.Round)
		}
		if rec.Trial.State == coll.TrialFailed {
			failed++
			continue
		}
		rounds[rec.Trial.Candidate] = append(of, rec.Round)
	}
	for _, r := range res.Ledger.Replicates() {
		if !doubted[r.First.Candidate] {
			cost += r.Again.CostSeconds
		}
		if n := len(rounds[r.First.Candidate]); n != 2 {
			t.Errorf("%v was measured %d times, want twice", r.First.Candidate, n)
		}
	}
	repeats := len(res.Ledger.Replicates())
	if repeats < 5 || cost > 0.02*res.Ledger.CostSeconds() || failed == 0 {
		t.Errorf("%d repeats for %g of %g s, %d failed trials", repeats, cost, res.Ledger.CostSeconds(), failed)
	}
	if got := res.Ledger.Trials(); got != len(res.Ledger.Measurements())+repeats+failed {
		t.Errorf("%d trials of %d measurements, %d repeats and %d failures", got, len(res.Ledger.Measurements()), repeats, failed)
	}
	return res.Ledger.Replicates()
}
