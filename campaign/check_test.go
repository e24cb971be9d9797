package campaign_test

import (
	"context"
	"testing"

	"tutti/activelearn"
	"tutti/benchrunner/replay"
	"tutti/campaign"
)

// While the belief meets the criteria there are checks in each round; they are never forgotten,
// and a campaign stops only when neither belief nor checks speak against it.
func TestChecks(t *testing.T) {
	s := spec("regret")
	s.Judge, s.Criteria.Patience = campaign.ByPrediction, 4
	kept := 0 // rounds with checks in which the belief did not meet the criteria
	for _, sigma := range []float64{0.02, 0.1} {
		res, err := campaign.Run(context.Background(), s, problem(t, replay.Options{Seed: 5, Noise: replay.Noise{Sigma: sigma}}), nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		believed, held, before := false, 0, 0
		for _, e := range res.Evaluations {
			switch {
			case believed && e.Checks <= before:
				t.Errorf("noise %g, round %d has %d checks after %d, and the criteria are believed to hold", sigma, e.Round, e.Checks, before)
			case !believed && e.Checks != before:
				t.Errorf("noise %g, round %d has %d checks after %d, and nothing is believed to hold", sigma, e.Round, e.Checks, before)
			}
			slowdown, mistakes := e.UpperEnds()
			if n := float64(e.Checks); n > 0 && (mistakes < e.CheckMistakes/n || slowdown < 1+e.CheckLoss/n) {
				t.Errorf("noise %g, round %d: upper ends %g and %g, with %g and %g lost in %g checks", sigma, e.Round, slowdown, mistakes, e.CheckLoss, e.CheckMistakes, n)
			}
			if held++; slowdown >= s.Criteria.Slowdown || mistakes >= s.Criteria.Mistakes {
				held = 0
			}
			if !believed && e.Checks > 0 {
				kept++
			}
			believed = e.SlowdownUpper < s.Criteria.Slowdown && e.MistakesUpper < s.Criteria.Mistakes
			before = e.Checks
		}
		if res.Stop == activelearn.Converged && held < s.Criteria.Patience && res.Evaluations[len(res.Evaluations)-1].Source == string(campaign.ByPrediction) {
			t.Errorf("noise %g: the criteria held for %d rounds at the stop", sigma, held)
		}
	}
	if kept == 0 {
		t.Error("the belief never changed after a check: nothing was to be remembered")
	}
}
