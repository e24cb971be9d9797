package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Interval is a confidence interval of a statistic, such as a mean slowdown.
type Interval struct{ Low, High float64 }

// minResamples is the smallest number of resamples that a bootstrap accepts. With fewer resamples there is
// no 95 % interval.
const minResamples = 10

// Bootstrap returns the percentile interval of a statistic of n values. It draws the given number of resamples,
// each of n values with replacement. The ends are the (1-level)/2 and the (1+level)/2 quantiles of the resamples'
// statistics. The same seed gives the same interval. It takes O(resamples · n) time.
//
// It returns an error matching ErrEmpty if there are no values. Fewer than 10 resamples and a level outside (0, 1)
// are errors as well.
//
// Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), §13.3.
func Bootstrap[T any](values []T, statistic func([]T) float64, resamples int, level float64, seed uint64) (Interval, error) {
	if len(values) == 0 {
		return Interval{}, ErrEmpty
	}
	if resamples < minResamples || !(level > 0 && level < 1) {
		return Interval{}, fmt.Errorf("bootstrap with %d resamples at level %g: want at least %d and a level in (0, 1)", resamples, level, minResamples)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(len(values))))
	draw := make([]T, len(values))
	stats := make([]float64, resamples)
	for b := range stats {
		for i := range draw {
			draw[i] = values[rng.IntN(len(values))]
		}
		stats[b] = statistic(draw)
	}
	slices.Sort(stats)
	tail := (1 - level) / 2
	return Interval{
		Low:  stat.Quantile(tail, stat.Empirical, stats, nil),
		High: stat.Quantile(1-tail, stat.Empirical, stats, nil),
	}, nil
}

// MedianInterval returns the median of the samples and a confidence interval of the distribution's median. The ends
// of the interval are order statistics, so its level holds for any distribution. The interval is zero if there are
// too few samples; at level 0.95 these are fewer than 6. The error is ErrEmpty if there are no samples. A level
// outside (0, 1) is an error, too.
//
// The lower end is the k-th smallest sample and the upper end the k-th largest. k is the largest number with P(B <
// k) ≤ (1-level)/2, where B is binomial with n trials of probability 1/2.
//
// Source: David and Nagaraja, Order Statistics (2003), section 7.1; Hoefler and Belli, Scientific Benchmarking of
// Parallel Computing Systems (SC 2015), rule 5.
func MedianInterval(samples []float64, level float64) (median float64, interval Interval, err error) {
	n := len(samples)
	switch {
	case n == 0:
		return 0, Interval{}, ErrEmpty
	case !(level > 0 && level < 1):
		return 0, Interval{}, fmt.Errorf("level %g: want a number between 0 and 1", level)
	}
	sorted := slices.Sorted(slices.Values(samples))
	if k := medianRank(n, (1-level)/2); k > 0 {
		interval = Interval{Low: sorted[k-1], High: sorted[n-k]}
	}
	return Median(sorted), interval, nil
}

// medianRank returns the largest k with P(B < k) ≤ tail, or 0 if there is no such k. B is binomial with n
// trials of probability 1/2.
func medianRank(n int, tail float64) int {
	all, _ := math.Lgamma(float64(n) + 1)
	below := 0.0
	for k := 0; ; k++ { // terminates: below reaches 1/2 before k reaches n
		in, _ := math.Lgamma(float64(k) + 1)
		out, _ := math.Lgamma(float64(n-k) + 1)
		below += math.Exp(all - in - out - float64(n)*math.Ln2)
		if below > tail {
			return k
		}
	}
}

// Median returns the median of values, which need not be sorted. If their number is even, it is the mean of
// the two middle values. If there are none, it is NaN. Median does not change values. It takes O(n log n)
// time.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Quantile returns the q-quantile of x for 0 ≤ q ≤ 1. It interpolates linearly between neighboring values.
// It returns NaN if x is empty. It takes O(n log n) time.
func Quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(x))
	place := q * float64(len(sorted)-1)
	k := int(place)
	if k+1 == len(sorted) {
		return sorted[k]
	}
	return sorted[k] + (place-float64(k))*(sorted[k+1]-sorted[k])
}

// normalMAD is the ratio of the standard deviation to the median absolute deviation in a normal
// distribution.
const normalMAD = 1.4826

// RobustDeviation estimates the standard deviation of normally distributed numbers from their median absolute
// deviation, so that outliers hardly affect it. It returns NaN if x is empty.
func RobustDeviation(x []float64) float64 {
	middle := Quantile(x, 0.5)
	differences := make([]float64, len(x))
	for i, v := range x {
		differences[i] = math.Abs(v - middle)
	}
	return normalMAD * Quantile(differences, 0.5)
}
