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
func Fit(ms []coll.Measurement, opt Options) (*Learner, error) {
	scaler, err := preprocess.Fit(ms, opt.Scaling)
	if err != nil {
		return nil, err
	}
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
