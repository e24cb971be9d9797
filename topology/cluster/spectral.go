package cluster

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"tutti/internal/robust"
)

// Spectral divides the members into k groups by the k smoothest functions on the graph
// of their affinities, which it also returns the eigenvalues of, ascending. Affinity
// falls with distance: exp(-d²/(2s²)) with s half the median distance. O(n³).
//
// It returns an error matching ErrMatrix when a pair is missing, and another when k is
// not in 1 to n.
//
// Source: Ng, Jordan and Weiss, NIPS 2001, with the rows of Shi and Malik, IEEE PAMI 22
// (2000), as scikit-learn does it.
func Spectral(m Matrix, k int) (labels Labels, eigenvalues []float64, err error) {
	if err := m.complete(); err != nil {
		return nil, nil, err
	}
	if k < 1 || k > m.n {
		return nil, nil, fmt.Errorf("%d groups of %d members: want 1 to %d", k, m.n, m.n)
	}
	laplacian, degree := laplacian(m)
	var eigen mat.EigenSym
	if !eigen.Factorize(laplacian, true) {
		return nil, nil, errors.New("no eigenvalues found")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	points := make([][]float64, m.n)
	for i := range points {
		points[i] = slices.Clone(vectors.RawRowView(i)[:k])
		for c := range points[i] {
			points[i][c] /= math.Sqrt(degree[i])
		}
	}
	return numbered(kMeans(points, k)), eigen.Values(nil)[:k], nil
}

// laplacian returns the normalised Laplacian of the affinities, and their row sums.
func laplacian(m Matrix) (l *mat.SymDense, degree []float64) {
	scale := robust.Quantile(upper(m.n, m.d), 0.5) / 2
	degree = make([]float64, m.n)
	l = mat.NewSymDense(m.n, nil)
	for i := range m.n {
		for j, x := range m.row(i) {
			affinity := math.Exp(-x * x / (2 * scale * scale))
			degree[i] += affinity
			if i <= j {
				l.SetSym(i, j, affinity)
			}
		}
	}
	for i := range m.n {
		for j := i; j < m.n; j++ {
			x := -l.At(i, j) / math.Sqrt(degree[i]*degree[j])
			if i == j {
				x++
			}
			l.SetSym(i, j, x)
		}
	}
	return l, degree
}

// upper returns what lies above the diagonal of an n·n matrix.
func upper(n int, d []float64) []float64 {
	out := make([]float64, 0, n*(n-1)/2)
	for i := range n {
		out = append(out, d[i*n+i+1:(i+1)*n]...)
	}
	return out
}
