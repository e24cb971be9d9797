package learner

import "math/rand/v2"

// deal splits n rows into k folds of nearly equal size at random and returns the
// fold of each row. k is cut down to n; the same seed gives the same folds.
func deal(n, k int, seed uint64) []int {
	k = max(1, min(k, n))
	fold := make([]int, n)
	for i, j := range rand.New(rand.NewPCG(seed, uint64(n))).Perm(n) {
		fold[j] = i % k
	}
	return fold
}
