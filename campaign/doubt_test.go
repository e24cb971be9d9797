package campaign_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/activelearn"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/journal"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// What a disturbed job made incredibly slow is measured again in the next round, for a tenth of
// the machine time at most, and its second time counts. A campaign that goes on after its end was
// cut off does the same.
func TestIncredibleIsMeasuredAgain(t *testing.T) {
	s := spec("regret")
	s.CriteriaFrom = activelearn.Predicted
	disturbed := func() campaign.Problem {
		return problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02, TailProbability: 0.05}})
	}
	log := &memory{}
	res, err := campaign.Run(context.Background(), s, disturbed(), nil, log, nil)
	if err != nil {
		t.Fatal(err)
	}
	doubted := map[coll.Candidate]int{}
	for _, r := range log.records {
		for i, why := range r.Reasons {
			if why.Outlier {
				doubted[r.Batch[i]] = r.Round
			}
		}
	}
	machine, cost, right := disturbed(), 0.0, 0
	for _, r := range res.Ledger.Replicates() {
		if doubted[r.First.Candidate] == 0 {
			continue
		}
		cost += r.Again.CostSeconds
		if r.First.Job == r.Again.Job {
			t.Errorf("%v was measured twice by job %s", r.First.Candidate, r.First.Job)
		}
		if r.First.Seconds > 1.25*r.Again.Seconds { // disturbed ones are 1.3 to 3 times slower
			right++
			if got := res.Ledger.Measured(r.First.Candidate); got != r.Again {
				t.Errorf("%v counts, want %v, which took the place of a disturbed one", got, r.Again)
			}
		}
	}
	if right == 0 || cost > 0.1*res.Ledger.CostSeconds() {
		t.Errorf("%d of %d doubted measurements were put right, for %g of %g s", right, len(doubted), cost, res.Ledger.CostSeconds())
	}
	cut := &memory{records: log.records[:len(log.records)/2]}
	if _, err := campaign.Run(context.Background(), s, machine, past(machine, cut.records), cut, nil); err != nil {
		t.Fatal(err)
	}
	same := cmp.Comparer(func(a, b coll.Algorithm) bool { return a == b })
	if diff := cmp.Diff(trialsOf(log.records), trialsOf(cut.records), same); diff != "" {
		t.Errorf("trials of a campaign that went on (-whole +cut off):\n%s", diff)
	}
}

// A campaign does not end while what its last round has shown is incredible: that is measured again,
// by a round of its own where nothing else lacks.
func TestNoEndByWhatIsIncredible(t *testing.T) {
	s := spec("regret")
	s.HPO, s.CriteriaFrom = 0, activelearn.Predicted
	waited := 0
	for _, seed := range []uint64{1, 3} {
		s.Seed = seed
		p := problem(t, replay.Options{Seed: seed, Noise: replay.Noise{Sigma: 0.02, TailProbability: 0.05}})
		log := &memory{}
		res, err := campaign.Run(context.Background(), s, p, nil, log, nil)
		if err != nil {
			t.Fatal(err)
		}
		waited += roundsOfDoubts(t, log.records, s.Criteria)
		ms, repeated := res.Ledger.Measurements(), map[coll.Candidate]bool{}
		for _, r := range res.Ledger.Replicates() {
			repeated[r.First.Candidate] = true
		}
		b, err := learner.NewPosterior(learner.Data{Measurements: ms, Replicates: res.Ledger.Replicates()})
		if err != nil {
			t.Fatal(err)
		}
		last := slices.IndexFunc(ms, func(m coll.Measurement) bool { return m.Job == ms[len(ms)-1].Job })
		exceeds, err := b.LOOResiduals(last, len(ms))
		if err != nil {
			t.Fatal(err)
		}
		for i, z := range exceeds {
			if m := ms[last+i]; z > 4 && !repeated[m.Candidate] {
				t.Errorf("seed %d: stop %q after %v, slower by %.1f deviations than expected", seed, res.Stop, m.Candidate, z)
			}
		}
	}
	if waited == 0 {
		t.Error("no campaign had to wait")
	}
}

// roundsOfDoubts counts the rounds after the criteria had held for long enough, and fails where
// such a round measures anything but what is doubted, and a candidate more that tells the noise.
func roundsOfDoubts(t *testing.T, records []journal.Record, c activelearn.Criteria) (n int) {
	t.Helper()
	watch, waiting := activelearn.NewWatch(c, activelearn.Limits{}), 0
	for _, r := range records {
		switch {
		case r.Evaluation != nil:
			e := r.Evaluation
			waiting = 0
			if watch.ObserveAll(metrics.Summary{Slowdown: e.SlowdownUpper, Mistakes: e.MistakesUpper}) {
				waiting = e.Outliers
			}
		case r.Kind == journal.KindBatch && waiting > 0:
			n++
			if len(r.Batch) > waiting+1 {
				t.Errorf("round %d measures %v, want the %d that are doubted and one more at most", r.Round, r.Batch, waiting)
			}
		}
	}
	return n
}
