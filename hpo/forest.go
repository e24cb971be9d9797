package hpo

import (
	"context"
	"fmt"
	"slices"
)

// The range of each hyper-parameter, both ends included; each holds scikit-learn's
// default (100 trees, depth unlimited, split at 2 rows, leaves of 1).
const (
	minTrees, maxTrees = 20, 300
	minDepth, maxDepth = 2, 32
	minSplit, maxSplit = 2, 16
	minLeaf, maxLeaf   = 1, 8
)

// Criteria returns the split criteria a forest study knows, named as scikit-learn names them.
func Criteria() []string {
	return []string{"squared_error", "absolute_error", "friedman_mse", "poisson"}
}

// ForestRange returns the least and the greatest value of each number that a
// study tries. A depth of 0 stands for no limit and is allowed beside them.
func ForestRange() (low, high ForestParams) {
	return ForestParams{Trees: minTrees, MaxDepth: minDepth, MinSplit: minSplit, MinLeaf: minLeaf},
		ForestParams{Trees: maxTrees, MaxDepth: maxDepth, MinSplit: maxSplit, MinLeaf: maxLeaf}
}

// ForestParams are the hyper-parameters of a random forest.
type ForestParams struct {
	Trees     int    `json:"trees"`     // 20 to 300
	Criterion string `json:"criterion"` // one of Criteria
	MaxDepth  int    `json:"max_depth"` // 2 to 32, or 0: unlimited
	MinSplit  int    `json:"min_split"` // rows a node needs to be split, 2 to 16
	MinLeaf   int    `json:"min_leaf"`  // rows of a leaf, 1 to 8
}

// ForestStudy describes a study of a random forest's hyper-parameters.
type ForestStudy struct {
	Default  ForestParams // the first trial
	Criteria []string     // choices of Criterion; nil: all of Criteria
	Folds    int          // of the cross-validation; ≥ 1
	// Score returns the score of the forest on fold 0 ≤ fold < Folds.
	Score func(ctx context.Context, p ForestParams, fold int) (float64, error)
}

// Forest looks for the hyper-parameters with the least mean score over the folds; ForestOf
// reads them from a trial.
//
// Trial 0 is study.Default, and no pruner cuts the first trial: unless its Score
// fails, the result is at least as good as the default on these folds. After
// each fold but the last the mean so far is reported, at step fold+1, so that
// spec.Pruner may cut the trial. spec.Enqueued must be empty.
//
// Errors are those of Run; ErrSpec also covers study.
func Forest(ctx context.Context, spec Spec, study ForestStudy) (Result, error) {
	if study.Criteria == nil {
		study.Criteria = Criteria()
	}
	if err := study.check(); err != nil {
		return Result{}, err
	}
	if len(spec.Enqueued) > 0 {
		return Result{}, fmt.Errorf("%w: a forest study enqueues its default itself", ErrSpec)
	}
	spec.Enqueued = [][]Param{study.Default.params()}
	return Run(ctx, spec, study.objective)
}

// check returns an error matching ErrSpec unless the study can be run.
func (s ForestStudy) check() error {
	switch {
	case s.Folds < 1:
		return fmt.Errorf("%w: %d folds", ErrSpec, s.Folds)
	case s.Score == nil:
		return fmt.Errorf("%w: no score", ErrSpec)
	case len(s.Criteria) == 0:
		return fmt.Errorf("%w: no criteria", ErrSpec)
	}
	for i, c := range s.Criteria {
		if !slices.Contains(Criteria(), c) || slices.Contains(s.Criteria[:i], c) {
			return fmt.Errorf("%w: criterion %q is unknown or repeated", ErrSpec, c)
		}
	}
	d := s.Default
	in := func(v, low, high int) bool { return low <= v && v <= high }
	if !in(d.Trees, minTrees, maxTrees) || !slices.Contains(s.Criteria, d.Criterion) ||
		d.MaxDepth != 0 && !in(d.MaxDepth, minDepth, maxDepth) ||
		!in(d.MinSplit, minSplit, maxSplit) || !in(d.MinLeaf, minLeaf, maxLeaf) {
		return fmt.Errorf("%w: the default %+v is outside the ranges", ErrSpec, d)
	}
	return nil
}

// objective is the mean score over the folds.
func (s ForestStudy) objective(ctx context.Context, t *Trial) (float64, error) {
	p, err := s.suggest(t)
	if err != nil {
		return 0, err
	}
	var sum float64
	for fold := range s.Folds {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		score, err := s.Score(ctx, p, fold)
		if err != nil {
			return 0, fmt.Errorf("fold %d: %w", fold, err)
		}
		sum += score
		if fold == s.Folds-1 {
			break
		}
		if err := t.Report(fold+1, sum/float64(fold+1)); err != nil {
			return 0, fmt.Errorf("fold %d: %w", fold, err)
		}
	}
	return sum / float64(s.Folds), nil
}

// suggest asks for the hyper-parameters. Whether the depth is limited is a
// parameter of its own: no depth is next to unlimited.
func (s ForestStudy) suggest(t *Trial) (p ForestParams, err error) {
	if p.Trees, err = t.LogInt("trees", minTrees, maxTrees); err != nil {
		return p, err
	}
	if p.Criterion, err = t.Choice("criterion", s.Criteria...); err != nil {
		return p, err
	}
	depth, err := t.Choice("depth", "unlimited", "limited")
	if err != nil {
		return p, err
	}
	if depth == "limited" {
		if p.MaxDepth, err = t.Int("max_depth", minDepth, maxDepth); err != nil {
			return p, err
		}
	}
	if p.MinSplit, err = t.Int("min_split", minSplit, maxSplit); err != nil {
		return p, err
	}
	p.MinLeaf, err = t.Int("min_leaf", minLeaf, maxLeaf)
	return p, err
}

// params returns the parameters that make suggest return p.
func (p ForestParams) params() []Param {
	ps := []Param{
		{Name: "trees", Value: float64(p.Trees)},
		{Name: "criterion", Choice: p.Criterion},
		{Name: "depth", Choice: "unlimited"},
		{Name: "min_split", Value: float64(p.MinSplit)},
		{Name: "min_leaf", Value: float64(p.MinLeaf)},
	}
	if p.MaxDepth != 0 {
		ps[2].Choice = "limited"
		ps = append(ps, Param{Name: "max_depth", Value: float64(p.MaxDepth)})
	}
	return ps
}

// ForestOf returns the hyper-parameters of a trial of a forest study; those it
// never asked for, having failed before, are 0.
func ForestOf(r TrialRecord) ForestParams {
	number := func(name string) int {
		p, _ := r.Param(name)
		return int(p.Value)
	}
	criterion, _ := r.Param("criterion")
	return ForestParams{
		Trees: number("trees"), Criterion: criterion.Choice, MaxDepth: number("max_depth"),
		MinSplit: number("min_split"), MinLeaf: number("min_leaf"),
	}
}
