package campaign_test

import (
	"context"
	"testing"

	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/verify"
)

// A campaign without a truth says what it predicts of its selection and how sure it
// is; what the batches showed of earlier predictions is in the log.
func TestPredictionReachesTheConclusion(t *testing.T) {
	s := spec("regret")
	s.HPO, s.Judge, s.Batch.Candidates = 0, campaign.ByPrediction, 30
	p := problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}})
	p.Truth = nil
	log := &memory{}
	res, err := campaign.Run(context.Background(), s, p, nil, log, nil)
	if err != nil {
		t.Fatal(err)
	}
	expected, found := 0.0, 0.0
	for i, e := range res.Evaluations {
		if e.Source != "predicted" || e.SlowdownUpper < e.Slowdown || e.MistakesUpper < e.Mistakes || e.Slowdown < 1 {
			t.Errorf("evaluation %d: %+v", i, e)
		}
		expected, found = expected+e.MistakesExpected, found+e.MistakesFound
	}
	if expected == 0 || found == 0 {
		t.Errorf("%g mistakes expected at the points of the batches, %g found: want some", expected, found)
	}
	c, err := campaign.Conclude(s, p, res, verify.Condemned{}, fit)
	if err != nil {
		t.Fatal(err)
	}
	last, tuned := res.Evaluations[len(res.Evaluations)-1], c.Facts.Scores[0]
	if tuned.Name != "tuned" || tuned.Source != "predicted" || tuned.Slowdown != last.Slowdown ||
		tuned.SlowdownHigh != last.SlowdownUpper || !(1 <= tuned.SlowdownLow && tuned.SlowdownLow <= tuned.Slowdown) {
		t.Errorf("score %+v of the evaluation %+v", tuned, last)
	}
}
