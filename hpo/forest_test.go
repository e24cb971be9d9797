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

func TestForest(t *testing.T) {
	study := ForestStudy{Default: usual, Folds: 5, Score: slowdown}
	for seed := range uint64(5) {
		r := testutil.Must(Forest(t.Context(), Spec{Trials: 100, Seed: seed}, study))(t)
		first := r.Trials[0]
		if first.Params != usual || first.State != Complete {
			t.Errorf("the first trial is %+v, %s; want the default, complete", first.Params, first.State)
		}
		if *r.Best.Value > *first.Value {
			t.Errorf("best %g with %+v, default %g", *r.Best.Value, r.Best.Params, *first.Value)
		}
		if failed(r) > 0 {
			t.Errorf("%d trials failed", failed(r))
		}
		// The default has the mean score 1.123. The mean score at the optimum is 1.02.
		if *r.Best.Value > 1.06 {
			t.Errorf("seed %d: best %g", seed, *r.Best.Value)
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
	r, err := Forest(t.Context(), Spec{Trials: 60, Seed: 2}, study)
	if err != nil || failed(r) > 0 {
		t.Fatalf("%d failed, error %v", failed(r), err)
	}
	if slices.Sort(seen); !slices.Equal(seen, []string{"poisson", "squared_error"}) {
		t.Errorf("criteria %q", seen)
	}
	if got := r.Trials[0].Params; got != study.Default {
		t.Errorf("first trial %+v, want %+v", got, study.Default)
	}
}

func TestForestErrors(t *testing.T) {
	with := func(change func(*ForestStudy)) ForestStudy {
		s := ForestStudy{Default: usual, Folds: 2, Score: slowdown}
		change(&s)
		return s
	}
	tests := []struct {
		name  string
		study ForestStudy
	}{
		{name: "no folds", study: with(func(s *ForestStudy) { s.Folds = 0 })},
		{name: "no score", study: with(func(s *ForestStudy) { s.Score = nil })},
		{name: "no criteria", study: with(func(s *ForestStudy) { s.Criteria = []string{} })},
		{name: "unknown criterion", study: with(func(s *ForestStudy) { s.Criteria = []string{"squared_error", "gini"} })},
		{name: "repeated criterion", study: with(func(s *ForestStudy) { s.Criteria = []string{"squared_error", "squared_error"} })},
		{name: "default's criterion", study: with(func(s *ForestStudy) { s.Criteria = []string{"poisson"} })},
		{name: "default's trees", study: with(func(s *ForestStudy) { s.Default.Trees = 19 })},
		{name: "default's depth", study: with(func(s *ForestStudy) { s.Default.MaxDepth = 1 })},
		{name: "default's split", study: with(func(s *ForestStudy) { s.Default.MinSplit = 17 })},
		{name: "default's leaf", study: with(func(s *ForestStudy) { s.Default.MinLeaf = 0 })},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Forest(t.Context(), Spec{Trials: 1}, tc.study); !errors.Is(err, ErrSpec) {
				t.Errorf("error = %v, want ErrSpec", err)
			}
		})
	}
	broken := with(func(s *ForestStudy) {
		s.Score = func(context.Context, ForestParams, int) (float64, error) { return 0, errors.New("no rows") }
	})
	r, err := Forest(t.Context(), Spec{Trials: 2}, broken)
	if !errors.Is(err, ErrNoneComplete) || r.Trials[1].Error != "fold 0: no rows" {
		t.Errorf("error = %v, trials %+v", err, r.Trials)
	}
}
