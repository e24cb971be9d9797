// Package robust says where numbers lie and how far they spread, however wrong a few of
// them are.
package robust

import (
	"math"
	"slices"
)

// Quantile returns the q-quantile of x, 0 ≤ q ≤ 1, on the line between neighbours, and
// reorders x; NaN without numbers. O(n).
func Quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	place := q * float64(len(x)-1)
	k := int(place)
	low := Kth(x, k)
	if k+1 == len(x) {
		return low
	}
	return low + (place-float64(k))*(slices.Min(x[k+1:])-low)
}

// Deviation returns the standard deviation of normal numbers, judged by the median of
// how far they are from their median, and overwrites x; NaN without numbers. O(n).
func Deviation(x []float64) float64 {
	const normal = 1.4826 // standard deviations over median deviations
	middle := Quantile(x, 0.5)
	for i := range x {
		x[i] = math.Abs(x[i] - middle)
	}
	return normal * Quantile(x, 0.5)
}

// Kth returns the k-th smallest of x, from 0, and reorders x. O(n).
func Kth(x []float64, k int) float64 {
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
