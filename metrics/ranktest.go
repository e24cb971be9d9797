package metrics

import (
	"cmp"
	"math"
	"slices"
)

// SignedRank returns the p-value of Wilcoxon's signed-rank test that values lie above
// zero: the probability that values which are symmetric about zero have as large a sum
// of positive ranks. Zeros are left out; equal magnitudes share their mean rank. It is 1
// without values other than zero.
//
// The test is exact, by counting sign patterns: O(n³) for n values.
//
// Source: Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1
// (1945); Hollander, Wolfe and Chicken, Nonparametric Statistical Methods (2014), §3.1,
// with ties as in comment 11.
func SignedRank(values []float64) float64 {
	ranks, positive := signedRanks(values)
	if len(ranks) == 0 {
		return 1
	}
	total := 0
	for _, r := range ranks {
		total += r
	}
	// probability[s] is the probability that the positive ranks so far add up to s.
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

// signedRanks returns twice the mean ranks of the magnitudes of the values other than
// zero, which are whole numbers even for ties, and the sum of those of positive values.
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

// Holm returns which of the hypotheses with these p-values are rejected. The probability
// that a true hypothesis is among them is at most alpha, whatever the dependence between
// the tests.
//
// Source: Holm, A simple sequentially rejective multiple test procedure, Scandinavian
// Journal of Statistics 6 (1979).
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
