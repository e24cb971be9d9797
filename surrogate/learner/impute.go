package learner

import (
	"math"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/forest"
)

// imputeFastest adds an imputed (estimated) measurement at each point at which algorithms are missing. Its
// time is the shortest that is predicted for a missing algorithm.
//
// Forests of log10 seconds predict the missing algorithms. imputeFastest adds to a prediction the mean
// out-of-bag residual of the algorithms that were measured at the point. This residual estimates by how much
// all algorithms are slower at this point.
func imputeFastest(ms []coll.Measurement, absent func(coll.Point) []coll.Algorithm, opt Options) ([]coll.Measurement, error) {
	if absent == nil || opt.Scaling != preprocess.Algorithm && opt.Scaling != preprocess.AlgorithmLog10 {
		return ms, nil
	}
	partial, missing := incompletePoints(ms, absent)
	if len(partial) == 0 {
		return ms, nil
	}
	logs := make([]float64, len(ms))
	for i, m := range ms {
		logs[i] = math.Log10(m.Seconds)
	}
	logOptions := opt.Forest
	if logOptions.Criterion == forest.Poisson {
		logOptions.Criterion = forest.SquaredError // logarithms can be negative
	}
	l, err := fitForests(ms, logs, logOptions)
	if err != nil {
		return nil, err
	}
	predicted, err := l.Predict(partial)
	if err != nil {
		return nil, err
	}
	residual := l.meanResiduals(ms, logs)
	out := slices.Clone(ms)
	for i, p := range partial {
		fastest := math.Inf(1)
		for _, alg := range missing[i] {
			if a, known := l.index(alg); known {
				fastest = min(fastest, predicted[a][i]+residual[p])
			}
		}
		if !math.IsInf(fastest, 1) {
			out = append(out, coll.Measurement{Candidate: coll.Candidate{Point: p, Algorithm: missing[i][0]}, Seconds: math.Pow(10, fastest)})
		}
	}
	return out, nil
}

// incompletePoints returns, in order, the measured points at which algorithms are missing, and these algorithms.
func incompletePoints(ms []coll.Measurement, missing func(coll.Point) []coll.Algorithm) (points []coll.Point, absent [][]coll.Algorithm) {
	for _, p := range pointsOf(slices.SortedStableFunc(slices.Values(ms), compareByCandidate)) {
		if a := missing(p); len(a) > 0 {
			points, absent = append(points, p), append(absent, a)
		}
	}
	return points, absent
}

// meanResiduals returns, for each point, the mean difference between targets and their out-of-bag predictions.
func (l *Learner) meanResiduals(ms []coll.Measurement, targets []float64) map[coll.Point]float64 {
	sum, n := map[coll.Point]float64{}, map[coll.Point]int{}
	for a, f := range l.forests {
		rows, mean := f.OutOfBag()
		for k, row := range rows {
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

// pointsOf returns the distinct points of some measurements, which must be sorted by point.
func pointsOf(sorted []coll.Measurement) []coll.Point {
	var points []coll.Point
	for i, m := range sorted {
		if i == 0 || m.Point != sorted[i-1].Point {
			points = append(points, m.Point)
		}
	}
	return points
}
