package cluster

import (
	"math"
	"math/rand/v2"
)

// kMeans divides points into k groups around their means, the best of ten starts.
//
// Source: Arthur and Vassilvitskii, SODA 2007 (k-means++) for the starts.
func kMeans(points [][]float64, k int) []int {
	const starts = 10
	rng := rand.New(rand.NewPCG(1, uint64(k))) // the same division for the same points
	var best []int
	least := math.Inf(1)
	for range starts {
		if labels, inertia := lloyd(points, spread(points, k, rng)); inertia < least {
			best, least = labels, inertia
		}
	}
	return best
}

// spread draws k points, each the likelier the farther it is from those drawn before.
func spread(points [][]float64, k int, rng *rand.Rand) [][]float64 {
	centres := [][]float64{points[rng.IntN(len(points))]}
	weight := make([]float64, len(points))
	for len(centres) < k {
		sum := 0.0
		for i, p := range points {
			_, weight[i] = closest(p, centres)
			sum += weight[i]
		}
		at, left := 0, rng.Float64()*sum
		for left > weight[at] && at < len(points)-1 {
			left -= weight[at]
			at++
		}
		centres = append(centres, points[at])
	}
	return centres
}

// lloyd moves points to the nearest mean and means to their points until nothing moves.
func lloyd(points, start [][]float64) (labels []int, inertia float64) {
	const mostRounds = 300
	centres := start
	labels = make([]int, len(points))
	for i := range labels {
		labels[i] = -1
	}
	for range mostRounds {
		moved := false
		inertia = 0
		for i, p := range points {
			g, square := closest(p, centres)
			moved = moved || g != labels[i]
			labels[i] = g
			inertia += square
		}
		if !moved {
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

// means returns the mean of each group; a group without points stays where it was.
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
