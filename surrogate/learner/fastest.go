package learner

import (
	"math"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/forest"
)

// withFastest adds to the measurements, at each point where algorithms are missing, one
// that stands for the fastest.
//
// Forests of log10 time predict the missing algorithms. The measured ones at the point
// differ from their own out-of-bag predictions; the mean of these differences is added,
// as what the point does to all algorithms.
func withFastest(ms []coll.Measurement, opt Options) ([]coll.Measurement, error) {
	if opt.Missing == nil || opt.Scaling != preprocess.Algorithm && opt.Scaling != preprocess.AlgorithmLog10 {
		return ms, nil
	}
	partial, missing := incomplete(ms, opt.Missing)
	if len(partial) == 0 {
		return ms, nil
	}
	logs := make([]float64, len(ms))
	for i, m := range ms {
		logs[i] = math.Log10(m.Seconds)
	}
	ofLogs := opt.Forest
	if ofLogs.Criterion == forest.Poisson {
		ofLogs.Criterion = forest.SquaredError // logarithms can be negative
	}
	l, err := train(ms, logs, ofLogs)
	if err != nil {
		return nil, err
	}
	predicted, err := l.Predict(partial)
	if err != nil {
		return nil, err
	}
	shift := l.residuals(ms, logs)
	out := slices.Clone(ms)
	for i, p := range partial {
		fastest := math.Inf(1)
		for _, alg := range missing[i] {
			if a, known := slices.BinarySearchFunc(l.algorithms, alg, coll.CompareAlgorithms); known {
				fastest = min(fastest, predicted[a][i]+shift[p])
			}
		}
		if !math.IsInf(fastest, 1) {
			out = append(out, coll.Measurement{Candidate: coll.Candidate{Point: p, Algorithm: missing[i][0]}, Seconds: math.Pow(10, fastest)})
		}
	}
	return out, nil
}

// incomplete returns the measured points where algorithms are missing, in order, and these
// algorithms.
func incomplete(ms []coll.Measurement, missing func(coll.Point) []coll.Algorithm) (points []coll.Point, absent [][]coll.Algorithm) {
	for _, p := range pointsOf(slices.SortedStableFunc(slices.Values(ms), compareMeasurements)) {
		if a := missing(p); len(a) > 0 {
			points, absent = append(points, p), append(absent, a)
		}
	}
	return points, absent
}

// residuals returns at each point the mean of target minus out-of-bag prediction.
func (l *Learner) residuals(ms []coll.Measurement, targets []float64) map[coll.Point]float64 {
	sum, n := map[coll.Point]float64{}, map[coll.Point]int{}
	for a, f := range l.forests {
		left, mean := f.OutOfBag()
		for k, row := range left {
			i := l.rows[a][row]
			sum[ms[i].Point] += targets[i] - mean[k]
			n[ms[i].Point]++
		}
	}
	for p, count := range n {
		sum[p] /= float64(count)
	}
	return sum
}

// pointsOf returns the points of measurements sorted by point, each once.
func pointsOf(sorted []coll.Measurement) []coll.Point {
	var points []coll.Point
	for i, m := range sorted {
		if i == 0 || m.Point != sorted[i-1].Point {
			points = append(points, m.Point)
		}
	}
	return points
}
