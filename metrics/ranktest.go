package metrics

import (
	"cmp"
	"math"
	"slices"
)

// SignedRank returns the p-value of Wilcoxon's signed-rank test against the alternative that values lie
// above zero. If the values are symmetric about zero, the p-value is the probability that the sum of
// positive ranks is at least as large as here. Zeros are ignored, and equal magnitudes share their mean
// rank. If all values are zero, the p-value is 1.
//
// The test is exact, by counting sign patterns: O(n³) for n values.
//
// Source: Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1 (1945);
// Hollander, Wolfe and Chicken, Nonparametric Statistical Methods (2014), §3.1, with ties as in
// comment 11.
func SignedRank(values []float64) float64 {
	ranks, positive := signedRanks(values)
	if len(ranks) == 0 {
		return 1
	}
	p := 0.0
	for _, x := range rankSums(ranks)[positive:] {
		p += x
	}
	return min(p, 1)
}

// rankSums returns the probability of each sum of positive ranks, if each rank is positive with probability 1/2.
func rankSums(ranks []int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	probability := make([]float64, total+1)
	probability[0] = 1
	reach := 0
	for _, r := range ranks {
		reach += r
		for s := reach; s >= 0; s-- {
			probability[s] /= 2
			if s >= r {
				probability[s] += probability[s-r] / 2
			}
		}
	}
	return probability
}

// SignedRankInterval returns the Hodges-Lehmann estimate of the center of values and its interval. The center is
// below the interval with probability `tail` at most, and above it with the same probability, if the values are
// symmetric about it. With too few values for this probability, an end is infinite. The interval contains what
// SignedRank does not reject at the level `tail`, except for ties. It takes O(n² log n) time for n values.
//
// The error matches ErrEmpty if there are no values.
//
// Source: Hollander, Wolfe and Chicken, Nonparametric Statistical Methods (2014), §3.2 and §3.3.
func SignedRankInterval(values []float64, tail float64) (center float64, interval Interval, err error) {
	n := len(values)
	if n == 0 {
		return 0, Interval{}, ErrEmpty
	}
	ranks := make([]int, n)
	var averages []float64 // Walsh averages
	for i, v := range values {
		ranks[i] = i + 1
		for _, w := range values[:i+1] {
			averages = append(averages, (v+w)/2)
		}
	}
	slices.Sort(averages)
	below, outside := 0.0, 0 // number of averages outside each end of the interval
	for _, p := range rankSums(ranks) {
		if below += p; below > tail {
			break
		}
		outside++
	}
	interval = Interval{Low: math.Inf(-1), High: math.Inf(1)}
	if outside > 0 {
		interval = Interval{Low: averages[outside-1], High: averages[len(averages)-outside]}
	}
	return Median(averages), interval, nil
}

// signedRanks returns twice the rank of each magnitude other than zero; equal magnitudes share their mean
// rank. It also returns the sum of the doubled ranks of positive values. Doubled ranks are integers even if
// values are tied.
func signedRanks(values []float64) (ranks []int, positive int) {
	nonzero := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v == 0 })
	slices.SortFunc(nonzero, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	ranks = make([]int, len(nonzero))
	for i := 0; i < len(nonzero); {
		j := i
		for j < len(nonzero) && math.Abs(nonzero[j]) == math.Abs(nonzero[i]) {
			j++
		}
		for k := i; k < j; k++ {
			ranks[k] = i + 1 + j
			if nonzero[k] > 0 {
				positive += ranks[k]
			}
		}
		i = j
	}
	return ranks, positive
}

// Holm tests several hypotheses by their p-values. It reports for each p-value whether its hypothesis is
// rejected. The probability that any true hypothesis is rejected is at most alpha, even if the tests depend
// on one another.
//
// Source: Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics
// 6 (1979).
func Holm(p []float64, alpha float64) []bool {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	rejected := make([]bool, len(p))
	for i, at := range order {
		if p[at] > alpha/float64(len(p)-i) {
			break
		}
		rejected[at] = true
	}
	return rejected
}
