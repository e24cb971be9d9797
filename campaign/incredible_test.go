package campaign_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/store"
)

var sameAlgorithm = cmp.Comparer(func(a, b coll.Algorithm) bool { return a == b })

// What a disturbed job made incredibly slow is measured again in the next round, for a tenth of
// the machine time at most. Until then it does not count, and its second time counts. A campaign that goes on after its end was
// cut off does the same, and one that is recalled has the same measurements in the same order.
func TestIncredibleIsMeasuredAgain(t *testing.T) {
	s := spec("regret")
	s.Judge = campaign.ByPrediction
	disturbed := func() campaign.Problem {
		return problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02, TailProbability: 0.05}})
	}
	log := &memory{}
	res, err := campaign.Run(context.Background(), s, disturbed(), nil, log, nil)
	if err != nil {
		t.Fatal(err)
	}
	incredible := map[coll.Candidate]int{}
	for _, r := range log.records {
		for i, why := range r.Reasons {
			if why.Again {
				incredible[r.Batch[i]] = r.Round
			}
		}
	}
	checkCounted(t, res, log.records, incredible)
	machine, cost, right := disturbed(), 0.0, 0
	for _, r := range res.Ledger.Repeats() {
		if incredible[r.First.Candidate] == 0 {
			continue
		}
		cost += r.Again.CostSeconds
		if r.First.Job == r.Again.Job {
			t.Errorf("%v was measured twice by job %s", r.First.Candidate, r.First.Job)
		}
		if r.First.Seconds > 1.25*r.Again.Seconds { // disturbed ones are 1.3 to 3 times slower
			right++
			if !slices.Contains(res.Ledger.Measurements(), r.Again) || slices.Contains(res.Ledger.Measurements(), r.First) {
				t.Errorf("%v does not count, want it in the place of %v, which was disturbed", r.Again, r.First)
			}
		}
	}
	if right == 0 || cost > 0.1*res.Ledger.CostSeconds() {
		t.Errorf("%d of %d incredible measurements were put right, for %g of %g s", right, len(incredible), cost, res.Ledger.CostSeconds())
	}
	recalled, err := campaign.Recall(s, machine, past(machine, log.records))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(res.Ledger.Measurements(), recalled.Ledger.Measurements(), sameAlgorithm); diff != "" {
		t.Errorf("measurements (-campaign +recalled):\n%s", diff)
	}
	cut := &memory{records: log.records[:len(log.records)/2]}
	if _, err := campaign.Run(context.Background(), s, machine, past(machine, cut.records), cut, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(trialsOf(log.records), trialsOf(cut.records), sameAlgorithm); diff != "" {
		t.Errorf("trials of a campaign that went on (-whole +cut off):\n%s", diff)
	}
}

// checkCounted checks how many measurements counted after each round: all but those that are measured
// again in the next.
func checkCounted(t *testing.T, res campaign.Result, records []store.Record, again map[coll.Candidate]int) {
	t.Helper()
	measured, waited := map[coll.Candidate]bool{}, 0
	for _, r := range records {
		switch r.Kind {
		case store.KindTrial:
			measured[r.Trial.Candidate] = true
		case store.KindEvaluation:
			want := len(measured)
			for _, round := range again {
				if round == r.Round+1 {
					want--
					waited++
				}
			}
			if got := r.Evaluation.CandidateShare * float64(res.Ledger.Space().Size()); math.Abs(got-float64(want)) > 1e-6 {
				t.Errorf("%g measurements counted after round %d, want %d of %d", got, r.Round, want, len(measured))
			}
		}
	}
	if waited != len(again) {
		t.Errorf("%d of %d incredible measurements waited for their second", waited, len(again))
	}
}
