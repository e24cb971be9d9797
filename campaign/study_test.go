package campaign_test

import (
	"context"
	"slices"
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
		want    bool
	}{
		{preprocess.AlgorithmLog10, true},
		{preprocess.Standard, false},
	} {
		study := campaign.ForestStudy(learner.Data{Measurements: p.Truth}, 3, 1, learner.Options{Scaling: tc.scaling, Model: learner.Forest})
		if got := slices.Contains(study.Criteria, "poisson"); got != tc.want {
			t.Errorf("%s: criteria %v, poisson among them: want %v", tc.scaling, study.Criteria, tc.want)
		}
	}
}

// A Gaussian process has no forests to study.
func TestNoStudyOfAGaussianProcess(t *testing.T) {
	s, p := spec("regret"), problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}})
	s.Limits.MachineSeconds = 2
	res, err := campaign.Run(context.Background(), s, p, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(res.Study.Trials); n > 0 {
		t.Errorf("%d trials", n)
	}
}
