package hpo

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// The objectives of testdata/record_optuna.py.

func mixed(_ context.Context, t *Trial) (float64, error) {
	nodes, err := t.Int("nodes", 1, 64)
	if err != nil {
		return 0, err
	}
	trees, err := t.LogInt("trees", 20, 300)
	if err != nil {
		return 0, err
	}
	rate, err := t.logFloat("rate", 1e-4, 1)
	if err != nil {
		return 0, err
	}
	kind, err := t.Choice("kind", "red", "green", "blue", "grey")
	if err != nil {
		return 0, err
	}
	penalty := map[string]float64{"red": 0.3, "green": 0, "blue": 0.1, "grey": 0.2}[kind]
	return square((float64(nodes)-37)/32) + square(math.Log(float64(trees)/90)) +
		square(math.Log10(rate/0.005)/2) + penalty, nil
}

func sphere(_ context.Context, t *Trial) (float64, error) {
	var sum float64
	for i, c := range []float64{1, -2, 0.5, 3} {
		x, err := t.float("x"+string(rune('0'+i)), -5, 5)
		if err != nil {
			return 0, err
		}
		sum += square(x - c)
	}
	return sum, nil
}

func branin(_ context.Context, t *Trial) (float64, error) {
	x, err := t.float("x", -5, 10)
	if err != nil {
		return 0, err
	}
	y, err := t.float("y", 0, 15)
	if err != nil {
		return 0, err
	}
	b, c, s := 5.1/(4*math.Pi*math.Pi), 5/math.Pi, 1/(8*math.Pi)
	return square(y-b*x*x+c*x-6) + 10*(1-s)*math.Cos(x) + 10 - 0.39788735772973816, nil
}

func square(x float64) float64 { return x * x }

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// TestAgainstOptuna holds the median best value over the recorded seeds against
// Optuna's own TPE with as many trials.
func TestAgainstOptuna(t *testing.T) {
	if testing.Short() {
		t.Skip("runs dozens of studies")
	}
	text, err := os.ReadFile("testdata/optuna.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Trials                int
		Mixed, Sphere, Branin []float64
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name      string
		objective Objective
		optuna    []float64
	}{
		{name: "mixed", objective: mixed, optuna: recorded.Mixed},
		{name: "sphere", objective: sphere, optuna: recorded.Sphere},
		{name: "branin", objective: branin, optuna: recorded.Branin},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var ours []float64
			for seed := range tc.optuna {
				r, err := Run(t.Context(), Spec{Trials: recorded.Trials, Seed: uint64(seed)}, tc.objective)
				if err != nil {
					t.Fatal(err)
				}
				ours = append(ours, *r.Best.Value)
			}
			got, want := median(ours), median(tc.optuna)
			t.Logf("median best of %d studies of %d trials: %.4g, Optuna %.4g, ratio %.2f",
				len(ours), recorded.Trials, got, want, got/want)
			// Medians of 21 studies of one and the same sampler differ by such a factor.
			if got > 1.3*want {
				t.Errorf("median best %g, more than 1.3 times Optuna's %g", got, want)
			}
		})
	}
}

// BenchmarkTrial is one trial after 99 others, but for its objective.
func BenchmarkTrial(b *testing.B) {
	spec := Spec{Trials: 99}
	before, err := Run(b.Context(), spec, mixed)
	if err != nil {
		b.Fatal(err)
	}
	spec.Trials, spec.Earlier = 100, before.Trials
	for b.Loop() {
		if _, err := Run(b.Context(), spec, mixed); err != nil {
			b.Fatal(err)
		}
	}
}
