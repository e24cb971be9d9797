package campaign_test

import (
	"context"
	"testing"

	"tutti/activelearn"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/testutil/synthetic"
)

// A campaign without a truth says what it predicts of its selection and how sure it
// is; what the batches showed of earlier predictions is in the log.
func TestPredictionReachesTheConclusion(t *testing.T) {
	s := spec("regret")
	s.HPO, s.CriteriaFrom, s.Batch.Candidates = 0, activelearn.Predicted, 30
	p := problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}})
	p.Truth = nil
	log := &memory{}
	res, err := campaign.Run(context.Background(), s, p, nil, log, nil)
	if err != nil {
		t.Fatal(err)
	}
	errors := 0
	for i, e := range res.Evaluations {
		if e.Source != "predicted" || e.SlowdownUpper < e.Slowdown || e.MistakesUpper < e.Mistakes || e.Slowdown < 1 {
			t.Errorf("evaluation %d: %+v", i, e)
		}
		errors += len(e.Errors)
	}
	if want := len(res.Ledger.Measurements()) - res.Evaluations[0].Trials; errors != want {
		t.Errorf("%d errors of predictions, want one for each of the %d measurements after the first evaluation", errors, want)
	}
	last, tuned := res.Evaluations[len(res.Evaluations)-1], facts(t, s, p, res).Scores[0]
	if tuned.Name != "tuned" || tuned.Source != "predicted" || tuned.Slowdown != last.Slowdown ||
		tuned.SlowdownHigh != last.SlowdownUpper || tuned.MistakesHigh != last.MistakesUpper {
		t.Errorf("score %+v of the evaluation %+v", tuned, last)
	}
}

// A space of few points need not be measured completely: the prediction is of all there are.
func TestPredictionOfFewPoints(t *testing.T) {
	s := spec("regret")
	s.HPO, s.CriteriaFrom = 0, activelearn.Predicted
	p := problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}})
	few := grid(t)[:12] // the criteria allow one mistake in 20
	p.Space = coll.NewSpace(few, synthetic.Algorithms(), func(coll.Candidate) error { return nil })
	res, err := campaign.Run(context.Background(), s, p, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := res.Evaluations[len(res.Evaluations)-1]
	if res.Stop != activelearn.Converged || e.CandidateShare == 1 || e.Source != "predicted" || e.Judged != len(few) {
		t.Errorf("stop %q after %+v", res.Stop, e)
	}
}
