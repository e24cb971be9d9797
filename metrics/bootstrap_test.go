package metrics_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"tutti/internal/testutil"
	"tutti/metrics"
)

func contains(err error, part string) bool { return strings.Contains(err.Error(), part) }

func mean(x []float64) float64 { return stat.Mean(x, nil) }

// TestBootstrapOfTwoPoints checks intervals that can be computed without drawing. If n values are drawn
// from zeros and ones with a fraction p of ones, their mean is B/n with a binomial B.
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
		// With 4000 draws, the error at each end is at most one step of the binomial distribution.
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
	tests := []struct {
		name      string
		values    []float64
		resamples int
		level     float64
		want      string
	}{
		{"no values", nil, 100, 0.95, metrics.ErrEmpty.Error()},
		{"few resamples", []float64{1}, 9, 0.95, "9 resamples"},
		{"level 0", []float64{1}, 100, 0, "level 0:"},
		{"level 1", []float64{1}, 100, 1, "level 1:"},
		{"level in percent", []float64{1}, 100, 95, "level 95:"},
		{"no level", []float64{1}, 100, math.NaN(), "level NaN:"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := metrics.Bootstrap(tc.values, mean, tc.resamples, tc.level, 1)
			if err == nil || !contains(err, tc.want) {
				t.Errorf("error = %v, want %q", err, tc.want)
			}
			if errors.Is(err, metrics.ErrEmpty) != (tc.values == nil) {
				t.Errorf("error = %v: matches ErrEmpty wrongly", err)
			}
		})
	}
}
