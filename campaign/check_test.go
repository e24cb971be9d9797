package campaign_test

import (
	"context"
	"testing"

	"tutti/activelearn"
	"tutti/benchrunner/replay"
	"tutti/campaign"
)

// Once the criteria hold, there are checks in each round, and what they lose is the least
// that upper ends can be; when the criteria hold no longer, what was checked is forgotten.
func TestChecks(t *testing.T) {
	s := spec("regret")
	s.CriteriaFrom, s.Criteria.Patience = activelearn.Predicted, 4
	res, err := campaign.Run(context.Background(), s, problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}}), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for i, e := range res.Evaluations {
		switch n := float64(e.ValidationPoints); {
		case held == 0 && n > 0:
			t.Errorf("round %d has %g checks, and nothing held before", e.Round, n)
		case held > 0 && e.ValidationPoints <= res.Evaluations[i-1].ValidationPoints:
			t.Errorf("round %d has %d checks after %d", e.Round, e.ValidationPoints, res.Evaluations[i-1].ValidationPoints)
		case n > 0 && (e.MistakesUpper < e.ValidationMistakes/n || e.SlowdownUpper < 1+e.ValidationLoss/n):
			t.Errorf("round %d: upper ends %g and %g, with %g and %g lost in %g checks", e.Round, e.SlowdownUpper, e.MistakesUpper, e.ValidationLoss, e.ValidationMistakes, n)
		}
		if held++; e.SlowdownUpper >= s.Criteria.Slowdown || e.MistakesUpper >= s.Criteria.Mistakes {
			held = 0
		}
	}
	if held < s.Criteria.Patience {
		t.Errorf("the criteria held for %d rounds at the stop", held)
	}
}
