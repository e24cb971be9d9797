package metrics

import (
	"fmt"
	"math"
	"slices"
)

// Median returns the median of values in any order: the mean of the two in the middle when
// they are even, NaN for none. O(n log n) time; the values are left as they are.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// MedianInterval returns the median of the samples and the interval of order statistics
// that holds the median of their distribution with at least the given
// probability, whatever the distribution. The interval is zero when there are too
// few samples for it: fewer than 6 at 0.95. It returns ErrEmpty without samples
// and another error when the level is not between 0 and 1.
//
// The lower end is the k-th smallest sample and the upper end the k-th largest,
// for the largest k with P(B < k) ≤ (1-level)/2, B binomial with n trials of 1/2.
// O(n log n) time; the samples are left as they are.
//
// Source: David and Nagaraja, Order Statistics (2003), section 7.1; Hoefler and
// Belli, Scientific Benchmarking of Parallel Computing Systems (SC 2015), rule 5.
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

// medianRank returns the largest k with P(B < k) ≤ tail, B binomial with n trials
// of 1/2; zero when there is none.
func medianRank(n int, tail float64) int {
	all, _ := math.Lgamma(float64(n) + 1)
	below := 0.0
	for k := 0; ; k++ { // ends: below reaches 1/2 before k reaches n
		in, _ := math.Lgamma(float64(k) + 1)
		out, _ := math.Lgamma(float64(n-k) + 1)
		below += math.Exp(all - in - out - float64(n)*math.Ln2)
		if below > tail {
			return k
		}
	}
}
