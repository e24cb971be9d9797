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
// It reorders x, and returns NaN if x is empty. It takes O(n) time.
func Quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	place := q * float64(len(x)-1)
	k := int(place)
	low := KthSmallest(x, k)
	if k+1 == len(x) {
		return low
	}
	return low + (place-float64(k))*(slices.Min(x[k+1:])-low)
}

// normalMAD is the ratio of the standard deviation to the median absolute deviation in a normal
// distribution.
const normalMAD = 1.4826

// RobustDeviation estimates the standard deviation of normal numbers from their median absolute
// deviation, so that outliers hardly affect it. It overwrites x and returns NaN if x is empty. It
// takes O(n) time.
func RobustDeviation(x []float64) float64 {
	middle := Quantile(x, 0.5)
	for i := range x {
		x[i] = math.Abs(x[i] - middle)
	}
	return normalMAD * Quantile(x, 0.5)
}

// KthSmallest returns the number that would have index k if x were sorted. It reorders x. It takes O(n)
// time.
func KthSmallest(x []float64, k int) float64 {
	low, high := 0, len(x)-1
	for low < high {
		pivot := x[low+(high-low)/2]
		i, j := low, high
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return x[k]
		}
	}
	return x[k]
}
