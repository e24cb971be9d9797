package clustering

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"tutti/metrics"
	"tutti/topology/discover"
)

// Spectral divides the members into k groups by means of the normalised Laplacian of their affinities. The
// coordinates of a member are its entries in the first k eigenvectors. k-means divides the members by them.
// Spectral also returns the eigenvalues in ascending order. The affinity of a pair with distance d is exp(-d²/(2s²)),
// where s is half the median distance. It takes O(n³) time.
//
// Source: Ng, Jordan and Weiss, NIPS 2001. As in scikit-learn, coordinates are scaled as in Shi and Malik, IEEE PAMI
// 22 (2000).
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

// laplacian returns the normalised Laplacian of the affinities. `degree` has the sum of each row of
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
