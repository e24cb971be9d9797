package learner

import (
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// gaussianMost is how many measurements a Gaussian process is conditioned on, an even
// sample of the points where there are more: its cost grows with the cube.
const gaussianMost = 1500

// fitGaussian conditions a Gaussian process of all algorithms on the measurements and
// on those of earlier campaigns; for Stack it adds forests.
func fitGaussian(ms []coll.Measurement, scaler *preprocess.Scaler, opt Options) (*Learner, error) {
	if opt.Scaling != preprocess.AlgorithmLog10 {
		return nil, fmt.Errorf("model %s with scaling %s: want %s", opt.Model, opt.Scaling, preprocess.AlgorithmLog10)
	}
	l := &Learner{scaler: scaler}
	for _, known := range append([][]coll.Measurement{ms}, opt.Earlier...) {
		for _, m := range known {
			l.algorithms = append(l.algorithms, m.Algorithm)
		}
	}
	slices.SortFunc(l.algorithms, coll.CompareAlgorithms)
	l.algorithms = slices.Compact(l.algorithms)
	index := make(map[coll.Algorithm]int, len(l.algorithms))
	for a, alg := range l.algorithms {
		index[alg] = a
	}
	obs := preprocess.Observations(ms, index, opt.Earlier...)
	var err error
	l.gaussian, err = gp.FitMulti(obs.Sample(gaussianMost), gp.MultiOptions{
		Length: preprocess.LengthScales(), Noise: preprocess.MeasurementNoise,
	})
	if err != nil {
		return nil, fmt.Errorf("surrogate of %d measurements: %w", len(ms), err)
	}
	if opt.Model == Stack {
		err = l.stack(ms, obs, opt)
	}
	return l, err
}

// predictGaussian returns predictions of the Gaussian process, and of the forests as far
// as they have a weight, relative to the fastest one at each point.
func (l *Learner) predictGaussian(points []coll.Point) ([][]float64, error) {
	out := l.gaussian.Means(preprocess.SurrogateRows(points), len(l.algorithms))
	for i := range points {
		least := fastest(out, i)
		for a := range out {
			out[a][i] -= least
		}
	}
	if l.weight == 0 {
		return out, nil
	}
	rows := preprocess.Rows(points)
	for a, f := range l.forests {
		mean, err := f.Predict(rows)
		if err != nil {
			return nil, err
		}
		for i, v := range mean {
			out[a][i] = (1-l.weight)*out[a][i] + l.weight*v
		}
	}
	return out, nil
}

// fastest is the least of column i.
func fastest(table [][]float64, i int) float64 {
	least := math.Inf(1)
	for _, row := range table {
		least = min(least, row[i])
	}
	return least
}
