package clustering

import (
	"math"
	"math/rand/v2"
	"slices"

	"tutti/topology/discover"
)

const (
	kMeansStarts    = 10  // as in scikit-learn
	kMeansMaxRounds = 300 // as in scikit-learn
)

// KMeans divides the members into k groups by k-means. The coordinates of a member are its row of the matrix. It takes
// O(n²·k) time a round.
//
// Source: Lloyd, Least Squares Quantization in PCM, IEEE Transactions on Information Theory 28 (1982).
func KMeans(m discover.Matrix, k int) discover.Labels {
	points := make([][]float64, m.Len())
	for i := range points {
		points[i] = m.Row(i)
	}
	return discover.NewLabels(kMeans(points, k))
}

// kMeans divides points into k groups around their means. It starts from different random centres and returns the
// division with the smallest inertia (see lloyd).
//
// Source: Arthur and Vassilvitskii, SODA 2007 (k-means++), for the random centres.
func kMeans(points [][]float64, k int) []int {
	rng := rand.New(rand.NewPCG(1, uint64(k))) // a fixed seed, so that results are reproducible
	var best []int
	least := math.Inf(1)
	for range kMeansStarts {
		if labels, inertia := lloyd(points, randomCentres(points, k, rng)); inertia < least {
			best, least = labels, inertia
		}
	}
	return best
}

// randomCentres draws k points as centres. The probability of a point is proportional to the square of its
// distance from the nearest centre so far.
func randomCentres(points [][]float64, k int, rng *rand.Rand) [][]float64 {
	centres := [][]float64{points[rng.IntN(len(points))]}
	weight := make([]float64, len(points))
	for len(centres) < k {
		sum := 0.0
		for i, p := range points {
			_, weight[i] = closest(p, centres)
			sum += weight[i]
		}
		at, remaining := 0, rng.Float64()*sum
		for remaining > weight[at] && at < len(points)-1 {
			remaining -= weight[at]
			at++
		}
		centres = append(centres, points[at])
	}
	return centres
}

// lloyd assigns points to the nearest centre, and then replaces each centre by the mean of its points,
// until no assignment changes. inertia is the sum of the squared distances of points to their centres.
func lloyd(points, start [][]float64) (labels []int, inertia float64) {
	centres := start
	labels = slices.Repeat([]int{-1}, len(points))
	for range kMeansMaxRounds {
		changed := false
		inertia = 0
		for i, p := range points {
			g, square := closest(p, centres)
			changed = changed || g != labels[i]
			labels[i] = g
			inertia += square
		}
		if !changed {
			break
		}
		centres = means(points, labels, centres)
	}
	return labels, inertia
}

// closest returns the centre nearest to p and the square of its distance.
func closest(p []float64, centres [][]float64) (at int, square float64) {
	square = math.Inf(1)
	for c, centre := range centres {
		sum := 0.0
		for i, x := range p {
			sum += (x - centre[i]) * (x - centre[i])
		}
		if sum < square {
			at, square = c, sum
		}
	}
	return at, square
}

// means returns the mean of each group. A group without points keeps its old centre.
func means(points [][]float64, labels []int, old [][]float64) [][]float64 {
	out := make([][]float64, len(old))
	count := make([]float64, len(old))
	for g := range out {
		out[g] = make([]float64, len(old[g]))
	}
	for i, p := range points {
		count[labels[i]]++
		for c, x := range p {
			out[labels[i]][c] += x
		}
	}
	for g := range out {
		if count[g] == 0 {
			copy(out[g], old[g])
			continue
		}
		for c := range out[g] {
			out[g][c] /= count[g]
		}
	}
	return out
}
