package campaign_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/journal"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// TestOutliersAreRemeasured checks that outliers of disturbed jobs are measured again in the next round, and
// that the second time replaces the first. The second measurements may cost at most 10 % of the machine time.
// A resumed campaign must measure the same candidates.
func TestOutliersAreRemeasured(t *testing.T) {
	s := spec("regret")
	s.CriteriaFrom = activelearn.Predicted
	disturbed := func() campaign.Problem {
		return problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02, TailProbability: 0.1}})
	}
	log := &memory{}
	res := mustRun(t, s, disturbed(), log)
	outliers := map[coll.Candidate]int{} // number of the round that measured the outlier a second time
	for _, r := range log.records {
		for i, why := range r.Reasons {
			if why.Outlier {
				outliers[r.Batch[i]] = r.Round
			}
		}
	}
	machine, cost, corrected := disturbed(), 0.0, 0
	for _, r := range res.Ledger.Replicates() {
		if outliers[r.First.Candidate] == 0 {
			continue
		}
		cost += r.Again.CostSeconds
		if r.First.Job == r.Again.Job {
			t.Errorf("%v was measured twice by job %s", r.First.Candidate, r.First.Job)
		}
		if r.First.Seconds > 1.25*r.Again.Seconds { // disturbed times are 1.3 to 3 times too long
			corrected++
			if got := res.Ledger.Measured(r.First.Candidate); got != r.Again {
				t.Errorf("the ledger has %v, want the second measurement %v", got, r.Again)
			}
		}
	}
	if corrected == 0 || cost > 0.1*res.Ledger.CostSeconds() {
		t.Errorf("%d of %d outliers were corrected, for %g of %g s", corrected, len(outliers), cost, res.Ledger.CostSeconds())
	}
	resumed := &memory{records: log.records[:len(log.records)/2]}
	if _, err := campaign.Run(context.Background(), s, machine, past(machine, resumed.records), resumed, nil); err != nil {
		t.Fatal(err)
	}
	same := cmp.Comparer(func(a, b coll.Algorithm) bool { return a == b })
	if diff := cmp.Diff(trialsOf(log.records), trialsOf(resumed.records), same); diff != "" {
		t.Errorf("trials of a resumed campaign (-whole +resumed):\n%s", diff)
	}
}

// TestNoStopWithOutliers checks that a campaign does not converge while outliers of its last round must be
// measured again. If the stopping criteria hold, the next round must measure only outliers.
func TestNoStopWithOutliers(t *testing.T) {
	s := spec("regret")
	s.HPO, s.CriteriaFrom = 0, activelearn.Predicted
	outlierRounds := 0
	for seed := uint64(1); seed <= 8 && outlierRounds == 0; seed++ {
		s.Seed = seed
		p := problem(t, replay.Options{Seed: seed, Noise: replay.Noise{Sigma: 0.02, TailProbability: 0.2}})
		log := &memory{}
		res := mustRun(t, s, p, log)
		outlierRounds += countOutlierRounds(t, s.Criteria, log.records)
		ms, repeated := res.Ledger.Measurements(), map[coll.Candidate]bool{}
		for _, r := range res.Ledger.Replicates() {
			repeated[r.First.Candidate] = true
		}
		b := testutil.Must(learner.NewPosterior(learner.Data{Measurements: slices.Values(ms), Replicates: res.Ledger.Replicates()}))(t)
		last := slices.IndexFunc(ms, func(m coll.Measurement) bool { return m.Job == ms[len(ms)-1].Job })
		residuals := b.LOOResiduals(last, len(ms))
		for i, z := range residuals {
			if m := ms[last+i]; z > 4 && !repeated[m.Candidate] {
				t.Errorf("seed %d: stop %q after %v, whose residual is %.1f standard deviations", seed, res.Stop, m.Candidate, z)
			}
		}
	}
	if outlierRounds == 0 {
		t.Error("no campaign had a round of outliers")
	}
}

// countOutlierRounds returns the number of rounds that measure outliers although the stopping criteria hold.
// Such a round may measure only outliers and one replicate.
func countOutlierRounds(t *testing.T, criteria activelearn.Criteria, records []journal.Record) (n int) {
	t.Helper()
	pending := 0
	for _, r := range records {
		switch {
		case r.Evaluation != nil:
			pending = 0
			e := r.Evaluation
			if e.PConverged >= activelearn.DefaultConfidence && criteria.Meets(metrics.Summary{Slowdown: e.Slowdown, Mistakes: e.Mistakes}) && e.Audits == 0 {
				pending = r.Evaluation.Outliers
			}
		case r.Kind == journal.KindBatch && pending > 0:
			n++
			if len(r.Batch) > pending+1 {
				t.Errorf("round %d measures %v, want the %d outliers and at most one replicate", r.Round, r.Batch, pending)
			}
		}
	}
	return n
}

// TestReplicates checks that campaigns measure some candidates twice, in different rounds. From these
// replicates they learn the noise of the machine.
func TestReplicates(t *testing.T) {
	var all []preprocess.Replicate
	seeds := uint64(2)
	if testutil.AllCases() {
		seeds = 4
	}
	for seed := range seeds {
		all = append(all, checkReplicates(t, seed+1)...)
	}
	at := coll.Point{MsgBytes: 8}
	if got := math.Sqrt(preprocess.NoiseOf(all).Between(at)) * math.Ln10; got < 0.05 || got > 0.2 {
		t.Errorf("noise of %.3f was learnt from %d replicates, want 0.1", got, len(all))
	}
}

// checkReplicates runs a campaign and returns its replicates. Apart from outliers, these may cost at most 2
// % of the machine time. A candidate whose second measurement failed is no replicate.
func checkReplicates(t *testing.T, seed uint64) []preprocess.Replicate {
	t.Helper()
	opt := replay.Options{Seed: seed, Noise: replay.Noise{Sigma: 0.1}, FailureRate: 0.1, Launch: benchrunner.LaunchCost{Model: benchrunner.LaunchNative, Seconds: 0.001}}
	s := spec("regret")
	s.CriteriaFrom, s.Launch = activelearn.Predicted, benchrunner.LaunchNative
	log, p := &memory{}, problem(t, opt)
	res := mustRun(t, s, p, log)
	rounds, outliers, failed, cost := map[coll.Candidate][]int{}, map[coll.Candidate]bool{}, 0, 0.0
	for _, rec := range log.records {
		for i, why := range rec.Reasons {
			outliers[rec.Batch[i]] = outliers[rec.Batch[i]] || why.Outlier
		}
		if rec.Trial == nil {
			continue
		}
		earlier := rounds[rec.Trial.Candidate]
		if len(earlier) > 0 && earlier[len(earlier)-1] == rec.Round {
			t.Errorf("%v was measured twice in round %d", rec.Trial.Candidate, rec.Round)
		}
		if rec.Trial.State == coll.TrialFailed {
			failed++
			continue
		}
		rounds[rec.Trial.Candidate] = append(earlier, rec.Round)
	}
	for _, r := range res.Ledger.Replicates() {
		if !outliers[r.First.Candidate] {
			cost += r.Again.CostSeconds
		}
		if n := len(rounds[r.First.Candidate]); n != 2 {
			t.Errorf("%v was measured %d times, want twice", r.First.Candidate, n)
		}
	}
	replicates := len(res.Ledger.Replicates())
	if replicates < 5 || cost > 0.02*res.Ledger.CostSeconds() || failed == 0 {
		t.Errorf("%d replicates for %g of %g s, %d failed trials", replicates, cost, res.Ledger.CostSeconds(), failed)
	}
	if got := res.Ledger.Trials(); got != len(res.Ledger.Measurements())+replicates+failed {
		t.Errorf("%d trials of %d measurements, %d replicates and %d failures", got, len(res.Ledger.Measurements()), replicates, failed)
	}
	return res.Ledger.Replicates()
}
