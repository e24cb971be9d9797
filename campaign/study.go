package campaign

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"tutti/hpo"
	"tutti/journal"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

// study compares forests with different hyperparameters, and the best one with the Gaussian process if
// Spec.Auto is set. The first trial has the configured hyperparameters, so the best trial is never worse than
// these.
func (r *run) study(ctx context.Context) (hpo.Study, error) {
	s, err := studyOf(r.past)
	trials := r.spec.studyTrials()
	if err != nil || trials == 0 || r.result.Ledger.PointsMeasured() < 2 {
		return s, err
	}
	switch {
	case len(s.Trials) >= trials:
	case trials == 1 && r.spec.Auto:
		r.report(PhaseCompare)
	default:
		r.report(PhaseStudy)
	}
	data := r.models.Data()
	_, err = hpo.Forest(ctx, hpo.Spec{
		Trials:  trials,
		Seed:    r.spec.Seed,
		Earlier: slices.Clone(s.Trials),
		OnTrial: func(t hpo.TrialRecord) error {
			s.Trials = append(s.Trials, t)
			return r.append(journal.Record{Kind: journal.KindHPO, HPO: &t})
		},
	}, ForestStudy(data, r.spec.Folds, r.spec.Seed, r.spec.Learner))
	if _, ok := hpo.Best(s.Trials); err == nil && !ok {
		r.warn("hyperparameter study: no trial of %d is complete; the configured model stays", len(s.Trials))
		return s, nil
	}
	if err == nil && r.spec.Auto && (s.Comparison == nil || s.Comparison.Trials != len(s.Trials)) {
		s.Comparison, err = r.compare(data, s)
	}
	return s, err
}

// studyTrials returns how many random forests with different hyperparameters a campaign compares, 0 without a study.
func (s Spec) studyTrials() int {
	switch {
	case s.Auto:
		return max(1, s.HPO)
	case s.Model() == learner.Forest:
		return s.HPO
	}
	return 0
}

// compare compares the Gaussian process with the best forest of a study and records the result. Both predict the
// same points, which are left out of their training. It returns nil if there is no forest, or if the compared
// points have no weight.
//
// The compared points are points that the campaign chose to measure. At other points a forest may be far worse, in
// particular if it lacks the measurements of earlier campaigns, which only the Gaussian process uses.
// StopRule.Accepts therefore evaluates the forest's selection at all points.
func (r *run) compare(d learner.Data, s hpo.Study) (*hpo.Comparison, error) {
	best, ok := hpo.Best(s.Trials)
	if !ok {
		return nil, nil
	}
	gaussian := r.spec.Learner
	forests, err := WithParams(gaussian, best.Params)
	if err != nil {
		return nil, err
	}
	gaussian.Model, forests.Model = learner.GaussianProcess, learner.Forest
	byGaussian, err := learner.CrossValidateMeasured(d, r.spec.Folds, r.spec.Seed, gaussian)
	if err != nil {
		return nil, err
	}
	byForest, err := learner.CrossValidateMeasured(d, r.spec.Folds, r.spec.Seed, forests)
	if err != nil {
		return nil, err
	}
	c := compareLosses(gaussian.Allowed, byGaussian.Slowdowns, byForest.Slowdowns, byGaussian.MetricsOptions(gaussian).Weights)
	if c == nil {
		return nil, nil
	}
	c.Trials = len(s.Trials)
	if c.Significant() {
		models, err := learner.Fit(d, forests)
		if err != nil {
			return nil, err
		}
		if c.Wins, err = r.rule.Accepts(models); err != nil {
			return nil, err
		}
	}
	return c, r.append(journal.Record{Kind: journal.KindComparison, Comparison: c})
}

// compareLosses compares the slowdowns of two models, limited to maxHeldOut, at the same points. It returns nil if the
// total weight is zero.
func compareLosses(allowed metrics.Allowed, gaussian, forest, weights []float64) *hpo.Comparison {
	losses := func(slowdowns []float64) []float64 {
		out := make([]float64, len(slowdowns))
		for i, s := range slowdowns {
			out[i] = allowed.WithDefaults().Slowdown * allowed.LossOf(min(s, maxHeldOut)-1)
		}
		return out
	}
	total := floats.Sum(weights)
	if total == 0 {
		return nil
	}
	byGaussian, byForest := losses(gaussian), losses(forest)
	c := &hpo.Comparison{GP: stat.Mean(byGaussian, weights), Forest: stat.Mean(byForest, weights)}
	floats.Sub(byGaussian, byForest)
	for i, difference := range byGaussian {
		c.Error += math.Pow(weights[i]*(difference-c.GP+c.Forest)/total, 2)
	}
	c.Error = math.Sqrt(c.Error)
	return c
}

// ForestStudy returns a hyperparameter study of the learner's forests with k folds. The measurements must
// have at least two points. The score of a fold is a loss, computed from the average slowdown and the share
// of mistakes with the weights in `opt`.
func ForestStudy(d learner.Data, k int, seed uint64, opt learner.Options) hpo.ForestStudy {
	folds := learner.FoldsOf(d.Measurements, k, seed)
	opt.Model = learner.Forest
	return hpo.ForestStudy{
		Default:  ParamsOf(opt.Forest),
		Criteria: studiedCriteria(opt.Scaling),
		Folds:    slices.Max(folds) + 1,
		Score: func(_ context.Context, p hpo.ForestParams, fold int) (float64, error) {
			with, err := WithParams(opt, p)
			if err != nil {
				return 0, err
			}
			return validationLoss(d, folds, fold, with)
		},
	}
}

// validationLoss returns the loss of the choices at the points of one fold. The model is trained on the
// other folds. At a point with unmeasured algorithms, it chooses among the measured ones.
func validationLoss(d learner.Data, folds []int, fold int, opt learner.Options) (float64, error) {
	validated, err := learner.ValidateFold(d, folds, fold, opt, nil)
	if err != nil {
		return 0, err
	}
	sum, err := metrics.Average(validated.Slowdowns, validated.MetricsOptions(opt))
	if errors.Is(err, metrics.ErrEmpty) {
		return 1, nil // 1 means no loss: the fold has no point with a choice and a weight
	}
	return opt.Allowed.Price(sum), err
}

// ParamsOf returns those hyperparameters of a forest that a study varies.
func ParamsOf(f forest.Options) hpo.ForestParams {
	return hpo.ForestParams{
		Trees: f.Trees, Criterion: f.Criterion.String(), MaxDepth: f.MaxDepth, MinSplit: f.MinSplit, MinLeaf: f.MinLeaf,
	}
}

// studiedCriteria returns the split criteria that a study tries: not poisson for targets that can be negative.
func studiedCriteria(scaling preprocess.Scaling) []string {
	return slices.DeleteFunc(hpo.Criteria(), func(c string) bool {
		return scaling == preprocess.Standard && c == forest.Poisson.String()
	})
}

// studyOf returns the hyperparameter study that the log has for a problem.
func studyOf(past *journal.ProblemState) (hpo.Study, error) {
	for i, t := range past.Study.Trials {
		if err := t.Check(i); err != nil {
			return hpo.Study{}, fmt.Errorf("%w: hyperparameter trial: %w", ErrLog, err)
		}
	}
	return past.Study, nil
}

// final returns the options of the model with the lowest loss in a study, which becomes the final model.
// Without a study they are the configured options.
func (s Spec) final(study hpo.Study) (learner.Options, error) {
	t, ok := hpo.Best(study.Trials)
	opt := s.Learner
	if !ok || s.Auto && (study.Comparison == nil || !study.Comparison.Wins) {
		return opt, nil
	}
	opt.Model = learner.Forest
	if t.Number == 0 {
		return opt, nil
	}
	return WithParams(opt, t.Params)
}

// WithParams returns a copy of the learner's options in which forests have the hyperparameters p.
func WithParams(opt learner.Options, p hpo.ForestParams) (learner.Options, error) {
	criterion, err := forest.ParseCriterion(p.Criterion)
	opt.Forest.Trees, opt.Forest.Criterion, opt.Forest.MaxDepth = p.Trees, criterion, p.MaxDepth
	opt.Forest.MinSplit, opt.Forest.MinLeaf = p.MinSplit, p.MinLeaf
	return opt, err
}
