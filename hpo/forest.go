package hpo

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Criteria returns the split criteria that a study can choose from. Their names are those of scikit-learn.
func Criteria() []string {
	return []string{"squared_error", "absolute_error", "friedman_mse", "poisson"}
}

// ForestRange returns the lowest and the highest value of each numeric hyperparameter that a study tries. A
// study also tries depth 0, which means unlimited.
func ForestRange() (low, high ForestParams) {
	return ForestParams{Trees: minTrees, MaxDepth: minDepth, MinSplit: minSplit, MinLeaf: minLeaf},
		ForestParams{Trees: maxTrees, MaxDepth: maxDepth, MinSplit: maxSplit, MinLeaf: maxLeaf}
}

// ForestParams are the hyperparameters of a random forest.
type ForestParams struct {
	Trees     int    `json:"trees"`     // 20 to 300
	Criterion string `json:"criterion"` // one of Criteria
	MaxDepth  int    `json:"max_depth"` // 2 to 32, or 0: unlimited
	MinSplit  int    `json:"min_split"` // smallest number of rows of a node that may be split, 2 to 16
	MinLeaf   int    `json:"min_leaf"`  // smallest number of rows of a leaf, 1 to 8
}

// ForestStudy describes what a study optimises, and where it begins.
type ForestStudy struct {
	Default  ForestParams // hyperparameters of the first trial
	Criteria []string     // split criteria to choose from; nil means all of Criteria
	Folds    int          // number of folds of the cross-validation; ≥ 1
	// Score returns the score of a forest on the given fold, 0 ≤ fold < Folds. A lower score is better.
	Score func(ctx context.Context, p ForestParams, fold int) (float64, error)
}

// Forest searches for the hyperparameters with the lowest mean score over the folds.
//
// Trial 0 uses study.Default. Unless that trial fails, the result is at least as good as the default on
// these folds. A trial fails when Score returns an error, panics or returns a value that is not finite. The
// result depends only on the seed and on Score.
//
// Errors match ErrSpec, ErrRecord, ErrNoneComplete, ctx.Err() or the error of spec.OnTrial. In the last
// three cases the Result contains the finished trials.
func Forest(ctx context.Context, spec Spec, study ForestStudy) (Result, error) {
	if study.Criteria == nil {
		study.Criteria = Criteria()
	}
	if err := study.check(); err != nil {
		return Result{}, err
	}
	trials, err := search{first: study.point(study.Default), objective: study.score}.run(ctx, spec)
	result := Result{Trials: trials}
	for _, t := range trials {
		if t.State == Complete && (result.Best.Value == nil || *t.Value < *result.Best.Value) {
			result.Best = t
		}
	}
	if err == nil && result.Best.Value == nil {
		err = fmt.Errorf("%w of %d", ErrNoneComplete, len(trials))
	}
	return result, err
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
	if !s.Default.valid() || !slices.Contains(s.Criteria, s.Default.Criterion) {
		return fmt.Errorf("%w: the default %+v is outside the ranges", ErrSpec, s.Default)
	}
	return nil
}

func (p ForestParams) valid() bool {
	in := func(v, low, high int) bool { return low <= v && v <= high }
	return in(p.Trees, minTrees, maxTrees) && slices.Contains(Criteria(), p.Criterion) &&
		(p.MaxDepth == 0 || in(p.MaxDepth, minDepth, maxDepth)) &&
		in(p.MinSplit, minSplit, maxSplit) && in(p.MinLeaf, minLeaf, maxLeaf)
}

// score returns the hyperparameters at the point x of the unit cube, and their mean score over the folds.
func (s ForestStudy) score(ctx context.Context, x []float64) (ForestParams, float64, error) {
	p := s.params(x)
	var sum float64
	for fold := range s.Folds {
		if err := ctx.Err(); err != nil {
			return p, 0, err
		}
		score, err := s.Score(ctx, p, fold)
		if err != nil {
			return p, 0, fmt.Errorf("fold %d: %w", fold, err)
		}
		sum += score
	}
	return p, sum / float64(s.Folds), nil
}

// The scales that map coordinates to hyperparameters. A depth above maxDepth means unlimited depth.
var (
	treeScale  = scale{low: minTrees, high: maxTrees, log: true}
	depthScale = scale{low: minDepth, high: 2 * maxDepth, log: true}
	splitScale = scale{low: minSplit, high: maxSplit}
	leafScale  = scale{low: minLeaf, high: maxLeaf}
)

// criterionScale returns the scale that maps a coordinate to an index into s.Criteria.
func (s ForestStudy) criterionScale() scale { return scale{low: 0, high: len(s.Criteria) - 1} }

// params converts the point x of the unit cube to hyperparameters.
func (s ForestStudy) params(x []float64) ForestParams {
	next := func(of scale) int {
		v := of.value(x[0])
		x = x[1:]
		return v
	}
	p := ForestParams{
		Trees:     next(treeScale),
		Criterion: s.Criteria[next(s.criterionScale())],
		MaxDepth:  next(depthScale),
		MinSplit:  next(splitScale),
		MinLeaf:   next(leafScale),
	}
	if p.MaxDepth > maxDepth {
		p.MaxDepth = 0
	}
	return p
}

func (s ForestStudy) point(p ForestParams) []float64 {
	depth := p.MaxDepth
	if depth == 0 {
		depth = (maxDepth + 2*maxDepth) / 2
	}
	return []float64{
		treeScale.coordinate(p.Trees),
		s.criterionScale().coordinate(slices.Index(s.Criteria, p.Criterion)),
		depthScale.coordinate(depth),
		splitScale.coordinate(p.MinSplit),
		leafScale.coordinate(p.MinLeaf),
	}
}

// scale maps a coordinate between 0 and 1 to an integer from low to high, both included. On a linear scale,
// each integer has an interval of the same width. On a logarithmic scale, larger integers have shorter
// intervals.
type scale struct {
	low, high int
	log       bool
}

func (s scale) value(x float64) int {
	from, to := s.ends()
	v := from + x*(to-from)
	if s.log {
		v = math.Exp(v)
	}
	return min(max(int(math.Round(v)), s.low), s.high)
}

func (s scale) coordinate(v int) float64 {
	from, to := s.ends()
	x := float64(v)
	if s.log {
		x = math.Log(x)
	}
	return (x - from) / (to - from)
}

// ends returns low - 1/2 and high + 1/2. Coordinates are mapped to the range between these numbers. For a
// logarithmic scale it returns their logarithms.
func (s scale) ends() (from, to float64) {
	from, to = float64(2*s.low-1)/2, float64(2*s.high+1)/2
	if s.log {
		return math.Log(from), math.Log(to)
	}
	return from, to
}
