package metrics_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

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

// TestMedianIntervalCoverage checks that intervals contain the distribution's median at least as often as the
// level says, and not much more often. The distributions include skewed ones.
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

func mean(x []float64) float64 { return stat.Mean(x, nil) }

// TestBootstrapOfTwoPoints checks the interval of the mean of n values that are 0 or 1. The number of ones in a
// resample has a binomial distribution. The bounds of the interval must be quantiles of this distribution, divided by
// n.
func TestBootstrapOfTwoPoints(t *testing.T) {
	for _, tc := range []struct {
		n, ones int
		level   float64
	}{{50, 10, 0.95}, {50, 25, 0.9}, {200, 6, 0.8}} {
		values := make([]float64, tc.n)
		for i := range tc.ones {
			values[i] = 1
		}
		got := testutil.Must(metrics.Bootstrap(values, mean, 4000, tc.level, 1))(t)
		b := distuv.Binomial{N: float64(tc.n), P: float64(tc.ones) / float64(tc.n)}
		tail := (1 - tc.level) / 2
		// With 4000 resamples, each end of the interval is wrong by at most one step of the binomial distribution.
		step := 1 / float64(tc.n)
		for _, end := range []struct {
			name      string
			got, want float64
		}{{"low", got.Low, quantile(b, tail) * step}, {"high", got.High, quantile(b, 1-tail) * step}} {
			if math.Abs(end.got-end.want) > 1.0001*step {
				t.Errorf("%d of %d ones at level %g: %s end = %g, want %g ± %g", tc.ones, tc.n, tc.level, end.name, end.got, end.want, step)
			}
		}
	}
}

func quantile(b distuv.Binomial, p float64) float64 {
	k := 0.0
	for b.CDF(k) < p {
		k++
	}
	return k
}

// TestBootstrapCoverage checks that a 90 % interval contains the true mean in about 90 % of all cases. With
// 400 intervals the standard error of this proportion is 0.015. The percentile interval of 40 values is
// slightly too narrow (Efron and Tibshirani, §14.3). The test therefore accepts 0.83 to 0.95.
func TestBootstrapCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const experiments = 400
	held := 0
	for i := range uint64(experiments) {
		values := make([]float64, 40)
		for j := range values {
			values[j] = rng.ExpFloat64() // mean 1
		}
		got := testutil.Must(metrics.Bootstrap(values, mean, 300, 0.9, i))(t)
		if got.Low <= 1 && 1 <= got.High {
			held++
		}
	}
	if share := float64(held) / experiments; share < 0.83 || share > 0.95 {
		t.Errorf("the mean lies in %.3f of the intervals at level 0.9", share)
	}
}

func TestBootstrapIsRepeatable(t *testing.T) {
	values := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8.5}
	before := slices.Clone(values)
	run := func(seed uint64, level float64) metrics.Interval {
		return testutil.Must(metrics.Bootstrap(values, mean, 500, level, seed))(t)
	}
	if a, b := run(7, 0.95), run(7, 0.95); a != b {
		t.Errorf("same seed: %v and %v", a, b)
	}
	if a, b := run(7, 0.95), run(8, 0.95); a == b {
		t.Errorf("seeds 7 and 8 both give %v", a)
	}
	wide, narrow := run(7, 0.99), run(7, 0.5)
	if !(wide.Low < narrow.Low && narrow.Low < narrow.High && narrow.High < wide.High) {
		t.Errorf("level 0.99 gives %v, level 0.5 %v: want the second inside the first", wide, narrow)
	}
	if !slices.Equal(values, before) {
		t.Errorf("Bootstrap changed its argument: %v", values)
	}
}

func TestBootstrapFaults(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tests := []struct {
		name      string
		values    []float64
		resamples int
		level     float64
	}{
		{"no values", nil, 100, 0.95},
		{"few resamples", []float64{1}, 9, 0.95},
		{"level 0", []float64{1}, 100, 0},
		{"level 1", []float64{1}, 100, 1},
		{"level in percent", []float64{1}, 100, 95},
		{"no level", []float64{1}, 100, math.NaN()},
	}
	for _, tc := range tests {
		_, err := metrics.Bootstrap(tc.values, mean, tc.resamples, tc.level, 1)
		golden(tc.name, err)
		if errors.Is(err, metrics.ErrEmpty) != (tc.values == nil) {
			t.Errorf("%s: error = %v: matches ErrEmpty wrongly", tc.name, err)
		}
	}
}

func ExampleRobustDeviation() {
	fmt.Printf("%.2f\n", metrics.RobustDeviation([]float64{1, 2, 3, 4, 1e6}))
	// Output: 1.48
}

// TestQuantile checks that quantiles of unsorted numbers equal quantiles of the sorted numbers, also if
// some numbers are equal.
func TestQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 60; n++ {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(rng.IntN(20))
		}
		sorted := slices.Sorted(slices.Values(x))
		for _, q := range []float64{0, 0.25, 0.5, 0.97, 1} {
			place := q * float64(n-1)
			low, high := sorted[int(math.Floor(place))], sorted[int(math.Ceil(place))]
			want := low + (place-math.Floor(place))*(high-low)
			if got := metrics.Quantile(slices.Clone(x), q); math.Abs(got-want) > 1e-12 {
				t.Errorf("%g of %v: %g, want %g", q, sorted, got, want)
			}
		}
	}
}

// TestRobustDeviation replaces a tenth of normally distributed numbers by outliers, and checks that this hardly
// changes the estimate of their standard deviation.
func TestRobustDeviation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	x := make([]float64, 10000)
	for i := range x {
		x[i] = 5 + 0.3*rng.NormFloat64()
		if i%10 == 0 {
			x[i] = 1e9
		}
	}
	if plain := stat.StdDev(x, nil); plain < 1e6 {
		t.Fatalf("standard deviation %g: the wrong numbers do not show", plain)
	}
	if got := metrics.RobustDeviation(x); math.Abs(got-0.3) > 0.06 {
		t.Errorf("%g, want 0.3", got)
	}
}

func TestQuantileOfNoNumbers(t *testing.T) {
	if q, d := metrics.Quantile(nil, 0.5), metrics.RobustDeviation(nil); !math.IsNaN(q) || !math.IsNaN(d) {
		t.Errorf("%g and %g, want NaN", q, d)
	}
}
