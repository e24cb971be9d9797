package hpo

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
)

// TestBounds asks 400 times, at random and from the estimators, and wants every
// value of a grid, both ends among them, and nothing else.
func TestBounds(t *testing.T) {
	ask := func(f func(*Trial) (float64, error)) func(context.Context, *Trial) (float64, error) {
		return func(_ context.Context, t *Trial) (float64, error) { return f(t) }
	}
	whole := func(v int, err error) (float64, error) { return float64(v), err }
	tests := []struct {
		name string
		ask  Objective
		want []float64 // nil: any number in [0.5, 8]
	}{
		{name: "int", want: []float64{1, 2, 3}, ask: ask(func(t *Trial) (float64, error) { return whole(t.Int("p", 1, 3)) })},
		{name: "negative int", want: []float64{-2, -1, 0}, ask: ask(func(t *Trial) (float64, error) { return whole(t.Int("p", -2, 0)) })},
		{name: "int of one value", want: []float64{7}, ask: ask(func(t *Trial) (float64, error) { return whole(t.Int("p", 7, 7)) })},
		{name: "log int", want: []float64{1, 2, 3, 4}, ask: ask(func(t *Trial) (float64, error) { return whole(t.LogInt("p", 1, 4)) })},
		{name: "log int of one value", want: []float64{9}, ask: ask(func(t *Trial) (float64, error) { return whole(t.LogInt("p", 9, 9)) })},
		{name: "step int", want: []float64{2, 5, 8}, ask: ask(func(t *Trial) (float64, error) { return whole(t.stepInt("p", 2, 8, 3)) })},
		{name: "step int, end off the grid", want: []float64{2, 5}, ask: ask(func(t *Trial) (float64, error) { return whole(t.stepInt("p", 2, 7, 3)) })},
		{name: "step float", want: []float64{0.5, 0.75, 1}, ask: ask(func(t *Trial) (float64, error) { return t.stepFloat("p", 0.5, 1, 0.25) })},
		{name: "float", ask: ask(func(t *Trial) (float64, error) { return t.float("p", 0.5, 8) })},
		{name: "float of one value", want: []float64{3}, ask: ask(func(t *Trial) (float64, error) { return t.float("p", 3, 3) })},
		{name: "log float", ask: ask(func(t *Trial) (float64, error) { return t.logFloat("p", 0.5, 8) })},
		{name: "choice", want: []float64{0, 1, 2}, ask: ask(func(t *Trial) (float64, error) {
			c, err := t.Choice("p", "a", "b", "c")
			return float64(slices.Index([]string{"a", "b", "c"}, c)), err
		})},
		{name: "one choice", want: []float64{0}, ask: ask(func(t *Trial) (float64, error) {
			_, err := t.Choice("p", "a")
			return 0, err
		})},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			seen := map[float64]bool{}
			for seed := range uint64(10) {
				r, err := Run(t.Context(), Spec{Trials: 40, Seed: seed}, tc.ask)
				if err != nil {
					t.Fatal(err)
				}
				for _, trial := range r.Trials {
					seen[*trial.Value] = true
				}
			}
			if tc.want == nil {
				for v := range seen {
					if v < 0.5 || v > 8 {
						t.Errorf("suggested %g, outside [0.5, 8]", v)
					}
				}
				return
			}
			for _, v := range tc.want {
				if !seen[v] {
					t.Errorf("never suggested %g", v)
				}
				delete(seen, v)
			}
			if len(seen) > 0 {
				t.Errorf("suggested %v, wanted %v only", seen, tc.want)
			}
		})
	}
}

func TestBadRange(t *testing.T) {
	tests := []struct {
		name string
		ask  func(*Trial) error
	}{
		{name: "empty float", ask: func(t *Trial) error { _, err := t.float("p", 1, 0); return err }},
		{name: "NaN", ask: func(t *Trial) error { _, err := t.float("p", math.NaN(), 0); return err }},
		{name: "infinite", ask: func(t *Trial) error { _, err := t.float("p", 0, math.Inf(1)); return err }},
		{name: "too wide for a float64", ask: func(t *Trial) error {
			_, err := t.float("p", -math.MaxFloat64, math.MaxFloat64)
			return err
		}},
		{name: "log of 0", ask: func(t *Trial) error { _, err := t.logFloat("p", 0, 1); return err }},
		{name: "log int of 0", ask: func(t *Trial) error { _, err := t.LogInt("p", 0, 4); return err }},
		{name: "empty int", ask: func(t *Trial) error { _, err := t.Int("p", 3, 2); return err }},
		{name: "negative step", ask: func(t *Trial) error { _, err := t.stepFloat("p", 1, 2, -1); return err }},
		{name: "NaN step", ask: func(t *Trial) error { _, err := t.stepFloat("p", 1, 2, math.NaN()); return err }},
		{name: "no choices", ask: func(t *Trial) error { _, err := t.Choice("p"); return err }},
		{name: "empty choice", ask: func(t *Trial) error { _, err := t.Choice("p", ""); return err }},
		{name: "repeated choice", ask: func(t *Trial) error { _, err := t.Choice("p", "a", "a"); return err }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var got error
			_, err := Run(t.Context(), Spec{Trials: 1}, func(_ context.Context, t *Trial) (float64, error) {
				got = tc.ask(t)
				return 0, got
			})
			if !errors.Is(got, ErrRange) || !errors.Is(err, ErrNoneComplete) {
				t.Errorf("suggestion error = %v, Run error = %v", got, err)
			}
		})
	}
}
