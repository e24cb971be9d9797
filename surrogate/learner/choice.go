package learner

import (
	"math"
	"slices"

	"tutti/coll"
)

// Measured are log10 seconds of candidates. At its point a measurement takes the place of
// the prediction.
type Measured map[coll.Candidate]float64

// at returns the predictions in column i, which are those at point p, with measurements in
// the place of predictions. Predictions may have another unit at each point, so the
// measurements are moved by what they differ from their predictions on average.
func (m Measured) at(p coll.Point, algorithms []coll.Algorithm, predicted [][]float64, i int) []float64 {
	out := make([]float64, len(algorithms))
	n, shift := 0.0, 0.0
	for a, alg := range algorithms {
		out[a] = predicted[a][i]
		if y, ok := m[coll.Candidate{Point: p, Algorithm: alg}]; ok {
			n, shift = n+1, shift+out[a]-y
		}
	}
	for a, alg := range algorithms {
		if y, ok := m[coll.Candidate{Point: p, Algorithm: alg}]; ok {
			out[a] = y + shift/n
		}
	}
	return out
}

// Choices returns at each point the algorithm of lowest prediction among those that
// can run there; the zero Algorithm where nothing that can run is known.
func (l *Learner) Choices(points []coll.Point, can func(coll.Point) []coll.Algorithm, measured Measured) ([]coll.Algorithm, error) {
	predicted, err := l.Predict(points)
	if err != nil {
		return nil, err
	}
	out := make([]coll.Algorithm, len(points))
	for i, p := range points {
		lowest := math.Inf(1)
		here, values := can(p), measured.at(p, l.algorithms, predicted, i)
		for a, alg := range l.algorithms {
			if v := values[a]; v < lowest && slices.Contains(here, alg) {
				lowest, out[i] = v, alg
			}
		}
	}
	return out, nil
}
