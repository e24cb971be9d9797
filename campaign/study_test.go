package campaign_test

import (
	"slices"
	"testing"

	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/metrics"
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
		study := campaign.ForestStudy(p.Truth, 3, 1, learner.Options{Scaling: tc.scaling, Model: tc.model}, metrics.Options{})
		if got := slices.Contains(study.Criteria, "poisson"); got != tc.want {
			t.Errorf("%s with %s: criteria %v, poisson among them: want %v", tc.model, tc.scaling, study.Criteria, tc.want)
		}
	}
}
