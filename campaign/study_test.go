package campaign_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// Poisson forests take no target below 0, so a study must not offer them where one
// may be.
func TestStudiedCriteria(t *testing.T) {
	p := problem(t, replay.Options{})
	for _, tc := range []struct {
		scaling preprocess.Scaling
		model   learner.Model
		want    bool
	}{
		{preprocess.AlgorithmLog10, learner.Forest, true},
		{preprocess.AlgorithmLog10, learner.Stack, false},
		{preprocess.Standard, learner.Forest, false},
	} {
		study := campaign.ForestStudy(p.Truth, 3, 1, learner.Options{Scaling: tc.scaling, Model: tc.model})
		if got := slices.Contains(study.Criteria, "poisson"); got != tc.want {
			t.Errorf("%s with %s: criteria %v, poisson among them: want %v", tc.model, tc.scaling, study.Criteria, tc.want)
		}
	}
}

// Forests that have no weight in a stack are not studied: nothing would come of it.
func TestForestsWithoutWeightAreNotStudied(t *testing.T) {
	s, p := spec("regret"), problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}})
	s.Judge = campaign.ByPrediction
	s.Limits.MachineSeconds = 2
	res, err := campaign.Run(context.Background(), s, p, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := conclude(t, s, p, res)
	if c.Models.ForestWeight() > 0 {
		t.Fatal("the forests have a weight: want a campaign in which they have none")
	}
	if f := facts(t, s, p, res); len(res.Study.Trials) > 0 || !strings.Contains(f.NoStudy, "no weight") {
		t.Errorf("%d trials, no study because %q", len(res.Study.Trials), f.NoStudy)
	}
}
