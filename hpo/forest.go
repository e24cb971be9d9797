package hpo

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// Criteria returns the split criteria that a study can choose from. Their names are those of scikit-learn.
func Criteria() []string {
	return []string{"squared_error", "absolute_error", "friedman_mse", "poisson"}
}

// ForestParams are those hyperparameters of a random forest that a study varies.
type ForestParams struct {
	Trees     int    `json:"trees"`     // 20 to 300
	Criterion string `json:"criterion"` // one of Criteria
	MaxDepth  int    `json:"max_depth"` // 2 to 32, or 0: unlimited
	MinSplit  int    `json:"min_split"` // smallest number of rows of a node that may be split, 2 to 16
	MinLeaf   int    `json:"min_leaf"`  // smallest number of rows of a leaf, 1 to 8
}

// ForestStudy describes what a study optimises, and where it begins.
type ForestStudy struct {
	Default  ForestParams // hyperparameters of the first trial; those outside the ranges are replaced by the nearest inside
	Criteria []string     // split criteria to choose from, one or more of Criteria; Default has one of them
	Folds    int          // number of folds of the cross-validation; ≥ 1
	// Score returns the score of a forest on the given fold, 0 ≤ fold < Folds. A lower score is better.
	Score func(ctx context.Context, p ForestParams, fold int) (float64, error)
}

// Forest searches for the hyperparameters with the lowest mean score over the folds. It returns the records of
// all finished trials by number, including earlier ones, even if it also returns an error.
//
// Trial 0 uses study.Default. Unless that trial fails, the best trial is at least as good as the default on
// these folds. A trial fails when Score returns an error, panics or returns a value that is not finite. The
// trials depend only on the seed and on Score.
//
// Errors match ctx.Err() or the error of spec.OnTrial.
func Forest(ctx context.Context, spec Spec, study ForestStudy) ([]TrialRecord, error) {
	return search{first: study.point(study.Default.nearest()), objective: study.score}.run(ctx, spec)
}

// Best returns the first complete trial with the lowest value, and false if there is none.
func Best(trials []TrialRecord) (best TrialRecord, ok bool) {
	for _, t := range trials {
		if t.State == Complete && (!ok || *t.Value < *best.Value) {
			best, ok = t, true
		}
	}
	return best, ok
}

// nearest returns hyperparameters within the ranges of a study: it replaces each value outside by the nearest
// value inside.
func (p ForestParams) nearest() ForestParams {
	p.Trees = min(max(p.Trees, minTrees), maxTrees)
	p.MinSplit = min(max(p.MinSplit, minSplit), maxSplit)
	p.MinLeaf = min(max(p.MinLeaf, minLeaf), maxLeaf)
	if p.MaxDepth != 0 {
		p.MaxDepth = min(max(p.MaxDepth, minDepth), maxDepth)
	}
	return p
}

func (p ForestParams) valid() bool {
	return p == p.nearest() && slices.Contains(Criteria(), p.Criterion)
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

// criterionScale returns the scale that maps a coordinate between 0 and 1 to an index into s.Criteria.
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
	depth := cmp.Or(p.MaxDepth, (maxDepth+2*maxDepth)/2)
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
