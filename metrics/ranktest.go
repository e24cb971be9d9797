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
	total := 0
	for _, r := range ranks {
		total += r
	}
	// probability[s] is the probability that the sum of the positive ranks is s, for the ranks processed so
	// far.
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
	p := 0.0
	for _, x := range probability[positive:] {
		p += x
	}
	return min(p, 1)
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
