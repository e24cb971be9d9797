package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"tutti/hpo"
	"tutti/journal"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

// Study is the hyperparameter study of a problem with its trials.
type Study struct {
	Trials []hpo.TrialRecord
}

// study tunes the hyperparameters of the forests in the final model. The objective is the cross-validated
// loss in units of metrics.Allowed. The first trial has the configured forest, so the best trial is never
// worse than that.
func (r *run) study(ctx context.Context) (Study, error) {
	s, err := studyOf(r.past)
	if err != nil || r.spec.Learner.Model != learner.Forest || r.spec.HPO == 0 || r.result.Ledger.PointsMeasured() < 2 {
		return s, err
	}
	if len(s.Trials) < r.spec.HPO {
		r.report(PhaseStudy)
	}
	_, err = hpo.Forest(ctx, hpo.Spec{
		Trials:  r.spec.HPO,
		Seed:    r.spec.Seed,
		Earlier: slices.Clone(s.Trials),
		OnTrial: func(t hpo.TrialRecord) error {
			s.Trials = append(s.Trials, t)
			line, err := json.Marshal(t)
			if err != nil {
				return err
			}
			return r.recorder.append(journal.Record{Kind: journal.KindHPO, HPO: line})
		},
	}, ForestStudy(r.models.Data(), r.spec.Folds, r.spec.Seed, r.spec.Learner))
	if errors.Is(err, hpo.ErrNoneComplete) {
		r.warn("hyperparameter study: %v; the configured forests stay", err)
		return s, nil
	}
	return s, err
}

// ForestStudy returns a hyperparameter study of the learner's forests with k folds. The measurements must
// be of at least two points. The score of a fold is the loss that follows from its average slowdown and
// mistakes, with the weights in opt.
func ForestStudy(d learner.Data, k int, seed uint64, opt learner.Options) hpo.ForestStudy {
	folds := learner.FoldsOf(d.Measurements, k, seed)
	return hpo.ForestStudy{
		Default:  studiedParams(opt.Forest),
		Criteria: studiedCriteria(opt.Scaling),
		Folds:    slices.Max(folds) + 1,
		Score: func(_ context.Context, p hpo.ForestParams, fold int) (float64, error) {
			with, err := WithParams(opt, p)
			if err != nil {
				return 0, err
			}
			validated, err := learner.ValidateFold(d, folds, fold, with)
			if err != nil {
				return 0, err
			}
			sum, err := metrics.Average(validated.Slowdowns, validated.MetricsOptions(opt))
			if errors.Is(err, metrics.ErrEmpty) {
				return 1, nil // no loss: the fold has no point with a choice and a weight
			}
			return opt.Allowed.Price(sum), err
		},
	}
}

// studiedParams returns the configured hyperparameters. Values outside the ranges of a study are replaced
// by the nearest value inside.
func studiedParams(f forest.Options) hpo.ForestParams {
	p := ParamsOf(f)
	low, high := hpo.ForestRange()
	p.Trees = min(max(p.Trees, low.Trees), high.Trees)
	p.MinSplit = min(max(p.MinSplit, low.MinSplit), high.MinSplit)
	p.MinLeaf = min(max(p.MinLeaf, low.MinLeaf), high.MinLeaf)
	if p.MaxDepth != 0 {
		p.MaxDepth = min(max(p.MaxDepth, low.MaxDepth), high.MaxDepth)
	}
	return p
}

// ParamsOf returns the hyperparameters of forests that a study varies.
func ParamsOf(f forest.Options) hpo.ForestParams {
	return hpo.ForestParams{
		Trees: f.Trees, Criterion: f.Criterion.String(), MaxDepth: f.MaxDepth, MinSplit: f.MinSplit, MinLeaf: f.MinLeaf,
	}
}

// studiedCriteria returns the split criteria that a study tries. It leaves out poisson for standardised
// targets, because these can be negative.
func studiedCriteria(scaling preprocess.Scaling) []string {
	return slices.DeleteFunc(hpo.Criteria(), func(c string) bool {
		return scaling == preprocess.Standard && c == forest.Poisson.String()
	})
}

// studyOf returns the study whose trials are in the log.
func studyOf(past *journal.ProblemState) (Study, error) {
	var s Study
	if past == nil {
		return s, nil
	}
	for i, line := range past.Study {
		var t hpo.TrialRecord
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		err := d.Decode(&t)
		if err == nil {
			err = t.Check(i)
		}
		if err != nil {
			return s, fmt.Errorf("%w: hyperparameter trial: %w", ErrLog, err)
		}
		s.Trials = append(s.Trials, t)
	}
	return s, nil
}

// Best returns the complete trial with the lowest value, and false if there is none.
func (s Study) Best() (hpo.TrialRecord, bool) {
	at := -1
	for i, t := range s.Trials {
		if t.State == hpo.Complete && (at < 0 || *t.Value < *s.Trials[at].Value) {
			at = i
		}
	}
	if at < 0 {
		return hpo.TrialRecord{}, false
	}
	return s.Trials[at], true
}

// final returns the options of the final model. They are those of the study's best trial or, without a
// study, the configured ones.
func (s Spec) final(study Study) (learner.Options, error) {
	t, ok := study.Best()
	if !ok || t.Number == 0 {
		return s.Learner, nil
	}
	return WithParams(s.Learner, t.Params)
}

// WithParams returns the options of a learner with the hyperparameters p.
func WithParams(opt learner.Options, p hpo.ForestParams) (learner.Options, error) {
	criterion, err := forest.ParseCriterion(p.Criterion)
	opt.Forest.Trees, opt.Forest.Criterion, opt.Forest.MaxDepth = p.Trees, criterion, p.MaxDepth
	opt.Forest.MinSplit, opt.Forest.MinLeaf = p.MinSplit, p.MinLeaf
	return opt, err
}
