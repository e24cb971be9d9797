package learner

import (
	"math"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
)

const (
	// Measurements with more than so many times preprocess.MeasurementNoise, off by 6 %, are
	// noisy: the luckiest of several algorithms was measured to be fastest, not the fastest.
	noisyFrom = 9
	// A measurement farther from the belief than so many deviations of its noise says what the
	// Gaussian process does not know.
	surprising = 3
)

// Noise is that of the measurements, as far as repeats show it.
func (l *Learner) Noise() preprocess.Noise { return l.noise }

// Standing are those of the measurements that were learnt which stand for the prediction of
// their candidates. One that is noisy does not, unless it is a surprise: the Gaussian process
// knows it, and its neighbours, too. Without a Gaussian process all do. O(n²) operations.
func (l *Learner) Standing(ms []coll.Measurement) map[coll.Candidate]coll.Measurement {
	out := make(map[coll.Candidate]coll.Measurement, len(ms))
	var points []coll.Point
	for _, m := range ms {
		out[m.Candidate] = m
		points = append(points, m.Point)
	}
	if l.gaussian == nil || len(ms) == 0 {
		return out
	}
	means := l.gaussian.Means(preprocess.SurrogateRows(points), len(l.algorithms))
	for i, m := range ms {
		variance := l.noise.Of(m)
		a, known := slices.BinarySearchFunc(l.algorithms, m.Algorithm, coll.CompareAlgorithms)
		if known && variance > noisyFrom*preprocess.MeasurementNoise &&
			math.Abs(math.Log10(m.Seconds)-means[a][i]) < surprising*math.Sqrt(variance) {
			delete(out, m.Candidate)
		}
	}
	return out
}
