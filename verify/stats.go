package verify

import (
	"math"
	"slices"

	"tutti/metrics"
)

// signedRank returns the probability that values that are symmetric about zero
// have as large a sum of positive ranks: a small one says that they lie above
// zero. Zeros are left out; equal magnitudes share their mean rank. Exact, by
// counting sign patterns; O(n³) for n values; 1 for none.
//
// Source: Wilcoxon, Individual comparisons by ranking methods, Biometrics
// Bulletin 1 (1945); Hollander, Wolfe and Chicken, Nonparametric Statistical
// Methods (2014), §3.1, with ties as in comment 11.
func signedRank(values []float64) float64 {
	var kept []float64
	for _, v := range values {
		if v != 0 {
			kept = append(kept, v)
		}
	}
	if len(kept) == 0 {
		return 1
	}
	slices.SortFunc(kept, func(a, b float64) int {
		return compareFloats(math.Abs(a), math.Abs(b))
	})
	// Twice the mean ranks: whole numbers even for ties.
	ranks := make([]int, len(kept))
	total, positive := 0, 0
	for i := 0; i < len(kept); {
		j := i
		for j < len(kept) && math.Abs(kept[j]) == math.Abs(kept[i]) {
			j++
		}
		for k := i; k < j; k++ {
			ranks[k] = i + 1 + j
			total += ranks[k]
			if kept[k] > 0 {
				positive += ranks[k]
			}
		}
		i = j
	}
	// chance[s] is the probability that the positive ranks so far add up to s.
	chance := make([]float64, total+1)
	chance[0] = 1
	reach := 0
	for _, r := range ranks {
		reach += r
		for s := reach; s >= 0; s-- {
			chance[s] /= 2
			if s >= r {
				chance[s] += chance[s-r] / 2
			}
		}
	}
	p := 0.0
	for _, c := range chance[positive:] {
		p += c
	}
	return min(p, 1)
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// holm returns which of the hypotheses with these p-values are rejected so that
// one true hypothesis or more is among them with probability alpha at most,
// whatever the dependence between them.
//
// Source: Holm, A simple sequentially rejective multiple test procedure,
// Scandinavian Journal of Statistics 6 (1979).
func holm(p []float64, alpha float64) []bool {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareFloats(p[a], p[b]) })
	rejected := make([]bool, len(p))
	for i, at := range order {
		if p[at] > alpha/float64(len(p)-i) {
			break
		}
		rejected[at] = true
	}
	return rejected
}

// Interval is a value with its interval at level 0.95.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// medianOf returns the median of values, one or more, with its interval at level
// 0.95; below six values it is their range, which holds the true median with
// probability 1-2^(1-n).
func medianOf(values []float64) Interval {
	middle, i, err := metrics.MedianInterval(values, 0.95)
	if err != nil {
		panic(err) // no values, a bug of the caller
	}
	if i == (metrics.Interval{}) {
		i = metrics.Interval{Low: slices.Min(values), High: slices.Max(values)}
	}
	return Interval{Value: middle, Low: i.Low, High: i.High}
}

// exp turns an interval of logarithms into one of ratios.
func (i Interval) exp() Interval {
	return Interval{math.Exp(i.Value), math.Exp(i.Low), math.Exp(i.High)}
}

// spread is a robust standard deviation: the median distance from the median,
// scaled to agree with the deviation of a normal distribution.
func spread(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	middle := medianOf(values).Value
	distances := make([]float64, len(values))
	for i, v := range values {
		distances[i] = math.Abs(v - middle)
	}
	const normal = 1.4826 // 1/Φ⁻¹(3/4)
	return normal * medianOf(distances).Value
}
