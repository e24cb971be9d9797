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
	var noisy []coll.Measurement
	for _, m := range ms {
		out[m.Candidate] = m
		if l.gaussian != nil && l.noise.Of(m) > noisyFrom*preprocess.MeasurementNoise {
			noisy = append(noisy, m)
		}
	}
	at := map[coll.Point]int{}
	var points []coll.Point
	for _, m := range noisy {
		if _, known := at[m.Point]; !known {
			at[m.Point] = len(points)
			points = append(points, m.Point)
		}
	}
	if len(points) == 0 {
		return out
	}
	means := l.gaussian.Means(preprocess.SurrogateRows(points), len(l.algorithms))
	for _, m := range noisy {
		a, known := slices.BinarySearchFunc(l.algorithms, m.Algorithm, coll.CompareAlgorithms)
		if known && math.Abs(math.Log10(m.Seconds)-means[a][at[m.Point]]) < surprising*math.Sqrt(l.noise.Of(m)) {
			delete(out, m.Candidate)
		}
	}
	return out
}
