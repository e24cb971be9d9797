package clustering

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"tutti/metrics"
	"tutti/topology/discover"
)

// Spectral divides the members into k groups by k-means on the first k eigenvectors of the Laplacian of
// their affinities. It also returns the eigenvalues of these vectors, ascending. The affinity of a pair
// with distance d is exp(-d²/(2s²)), where s is half the median distance. It takes O(n³) time.
//
// Source: Ng, Jordan and Weiss, NIPS 2001, with the rows of Shi and Malik, IEEE PAMI 22 (2000), as
// scikit-learn does it.
func Spectral(m discover.Matrix, k int) (labels discover.Labels, eigenvalues []float64) {
	laplacian, degree := laplacian(m)
	var eigen mat.EigenSym
	if !eigen.Factorize(laplacian, true) {
		panic("clustering: no eigenvalues of a symmetric matrix")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	points := make([][]float64, m.Len())
	for i := range points {
		points[i] = slices.Clone(vectors.RawRowView(i)[:k])
		for c := range points[i] {
			points[i][c] /= math.Sqrt(degree[i])
		}
	}
	return discover.NewLabels(kMeans(points, k)), eigen.Values(nil)[:k]
}

// laplacian returns the normalised Laplacian of the affinities. degree has the sum of each row of
// affinities.
func laplacian(m discover.Matrix) (l *mat.SymDense, degree []float64) {
	var distances []float64
	for i := range m.Len() {
		distances = append(distances, m.Row(i)[:i]...)
	}
	scale := metrics.Quantile(distances, 0.5) / 2
	degree = make([]float64, m.Len())
	l = mat.NewSymDense(m.Len(), nil)
	for i := range m.Len() {
		for j, x := range m.Row(i) {
			affinity := math.Exp(-x * x / (2 * scale * scale))
			degree[i] += affinity
			if i <= j {
				l.SetSym(i, j, affinity)
			}
		}
	}
	for i := range m.Len() {
		for j := i; j < m.Len(); j++ {
			x := -l.At(i, j) / math.Sqrt(degree[i]*degree[j])
			if i == j {
				x++
			}
			l.SetSym(i, j, x)
		}
	}
	return l, degree
}

// kMeans divides points into k groups around their means. It returns the best of ten divisions,
// which start from different random centres.
//
// Source: Arthur and Vassilvitskii, SODA 2007 (k-means++) for the random centres.
func kMeans(points [][]float64, k int) []int {
	const starts = 10
	rng := rand.New(rand.NewPCG(1, uint64(k))) // a fixed seed, so that results are reproducible
	var best []int
	least := math.Inf(1)
	for range starts {
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
	const maxRounds = 300
	centres := start
	labels = make([]int, len(points))
	for i := range labels {
		labels[i] = -1
	}
	for range maxRounds {
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
