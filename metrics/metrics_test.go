package metrics_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tutti/internal/testutil"
	"tutti/metrics"
)

func TestSlowdown(t *testing.T) {
	tests := []struct {
		name         string
		chosen, best float64 // seconds
		want         float64
		wantErr      error
	}{
		{name: "oracle's own choice", chosen: 2e-6, best: 2e-6, want: 1},
		{name: "half again as slow", chosen: 3e-6, best: 2e-6, want: 1.5},
		{name: "faster than the oracle is noise, kept", chosen: 1e-6, best: 2e-6, want: 0.5},
		{name: "no time", chosen: 1e-6, best: 0, wantErr: metrics.ErrTime},
		{name: "nothing chosen", chosen: 0, best: 1e-6, wantErr: metrics.ErrTime},
		{name: "negative", chosen: -1e-6, best: 1e-6, wantErr: metrics.ErrTime},
		{name: "no number", chosen: math.NaN(), best: 1e-6, wantErr: metrics.ErrTime},
		{name: "infinite", chosen: math.Inf(1), best: 1e-6, wantErr: metrics.ErrTime},
		{name: "infinite best", chosen: 1e-6, best: math.Inf(1), wantErr: metrics.ErrTime},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := metrics.Slowdown(tc.chosen, tc.best)
			if !errors.Is(err, tc.wantErr) {
				t.Fatalf("Slowdown(%g, %g) error = %v, want %v", tc.chosen, tc.best, err, tc.wantErr)
			}
			if math.Abs(got-tc.want) > 1e-12 {
				t.Errorf("Slowdown(%g, %g) = %g, want %g", tc.chosen, tc.best, got, tc.want)
			}
		})
	}
}

func TestSummarize(t *testing.T) {
	oneTo100 := make([]float64, 100) // 1.00, 1.01 … 1.99
	for i := range oneTo100 {
		oneTo100[i] = 1 + float64(i)/100
	}
	tests := []struct {
		name    string
		in      []float64
		opt     metrics.Options
		want    metrics.Summary
		wantErr error
	}{
		{
			name: "perfect",
			in:   []float64{1, 1, 1},
			want: metrics.Summary{Points: 3, Slowdown: 1, Accuracy: 1, P95: 1, Worst: 1},
		},
		{
			name: "one of four is a mistake",
			in:   []float64{2, 1, 1.05, 1.004},
			want: metrics.Summary{Points: 4, Slowdown: 1.2635, Accuracy: 0.5, Mistakes: 0.25, P95: 2, Worst: 2},
		},
		{
			name: "noise can beat the oracle",
			in:   []float64{0.5, 1},
			want: metrics.Summary{Points: 2, Slowdown: 0.75, Accuracy: 1, P95: 1, Worst: 1},
		},
		{
			name: "thresholds are met, not passed",
			in:   []float64{1 + metrics.TieTolerance, 1.5},
			opt:  metrics.Options{MistakeThreshold: 0.5},
			want: metrics.Summary{Points: 2, Slowdown: 1.2525, Accuracy: 0.5, Mistakes: 0, P95: 1.5, Worst: 1.5},
		},
		{
			name: "95 of 100 lie at or below P95",
			in:   oneTo100,
			opt:  metrics.Options{MistakeThreshold: 0.895},
			want: metrics.Summary{Points: 100, Slowdown: 1.495, Accuracy: 0.01, Mistakes: 0.10, P95: 1.94, Worst: 1.99},
		},
		{
			name: "weights",
			in:   []float64{1, 1.2, 3, 1.4},
			opt:  metrics.Options{Weights: []float64{6, 3, 0, 1}},
			want: metrics.Summary{Points: 4, Slowdown: 1.1, Accuracy: 0.6, Mistakes: 0.4, P95: 1.4, Worst: 1.4},
		},
		{
			name: "equal weights change nothing",
			in:   oneTo100,
			opt:  metrics.Options{MistakeThreshold: 0.895, Weights: slices.Repeat([]float64{1}, 100)},
			want: metrics.Summary{Points: 100, Slowdown: 1.495, Accuracy: 0.01, Mistakes: 0.10, P95: 1.94, Worst: 1.99},
		},
		{name: "nothing weighs anything", in: []float64{1, 2}, opt: metrics.Options{Weights: []float64{0, 0}}, wantErr: metrics.ErrEmpty},
		{name: "too few weights", in: []float64{1, 2}, opt: metrics.Options{Weights: []float64{1}}, wantErr: metrics.ErrShape},
		{name: "negative weight", in: []float64{1, 2}, opt: metrics.Options{Weights: []float64{2, -1}}, wantErr: metrics.ErrShape},
		{name: "none", wantErr: metrics.ErrEmpty},
		{name: "zero", in: []float64{1, 0}, wantErr: metrics.ErrTime},
		{name: "no number", in: []float64{math.NaN()}, wantErr: metrics.ErrTime},
		{name: "infinite", in: []float64{math.Inf(1)}, wantErr: metrics.ErrTime},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			before := slices.Clone(tc.in)
			got, err := metrics.Summarize(tc.in, tc.opt)
			if !errors.Is(err, tc.wantErr) {
				t.Fatalf("Summarize(%v) error = %v, want %v", tc.in, err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("Summarize(%v) (-want +got):\n%s", tc.in, diff)
			}
			if !cmp.Equal(before, tc.in, cmpopts.EquateNaNs()) {
				t.Errorf("Summarize reordered its argument: %v", tc.in)
			}
		})
	}
}

func TestR2(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tests := []struct {
		name             string
		truth, predicted []float64
		want             float64
		fails            bool
		matches          error // nil if the error has no kind
	}{
		{name: "exact", truth: []float64{1, 2, 4}, predicted: []float64{1, 2, 4}, want: 1},
		{name: "the mean", truth: []float64{1, 2, 3}, predicted: []float64{2, 2, 2}, want: 0},
		{name: "worse than the mean", truth: []float64{1, 2, 3}, predicted: []float64{3, 2, 1}, want: -3}, // SSE 8, SST 2
		{name: "a quarter left", truth: []float64{0, 2}, predicted: []float64{0.5, 1.5}, want: 0.75},
		{name: "exact constant", truth: []float64{5, 5}, predicted: []float64{5, 5}, want: 1},
		{name: "one exact value", truth: []float64{5}, predicted: []float64{5}, want: 1},
		{name: "inexact constant", truth: []float64{5, 5}, predicted: []float64{5, 6}, fails: true},
		{name: "none", fails: true, matches: metrics.ErrEmpty},
		{name: "lengths", truth: []float64{1, 2}, predicted: []float64{1}, fails: true, matches: metrics.ErrShape},
		{name: "no number", truth: []float64{1, 2}, predicted: []float64{1, math.NaN()}, fails: true},
		{name: "infinite", truth: []float64{1, math.Inf(1)}, predicted: []float64{1, 2}, fails: true},
		{name: "squares overflow", truth: []float64{1e200, -1e200}, predicted: []float64{1, 2}, fails: true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := metrics.R2(tc.truth, tc.predicted)
			if tc.fails {
				golden(tc.name, err)
				if tc.matches != nil && !errors.Is(err, tc.matches) {
					t.Errorf("R2(%v, %v) = %g, %v, want %v", tc.truth, tc.predicted, got, err, tc.matches)
				}
				return
			}
			if err != nil || math.Abs(got-tc.want) > 1e-12 {
				t.Errorf("R2(%v, %v) = %g, %v, want %g", tc.truth, tc.predicted, got, err, tc.want)
			}
		})
	}
}

func ExampleSummarize() {
	sum, err := metrics.Summarize([]float64{1, 1, 1.05, 1.5}, metrics.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("slowdown %.4f, accuracy %.2f, mistakes %.2f\n", sum.Slowdown, sum.Accuracy, sum.Mistakes)
	// Output: slowdown 1.1375, accuracy 0.50, mistakes 0.25
}

func TestAllowed(t *testing.T) {
	tests := []struct {
		name    string
		allowed metrics.Allowed
		lost    float64
		want    float64
	}{
		{"the defaults, no mistake", metrics.Allowed{}, 0.06, 2},
		{"the defaults, a mistake", metrics.Allowed{}, 0.12, 4 + 20},
		{"at the threshold it is none", metrics.Allowed{}, 0.10, 0.10 / 0.03},
		{"a threshold of its own", metrics.Allowed{Threshold: 0.05}, 0.06, 2 + 20},
		{"more slowdown is allowed", metrics.Allowed{Slowdown: 0.06}, 0.06, 1},
		{"fewer mistakes are allowed", metrics.Allowed{Mistakes: 0.01}, 0.12, 4 + 100},
		{"criteria that never hold take the defaults", metrics.Allowed{Slowdown: -1}, 0.06, 2},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.allowed.LossOf(tc.lost); math.Abs(got-tc.want) > 1e-9 {
				t.Errorf("LossOf(%g) = %g, want %g", tc.lost, got, tc.want)
			}
		})
	}
}

func ExampleAllowed_Price() {
	all := metrics.Summary{Slowdown: 1.02, Mistakes: 0.05}
	fmt.Printf("%.3f\n", metrics.Allowed{}.Price(all))
	// Output: 1.050
}
