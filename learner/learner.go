package learner

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/space"
	"tutti/surrogate/forest"
)

// Options say how the forests are trained. The zero value of Scaling is an
// error; preprocess.AlgorithmLog10 is the usual choice.
type Options struct {
	Scaling preprocess.Scaling
	Forest  forest.Options // Seed is mixed with the algorithm's name
	// Complete reports whether every algorithm of a point has been measured there,
	// so that the fastest time is known. Nil says so of all points.
	Complete func(coll.Point) bool
}

// Learner predicts every algorithm it has measurements of. It is safe for
// concurrent use.
type Learner struct {
	scaler     *preprocess.Scaler
	algorithms []coll.Algorithm // as sorted by coll.CompareAlgorithms
	forests    []*forest.Forest
}

// Fit trains one forest for each algorithm in the measurements, which are of one
// collective. It returns an error for no measurements. O(trees · n log n).
//
// The algorithm scalings divide by the fastest time at the point. Where not every
// algorithm has been measured, that time is estimated: forests trained on the
// complete points say how far each measured algorithm is from the fastest, and
// the mean of these distances gives its time.
func Fit(ms []coll.Measurement, opt Options) (*Learner, error) {
	known, err := withFastest(ms, opt)
	if err != nil {
		return nil, err
	}
	scaler, err := preprocess.Fit(known, opt.Scaling)
	if err != nil {
		return nil, err
	}
	return train(ms, scaler, opt)
}

// withFastest adds to the measurements, at each point that is not complete, one
// that stands for the fastest algorithm.
func withFastest(ms []coll.Measurement, opt Options) ([]coll.Measurement, error) {
	if opt.Complete == nil || !relativeToFastest(opt.Scaling) {
		return ms, nil
	}
	var complete, partial []coll.Measurement
	for _, m := range ms {
		if opt.Complete(m.Point) {
			complete = append(complete, m)
		} else {
			partial = append(partial, m)
		}
	}
	if len(complete) == 0 || len(partial) == 0 {
		return ms, nil
	}
	scaler, err := preprocess.Fit(complete, preprocess.AlgorithmLog10)
	if err != nil {
		return nil, err
	}
	l, err := train(complete, scaler, opt)
	if err != nil {
		return nil, err
	}
	estimated, err := l.fastest(partial)
	return append(slices.Clone(ms), estimated...), err
}

func relativeToFastest(s preprocess.Scaling) bool {
	return s == preprocess.Algorithm || s == preprocess.AlgorithmLog10
}

// fastest estimates the fastest time at each point of the measurements from the
// distance that each algorithm there should have from it. The learner's units are
// log10 of that distance.
func (l *Learner) fastest(partial []coll.Measurement) ([]coll.Measurement, error) {
	partial = slices.SortedStableFunc(slices.Values(partial), compareMeasurements)
	points := pointsOf(partial)
	predicted, err := l.Predict(points)
	if err != nil {
		return nil, err
	}
	var out []coll.Measurement
	for p, start := 0, 0; start < len(partial); p++ {
		end, sum, n := start, 0.0, 0
		for ; end < len(partial) && partial[end].Point == points[p]; end++ {
			if a, ok := slices.BinarySearchFunc(l.algorithms, partial[end].Algorithm, coll.CompareAlgorithms); ok {
				sum += math.Log10(partial[end].Seconds) - predicted[a][p]
				n++
			}
		}
		if n > 0 {
			m := partial[start]
			m.Seconds = math.Pow(10, sum/float64(n))
			out = append(out, m)
		}
		start = end
	}
	return out, nil
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

// train grows the forests on targets as the scaler has them.
func train(ms []coll.Measurement, scaler *preprocess.Scaler, opt Options) (*Learner, error) {
	l := &Learner{scaler: scaler}
	targets := scaler.Apply(ms)
	rows := map[coll.Algorithm][]int{}
	for i, m := range ms {
		if rows[m.Algorithm] == nil {
			l.algorithms = append(l.algorithms, m.Algorithm)
		}
		rows[m.Algorithm] = append(rows[m.Algorithm], i)
	}
	slices.SortFunc(l.algorithms, coll.CompareAlgorithms)
	for _, alg := range l.algorithms {
		var x [][]float64
		var y []float64
		for _, i := range rows[alg] {
			f := preprocess.Features(ms[i].Point)
			x = append(x, f[:])
			y = append(y, targets[i])
		}
		fo := opt.Forest
		fo.Seed = mix(fo.Seed, alg)
		f, err := forest.Fit(x, y, fo)
		if err != nil {
			return nil, fmt.Errorf("forest of %s: %w", alg, err)
		}
		l.forests = append(l.forests, f)
	}
	return l, nil
}

// mix keeps the forest of one algorithm as it is when another one joins.
func mix(seed uint64, alg coll.Algorithm) uint64 {
	h := fnv.New64a()
	h.Write([]byte(alg.String()))
	return seed ^ h.Sum64()
}

// Algorithms returns what the learner can predict, in order; the caller must not
// change it.
func (l *Learner) Algorithms() []coll.Algorithm { return l.algorithms }

// Predict returns the prediction of each algorithm at each point in scaled units,
// one row for each of Algorithms. Lower is faster.
func (l *Learner) Predict(points []coll.Point) ([][]float64, error) {
	rows := preprocess.Rows(points)
	out := make([][]float64, len(l.forests))
	for a, f := range l.forests {
		mean, err := f.Predict(rows)
		if err != nil {
			return nil, err
		}
		out[a] = mean
	}
	return out, nil
}

// PredictVariance returns the variance of the forest's mean of one algorithm at
// the points, by the infinitesimal jackknife; nil when the learner does not know
// the algorithm.
func (l *Learner) PredictVariance(alg coll.Algorithm, points []coll.Point) ([]float64, error) {
	a := slices.Index(l.algorithms, alg)
	if a < 0 {
		return nil, nil
	}
	_, variance, err := l.forests[a].PredictVariance(preprocess.Rows(points))
	return variance, err
}

// Relative turns scaled predictions of several algorithms at one point into
// numbers in proportion to their times; see preprocess.Scaler.Relative.
func (l *Learner) Relative(scaled []float64) ([]float64, error) { return l.scaler.Relative(scaled) }

// Choose returns for each point of the space the index into its Algorithms with
// the lowest prediction among those that can run there, -1 where the learner
// knows none of them.
func (l *Learner) Choose(s *space.Space) ([]int, error) {
	predicted, err := l.Predict(s.Points())
	if err != nil {
		return nil, err
	}
	column := make([]int, len(s.Algorithms()))
	for a, alg := range s.Algorithms() {
		column[a] = slices.Index(l.algorithms, alg)
	}
	choice := make([]int, len(s.Points()))
	for i := range choice {
		choice[i] = -1
		lowest := math.Inf(1)
		for _, a := range s.Feasible(i) {
			if c := column[a]; c >= 0 && predicted[c][i] < lowest {
				choice[i], lowest = a, predicted[c][i]
			}
		}
	}
	return choice, nil
}
