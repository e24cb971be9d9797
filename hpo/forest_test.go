package hpo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"tutti/internal/testutil"
)

var usual = ForestParams{Trees: 100, Criterion: "squared_error", MinSplit: 2, MinLeaf: 1}

// slowdown is a synthetic score. Its minimum is about 1 for 200 trees, depth 12, squared_error and leaves
// of 2 rows. The score grows by 0.01 per fold.
func slowdown(_ context.Context, p ForestParams, fold int) (float64, error) {
	v := 1 + math.Abs(math.Log2(float64(p.Trees)/200))/20 + math.Abs(float64(p.MinLeaf-2))/30 + float64(fold)/100
	if p.MaxDepth == 0 {
		v += 0.02
	} else {
		v += math.Abs(float64(p.MaxDepth-12)) / 100
	}
	if p.Criterion != "squared_error" {
		v += 0.1
	}
	return v, nil
}

// study returns a study that chooses among all split criteria and begins with the usual hyperparameters.
func study(folds int, score func(context.Context, ForestParams, int) (float64, error)) ForestStudy {
	return ForestStudy{Default: usual, Criteria: Criteria(), Folds: folds, Score: score}
}

func bestOf(t *testing.T, trials []TrialRecord) TrialRecord {
	t.Helper()
	best, ok := Best(trials)
	if !ok {
		t.Fatalf("none of %d trials is complete", len(trials))
	}
	return best
}

func TestForest(t *testing.T) {
	for seed := range uint64(5) {
		trials := testutil.Must(Forest(t.Context(), Spec{Trials: 100, Seed: seed}, study(5, slowdown)))(t)
		first, best := trials[0], bestOf(t, trials)
		if first.Params != usual || first.State != Complete {
			t.Errorf("the first trial is %+v, %s; want the default, complete", first.Params, first.State)
		}
		if *best.Value > *first.Value {
			t.Errorf("best %g with %+v, default %g", *best.Value, best.Params, *first.Value)
		}
		if n := failed(trials); n > 0 {
			t.Errorf("%d trials failed", n)
		}
		// The default has the mean score 1.123. The mean score at the optimum is 1.02.
		if *best.Value > 1.06 {
			t.Errorf("seed %d: best %g", seed, *best.Value)
		}
	}
}

func TestForestSpace(t *testing.T) {
	var seen []string
	study := ForestStudy{
		Default: ForestParams{Trees: 20, Criterion: "poisson", MaxDepth: 32, MinSplit: 16, MinLeaf: 8},
		Folds:   1, Criteria: []string{"squared_error", "poisson"},
		Score: func(ctx context.Context, p ForestParams, fold int) (float64, error) {
			if !slices.Contains(seen, p.Criterion) {
				seen = append(seen, p.Criterion)
			}
			if p.Trees < 20 || p.Trees > 300 || p.MaxDepth == 1 || p.MaxDepth < 0 || p.MaxDepth > 32 ||
				p.MinSplit < 2 || p.MinSplit > 16 || p.MinLeaf < 1 || p.MinLeaf > 8 {
				return 0, fmt.Errorf("outside: %+v", p)
			}
			return slowdown(ctx, p, fold)
		},
	}
	trials, err := Forest(t.Context(), Spec{Trials: 60, Seed: 2}, study)
	if err != nil || failed(trials) > 0 {
		t.Fatalf("%d failed, error %v", failed(trials), err)
	}
	if slices.Sort(seen); !slices.Equal(seen, []string{"poisson", "squared_error"}) {
		t.Errorf("criteria %q", seen)
	}
	if got := trials[0].Params; got != study.Default {
		t.Errorf("first trial %+v, want %+v", got, study.Default)
	}
}

// TestDefaultOutside checks that trial 0 moves default values outside the ranges to the nearest inside.
func TestDefaultOutside(t *testing.T) {
	s := study(1, slowdown)
	s.Default = ForestParams{Trees: 19, Criterion: "poisson", MaxDepth: 33, MinSplit: 17, MinLeaf: 0}
	trials := testutil.Must(Forest(t.Context(), Spec{Trials: 1}, s))(t)
	if got, want := trials[0].Params, (ForestParams{Trees: 20, Criterion: "poisson", MaxDepth: 32, MinSplit: 16, MinLeaf: 1}); got != want {
		t.Errorf("first trial %+v, want %+v", got, want)
	}
}

func TestNoneComplete(t *testing.T) {
	broken := study(2, func(context.Context, ForestParams, int) (float64, error) { return 0, errors.New("no rows") })
	trials, err := Forest(t.Context(), Spec{Trials: 2}, broken)
	if best, ok := Best(trials); err != nil || ok || trials[1].Error != "fold 0: no rows" {
		t.Errorf("error = %v, best %+v, trials %+v", err, best, trials)
	}
}
