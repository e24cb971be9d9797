package campaign_test

import (
	"context"
	"testing"

	"tutti/activelearn"
	"tutti/benchrunner/replay"
	"tutti/campaign"
)

// A space that is measured completely is judged by what was measured there, with
// neither patience nor a least number of points; a judge who knows the truth stays.
func TestCompleteSpaceIsJudgedByItsMeasurements(t *testing.T) {
	for _, tc := range []struct {
		name   string
		judge  activelearn.Source
		noise  float64
		set    func(*campaign.Spec)
		source activelearn.Source
		want   activelearn.StopReason
	}{
		{"cross-validated", activelearn.CrossValidated, 0.01, func(*campaign.Spec) {}, "measured", activelearn.Converged},
		{"predicted", activelearn.Predicted, 0.01, func(*campaign.Spec) {}, "measured", activelearn.Converged},
		{"reference", activelearn.Reference, 0.01, func(*campaign.Spec) {}, "reference", activelearn.SpaceExhausted},
		{"more than noise allows", activelearn.Predicted, 0.01, func(s *campaign.Spec) { s.Criteria.Slowdown = 1.00001 }, "measured", activelearn.Converged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := spec("uncertainty")
			s.HPO, s.CriteriaFrom = 0, tc.judge
			s.Batch.Candidates = 1 << 20 // everything in one round
			s.Learner.Forest.Trees, s.Learner.Forest.MaxDepth = 5, 1
			tc.set(&s)
			p := problem(t, replay.Options{Seed: 3, Noise: replay.Noise{Sigma: tc.noise}})
			res, err := campaign.Run(context.Background(), s, p, nil, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			e := res.Evaluations[len(res.Evaluations)-1]
			if res.Stop != tc.want || e.Source != tc.source {
				t.Errorf("stop %q by %q, want %q by %q: %+v", res.Stop, e.Source, tc.want, tc.source, e)
			}
			if e.Source == "measured" && !(e.SlowdownUpper > e.Slowdown && e.MistakesUpper >= e.Mistakes && e.Slowdown > 1) {
				t.Errorf("upper ends are not above what is expected: %+v", e)
			}
		})
	}
}
