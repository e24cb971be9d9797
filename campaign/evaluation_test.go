package campaign_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/activelearn"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/journal"
)

// TestAudits checks the audits, in which a campaign compares its choices with credible rivals before it
// stops. An audit must follow each evaluation that meets the stopping criteria, and measure only message
// sizes that have not passed an audit yet. The campaign must stop when no audit remains.
func TestAudits(t *testing.T) {
	s, log := spec("regret"), &memory{}
	s.HPO, s.CriteriaFrom = 0, activelearn.Predicted
	res := mustRun(t, s, problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}}), log)
	var last activelearn.Evaluation
	audits := 0
	for _, rec := range log.records {
		switch {
		case rec.Evaluation != nil:
			last = *rec.Evaluation
			if last.Audits > 0 && last.PConverged < activelearn.DefaultConfidence {
				t.Errorf("round %d plans %d audits when the criteria hold with the probability %g", rec.Round, last.Audits, last.PConverged)
			}
		case rec.Kind == journal.KindBatch:
			points := map[coll.Point]bool{}
			for i, why := range rec.Reasons {
				if c := rec.Batch[i]; why.Audit {
					points[c.Point] = true
					if slices.Contains(last.Audited, c.MsgBytes) {
						t.Errorf("round %d audits %v again", rec.Round, c)
					}
				}
			}
			if len(points) != last.Audits {
				t.Errorf("round %d audits %d points, want %d", rec.Round, len(points), last.Audits)
			}
			audits += len(points)
		}
	}
	if res.Stop != activelearn.Converged || last.PConverged < activelearn.DefaultConfidence || last.Audits > 0 || audits == 0 {
		t.Errorf("stop %q after %d audits and the evaluation %+v", res.Stop, audits, last)
	}
}

// TestExhaustedSpace checks the evaluation of a completely measured space. It must be based on the
// measurements, or on the true times if stop.criteria_from is "reference". No further rounds may follow.
func TestExhaustedSpace(t *testing.T) {
	for _, tc := range []struct {
		name   string
		from   activelearn.Source
		set    func(*campaign.Spec)
		source activelearn.Source
		want   activelearn.StopReason
	}{
		{"cross-validated", activelearn.CrossValidated, func(*campaign.Spec) {}, "measured", activelearn.Converged},
		{"predicted", activelearn.Predicted, func(*campaign.Spec) {}, "measured", activelearn.Converged},
		{"reference", activelearn.Reference, func(*campaign.Spec) {}, "reference", activelearn.SpaceExhausted},
		{"criteria below the noise", activelearn.Predicted, func(s *campaign.Spec) { s.Criteria.Slowdown = 1.00001 }, "measured", activelearn.SpaceExhausted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := spec("uncertainty")
			s.HPO, s.CriteriaFrom = 0, tc.from
			s.Batch.Candidates = 1 << 20 // everything in one round
			s.Learner.Forest.Trees, s.Learner.Forest.MaxDepth = 5, 1
			tc.set(&s)
			p := problem(t, replay.Options{Seed: 3, Noise: replay.Noise{Sigma: 0.01}})
			res := mustRun(t, s, p, nil)
			e := res.Evaluations[len(res.Evaluations)-1]
			if res.Stop != tc.want || e.Source != tc.source {
				t.Errorf("stop %q by %q, want %q by %q: %+v", res.Stop, e.Source, tc.want, tc.source, e)
			}
			if e.Source == "measured" && !(e.SlowdownUpper > e.Slowdown && e.MistakesUpper >= e.Mistakes && e.Slowdown > 1) {
				t.Errorf("the upper ends are not above the expected figures: %+v", e)
			}
		})
	}
}

// criteriaChange is a change of one stopping criterion or of the points' weights.
type criteriaChange struct {
	name string
	set  func(*campaign.Spec, *campaign.Problem)
}

var criteriaChanges = []criteriaChange{
	{"stop.slowdown", func(s *campaign.Spec, _ *campaign.Problem) { s.Criteria.Slowdown = 1.3 }},
	{"stop.mistakes", func(s *campaign.Spec, _ *campaign.Problem) { s.Criteria.Mistakes = 0.005 }},
	{"stop.mistake_threshold", func(s *campaign.Spec, _ *campaign.Problem) { s.Metrics.MistakeThreshold = 0.5 }},
	{"weights of points", func(_ *campaign.Spec, p *campaign.Problem) {
		p.Weights = make([]float64, len(p.Space.Points()))
		for i, point := range p.Space.Points() {
			if point.MsgBytes > 1<<14 {
				p.Weights[i] = 1
			}
		}
	}},
}

// someChanges returns two of criteriaChanges, or all of them in full test runs (see testutil.AllCases).
func someChanges() []criteriaChange {
	if testutil.AllCases() {
		return criteriaChanges
	}
	return criteriaChanges[:2]
}

// unending is an observer that never ends a campaign: measuring continues until a limit is reached.
type unending struct{}

func (unending) Evaluated(activelearn.Evaluation, bool, func() (activelearn.Choice, error)) (bool, error) {
	return false, nil
}

// TestCriteriaReachTheStrategy checks that the strategy "regret" requests other candidates after each change
// of the stopping criteria.
func TestCriteriaReachTheStrategy(t *testing.T) {
	batches := func(set func(*campaign.Spec, *campaign.Problem)) (out [][]coll.Candidate) {
		s, p := spec("regret"), problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.05}})
		s.HPO, s.CriteriaFrom, s.Limits.MachineSeconds = 0, activelearn.Predicted, 1
		p.Observer = unending{} // only a limit can end the campaign
		set(&s, &p)
		log := &memory{}
		mustRun(t, s, p, log)
		for _, rec := range log.records {
			if rec.Kind == journal.KindBatch {
				out = append(out, rec.Batch)
			}
		}
		return out
	}
	unchanged := batches(func(*campaign.Spec, *campaign.Problem) {})
	if len(unchanged) < 3 {
		t.Fatalf("%d rounds: want some to compare", len(unchanged))
	}
	for _, tc := range someChanges() {
		if cmp.Equal(unchanged, batches(tc.set), cmp.AllowUnexported(coll.Algorithm{})) {
			t.Errorf("%s does not change the batches", tc.name)
		}
	}
}

// TestCriteriaReachTheStudy checks that the loss in a hyperparameter study depends on the stopping criteria.
func TestCriteriaReachTheStudy(t *testing.T) {
	first := func(set func(*campaign.Spec, *campaign.Problem)) float64 {
		s, p := spec("uncertainty"), problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.05}})
		s.HPO, s.Batch.Candidates = 1, 100
		p.Observer = unending{}
		set(&s, &p)
		res := mustRun(t, s, p, nil)
		return *res.Study.Trials[0].Value
	}
	unchanged := first(func(*campaign.Spec, *campaign.Problem) {})
	for _, tc := range someChanges() {
		if got := first(tc.set); got == unchanged {
			t.Errorf("%s: the first trial has the value %g as without the change", tc.name, got)
		}
	}
}

// TestPredictionReachesTheConclusion checks the score in the report if no true times are known. It must have the
// numbers of the last evaluation, which predicts them.
func TestPredictionReachesTheConclusion(t *testing.T) {
	s := spec("regret")
	s.HPO, s.CriteriaFrom, s.Batch.Candidates = 0, activelearn.Predicted, 30
	p := problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}})
	p.Truth = nil
	log := &memory{}
	res := mustRun(t, s, p, log)
	for i, e := range res.Evaluations {
		if e.Source != "predicted" || e.SlowdownUpper < e.Slowdown || e.MistakesUpper < e.Mistakes || e.Slowdown < 1 {
			t.Errorf("evaluation %d: %+v", i, e)
		}
	}
	last, tuned := res.Evaluations[len(res.Evaluations)-1], facts(t, s, p, res).Scores[0]
	if tuned.Name != "tuned" || tuned.Source != "predicted" || tuned.Slowdown != last.Slowdown ||
		tuned.SlowdownHigh != last.SlowdownUpper || tuned.MistakesHigh != last.MistakesUpper {
		t.Errorf("score %+v of the evaluation %+v", tuned, last)
	}
}

// TestFewPoints checks that a campaign with few points measures all candidates, even if predictions meet the
// criteria earlier. If a limit ends the campaign before that, there must be a warning.
func TestFewPoints(t *testing.T) {
	s := spec("regret")
	s.HPO, s.CriteriaFrom = 0, activelearn.Predicted
	p := problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}})
	few := grid(t)[:12]
	p.Space = coll.NewSpace(few, testutil.SyntheticAlgorithms(), func(coll.Candidate) error { return nil })
	res := mustRun(t, s, p, nil)
	e := res.Evaluations[len(res.Evaluations)-1]
	if res.Stop != activelearn.Converged || e.CandidateShare < 1 || e.Source != "measured" || e.EvaluatedPoints != len(few) {
		t.Errorf("stop %q after %+v", res.Stop, e)
	}
	s.Limits.MachineSeconds = e.MachineSeconds / 2
	if res := mustRun(t, s, p, nil); res.Stop != activelearn.Budget || !strings.Contains(strings.Join(res.Warnings, "\n"), "12 points prove nothing") {
		t.Errorf("at half the machine time: stop %q with the warnings %q", res.Stop, res.Warnings)
	}
}

// TestNoiseLimited checks that a campaign ends with a warning if the noise makes the stopping criteria
// unattainable.
func TestNoiseLimited(t *testing.T) {
	s := spec("regret")
	s.HPO, s.CriteriaFrom = 0, activelearn.Predicted
	s.Criteria.Slowdown, s.Criteria.Mistakes = 1.001, 0.001
	res := mustRun(t, s, problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.3}}), nil)
	if res.Stop != activelearn.NoiseLimited || len(res.Warnings) != 1 {
		t.Errorf("stop %q with the warnings %q, want one", res.Stop, res.Warnings)
	}
}

// TestReasonsAreLogged checks that the log has a reason for each candidate of every batch except the first.
// It must have no trials of a hyperparameter study, because the campaign uses a Gaussian process.
func TestReasonsAreLogged(t *testing.T) {
	log := &memory{}
	s := spec("regret")
	s.CriteriaFrom, s.Batch.Candidates = activelearn.Predicted, 30
	res := mustRun(t, s, problem(t, replay.Options{Seed: 1}), log)
	if n := len(res.Study.Trials); n > 0 {
		t.Errorf("%d study trials", n)
	}
	batches := 0
	for _, r := range log.records {
		if err := r.Validate(); err != nil {
			t.Errorf("record of round %d: %v", r.Round, err)
		}
		if len(r.Batch) == 0 {
			continue
		}
		if batches++; batches > 1 != (len(r.Reasons) == len(r.Batch)) {
			t.Errorf("batch %d of %d candidates has %d reasons", batches, len(r.Batch), len(r.Reasons))
		}
	}
	if batches < 3 {
		t.Errorf("%d batches, want 3 or more", batches)
	}
}
