package campaign_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/activelearn"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/journal"
)

// criteriaChanges each change one thing that the user says of what matters.
var criteriaChanges = []struct {
	name string
	set  func(*campaign.Spec, *campaign.Problem)
}{
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

// unending is an observer that lets a campaign go on after its criteria hold.
type unending struct{}

func (unending) Evaluated(activelearn.Evaluation, bool, func() (activelearn.Choice, error)) (bool, error) {
	return false, nil
}

// Whatever the user says of what matters, regret asks for other candidates.
func TestCriteriaReachTheStrategy(t *testing.T) {
	batches := func(set func(*campaign.Spec, *campaign.Problem)) (out [][]coll.Candidate) {
		s, p := spec("regret"), problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.05}})
		s.HPO, s.CriteriaFrom, s.Limits.MachineSeconds = 0, activelearn.Predicted, 1
		p.Observer = unending{} // the limit alone ends it
		set(&s, &p)
		log := &memory{}
		if _, err := campaign.Run(context.Background(), s, p, nil, log, nil); err != nil {
			t.Fatal(err)
		}
		for _, rec := range log.records {
			if rec.Kind == journal.KindBatch {
				out = append(out, rec.Batch)
			}
		}
		return out
	}
	usual := batches(func(*campaign.Spec, *campaign.Problem) {})
	if len(usual) < 3 {
		t.Fatalf("%d rounds: want some to compare", len(usual))
	}
	changes := criteriaChanges
	if !testutil.AllCases() {
		changes = changes[:2]
	}
	for _, tc := range changes {
		if cmp.Equal(usual, batches(tc.set), cmp.AllowUnexported(coll.Algorithm{})) {
			t.Errorf("%s changes nothing that is asked for", tc.name)
		}
	}
}

// Whatever the user says of what matters, a study of forests holds them against it.
func TestCriteriaReachTheStudy(t *testing.T) {
	first := func(set func(*campaign.Spec, *campaign.Problem)) float64 {
		s, p := spec("uncertainty"), problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.05}})
		s.HPO, s.Limits.MachineSeconds = 1, 100
		p.Observer = unending{}
		set(&s, &p)
		res, err := campaign.Run(context.Background(), s, p, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return *res.Study.Trials[0].Value
	}
	usual := first(func(*campaign.Spec, *campaign.Problem) {})
	for _, tc := range criteriaChanges {
		if got := first(tc.set); got == usual {
			t.Errorf("%s: the first trial is worth %g as without it", tc.name, got)
		}
	}
}
