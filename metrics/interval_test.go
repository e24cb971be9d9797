package metrics_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/internal/testutil"
	"tutti/metrics"
)

func TestMedian(t *testing.T) {
	tests := []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{5, 3}, 4},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 9, 2}, 3},
		{[]float64{1, math.Inf(1), math.Inf(1)}, math.Inf(1)},
	}
	for _, tc := range tests {
		before := slices.Clone(tc.values)
		if got := metrics.Median(tc.values); got != tc.want {
			t.Errorf("Median(%v) = %g, want %g", before, got, tc.want)
		}
		if !slices.Equal(before, tc.values) {
			t.Errorf("Median changed %v to %v", before, tc.values)
		}
	}
	if got := metrics.Median(nil); !math.IsNaN(got) {
		t.Errorf("Median of nothing = %g, want NaN", got)
	}
}

func TestMedianInterval(t *testing.T) {
	upTo := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = float64((i*7)%n + 1) // 1..n, shuffled for n not divisible by 7
		}
		return out
	}
	tests := []struct {
		name    string
		samples []float64
		level   float64
		median  float64
		want    metrics.Interval
	}{
		{"one sample", []float64{3}, 0.95, 3, metrics.Interval{}},
		{"two", []float64{3, 5}, 0.95, 4, metrics.Interval{}},
		{"five are too few", upTo(5), 0.95, 3, metrics.Interval{}},
		{"six: the extremes, 96.9 %", upTo(6), 0.95, 3.5, metrics.Interval{Low: 1, High: 6}},
		// The expected ranks come from table 1 of Le Boudec, Performance Evaluation (2010): 2 to 9 for n =
		// 10, 6 to 15 for n = 20, 18 to 33 for n = 50, 27 to 44 for n = 70.
		{"ten", upTo(10), 0.95, 5.5, metrics.Interval{Low: 2, High: 9}},
		{"twenty", upTo(20), 0.95, 10.5, metrics.Interval{Low: 6, High: 15}},
		{"fifty", upTo(50), 0.95, 25.5, metrics.Interval{Low: 18, High: 33}},
		{"another level", upTo(10), 0.99, 5.5, metrics.Interval{Low: 1, High: 10}},
		{"ties", []float64{2, 2, 2, 2, 2, 2, 9}, 0.95, 2, metrics.Interval{Low: 2, High: 9}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			median, interval, err := metrics.MedianInterval(tc.samples, tc.level)
			testutil.NoError(t, err)
			if median != tc.median || interval != tc.want {
				t.Errorf("MedianInterval = %g, %v, want %g, %v", median, interval, tc.median, tc.want)
			}
		})
	}
}

func TestMedianIntervalErrors(t *testing.T) {
	if _, _, err := metrics.MedianInterval(nil, 0.95); !errors.Is(err, metrics.ErrEmpty) {
		t.Errorf("MedianInterval of nothing: error = %v, want one matching ErrEmpty", err)
	}
	for _, level := range []float64{0, 1, -1, math.NaN()} {
		if _, _, err := metrics.MedianInterval([]float64{1, 2}, level); err == nil {
			t.Errorf("MedianInterval at level %g: no error", level)
		}
	}
}

// TestMedianIntervalCoverage checks how often an interval contains the distribution's median. It must be at
// least as often as the level says, and not much more often, also for skewed distributions.
func TestMedianIntervalCoverage(t *testing.T) {
	const trials = 4000
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{6, 15, 40, 2000} {
		held := 0
		runs := trials
		if n > 100 {
			runs = 400
		}
		for range runs {
			samples := make([]float64, n)
			for i := range samples {
				samples[i] = rng.ExpFloat64()
			}
			_, interval, err := metrics.MedianInterval(samples, 0.95)
			testutil.NoError(t, err)
			if interval.Low <= math.Ln2 && math.Ln2 <= interval.High {
				held++
			}
		}
		if got := float64(held) / float64(runs); got < 0.93 || got > 0.985 {
			t.Errorf("%d samples: the interval held the median in %.3f of the trials, want 0.93 to 0.985", n, got)
		}
	}
}
