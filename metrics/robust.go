package metrics

import (
	"math"
	"slices"
)

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

// RobustDeviation estimates the standard deviation of normal numbers from their median absolute
// deviation, so that outliers hardly affect it. It returns NaN if x is empty.
func RobustDeviation(x []float64) float64 {
	middle := Quantile(x, 0.5)
	differences := make([]float64, len(x))
	for i, v := range x {
		differences[i] = math.Abs(v - middle)
	}
	return normalMAD * Quantile(differences, 0.5)
}
