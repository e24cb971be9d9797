package learner

import (
	"fmt"
	"math"

	"tutti/coll"
	"tutti/preprocess"
)

// fitGaussian takes the belief of the measurements.
func fitGaussian(ms []coll.Measurement, scaler *preprocess.Scaler, opt Options) (*Learner, error) {
	if opt.Scaling != preprocess.AlgorithmLog10 {
		return nil, fmt.Errorf("model %s with scaling %s: want %s", opt.Model, opt.Scaling, preprocess.AlgorithmLog10)
	}
	b := opt.Belief
	if b == nil {
		var err error
		if b, err = opt.Nothing().Next(ms, opt.Repeats, opt.Earlier...); err != nil {
			return nil, err
		}
	}
	return &Learner{scaler: scaler, allowed: opt.Allowed.WithDefaults(), algorithms: b.algorithms, gaussian: b.process, noise: b.noise}, nil
}

// predictGaussian returns predictions of the Gaussian process, relative to the fastest one at
// each point.
func (l *Learner) predictGaussian(points []coll.Point) [][]float64 {
	out := l.gaussian.Means(preprocess.SurrogateRows(points), len(l.algorithms))
	for i := range points {
		least := fastest(out, i)
		for a := range out {
			out[a][i] -= least
		}
	}
	return out
}

// fastest is the least of column i.
func fastest(table [][]float64, i int) float64 {
	least := math.Inf(1)
	for _, row := range table {
		least = min(least, row[i])
	}
	return least
}
