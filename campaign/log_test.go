package campaign_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/hpo"
	"tutti/internal/testutil"
	"tutti/journal"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// TestContradictingLog checks that records that the campaign cannot have written cause an error.
func TestContradictingLog(t *testing.T) {
	p := problem(t, replay.Options{Seed: 1})
	s := spec("uncertainty")
	var log memory
	mustRun(t, s, p, &log)
	first := func(kind journal.Kind) int {
		return slices.IndexFunc(log.records, func(r journal.Record) bool { return r.Kind == kind })
	}
	tests := []struct {
		name   string
		kind   journal.Kind
		change func(r *journal.Record)
	}{
		{"trial of no batch", journal.KindTrial, func(r *journal.Record) {
			t := *r.Trial
			t.Nodes = 31
			r.Trial = &t
		}},
		{"study trial without its value", journal.KindHPO, func(r *journal.Record) {
			r.HPO = &hpo.TrialRecord{State: hpo.Complete}
		}},
		{"study begins in the middle", journal.KindHPO, func(r *journal.Record) {
			r.HPO = &hpo.TrialRecord{Number: 1, State: hpo.Failed, Error: "x"}
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			records := slices.Clone(log.records)
			tc.change(&records[first(tc.kind)])
			if _, err := campaign.Run(context.Background(), s, p, past(p, records), nil, nil); !errors.Is(err, campaign.ErrLog) {
				t.Errorf("Run error = %v, want %v", err, campaign.ErrLog)
			}
			if _, err := campaign.Restore(s, p, past(p, records)); !errors.Is(err, campaign.ErrLog) {
				t.Errorf("Restore error = %v, want %v", err, campaign.ErrLog)
			}
		})
	}
}

// TestStudiedCriteria checks that a hyperparameter study offers the split criterion poisson only if the
// scaled targets cannot be negative.
func TestStudiedCriteria(t *testing.T) {
	p := problem(t, replay.Options{})
	for _, tc := range []struct {
		scaling preprocess.Scaling
		want    bool
	}{
		{preprocess.AlgorithmLog10, true},
		{preprocess.Standard, false},
	} {
		study := campaign.ForestStudy(learner.Data{Measurements: slices.Values(p.Truth)}, 3, 1, learner.Options{Scaling: tc.scaling, Model: learner.Forest})
		if got := slices.Contains(study.Criteria, "poisson"); got != tc.want {
			t.Errorf("%s: criteria %v, poisson among them: want %v", tc.scaling, study.Criteria, tc.want)
		}
	}
}

// TestFinalModel checks a hyperparameter study with Spec.Auto, which compares the Gaussian process with the
// best forest. The log must keep the comparison. A forest may become the final model only if it is better in
// this comparison. Without trials, the comparison is with the configured forest.
func TestFinalModel(t *testing.T) {
	s, p := spec("regret"), problem(t, replay.Options{Seed: 1, Noise: replay.Noise{Sigma: 0.02}})
	s.Limits.MachineSeconds, s.Auto, s.HPO = 2, true, 2
	log := &memory{}
	res := mustRun(t, s, p, log)
	c := res.Study.Comparison
	if len(res.Study.Trials) != 2 || c == nil || c.Trials != 2 || c.Error < 0 {
		t.Fatalf("%d forests, comparison %+v", len(res.Study.Trials), c)
	}
	if restored := testutil.Must(campaign.Restore(s, p, past(p, log.records)))(t); !reflect.DeepEqual(restored.Study, res.Study) {
		t.Errorf("the log has the study %+v, want %+v", restored.Study, res.Study)
	}
	s.HPO = 0
	if study := mustRun(t, s, p, nil).Study; len(study.Trials) != 1 || study.Comparison == nil || study.Comparison.GP != c.GP {
		t.Errorf("without trials: %d forests, comparison %+v", len(study.Trials), study.Comparison)
	}
	for _, tc := range []struct {
		comparison *hpo.Comparison
		want       learner.Model
	}{
		{nil, learner.GaussianProcess},
		{&hpo.Comparison{GP: 0.02, Forest: 0.01}, learner.GaussianProcess},
		{&hpo.Comparison{GP: 0.02, Forest: 0.01, Wins: true}, learner.Forest},
	} {
		res.Study.Comparison = tc.comparison
		if got := testutil.Must(campaign.Train(s, p, res))(t).Learner.Model; got != tc.want {
			t.Errorf("comparison %+v: the final model is %s, want %s", tc.comparison, got, tc.want)
		}
	}
}
