package learner

import (
	"fmt"
	"iter"
	"math"

	"tutti/coll"
	"tutti/preprocess"
)

// fitGaussian returns a learner that predicts by a Gaussian process, conditioned on the data.
func fitGaussian(d Data, scaler *preprocess.Scaler, opt Options) (*Learner, error) {
	if opt.Scaling != preprocess.AlgorithmLog10 {
		return nil, fmt.Errorf("model %s with scaling %s: want %s", opt.Model, opt.Scaling, preprocess.AlgorithmLog10)
	}
	p := d.Posterior
	if p == nil {
		var err error
		if p, err = EmptyPosterior(opt.Prior).Update(d); err != nil {
			return nil, err
		}
	}
	return &Learner{
		scaler: scaler, allowed: opt.Allowed.WithDefaults(), algorithms: p.algorithms, posterior: p,
	}, nil
}

// predictGaussian returns the predictions for each point: the posterior means minus the lowest mean at the
// point.
func (l *Learner) predictGaussian(points []coll.Point) [][]float64 {
	out := l.posterior.gaussian.Means(preprocess.SurrogateRows(points), len(l.algorithms))
	for i := range points {
		lowest := math.Inf(1)
		for _, row := range out {
			lowest = min(lowest, row[i])
		}
		for a := range out {
			out[a][i] -= lowest
		}
	}
	return out
}

// Posterior returns the posterior of a Gaussian process, nil for forests.
func (l *Learner) Posterior() *Posterior { return l.posterior }

// NoisyCandidates returns the candidates whose measured times should not replace their predictions. The
// parameter `ms` must have the learner's training data. The result has the candidates of noisy measurements
// that are close to their predictions. There the prediction is more accurate, because it also uses
// neighboring measurements. With forests there are none. It takes O(n²) operations.
func (l *Learner) NoisyCandidates(ms iter.Seq[coll.Measurement]) map[coll.Candidate]bool {
	var noisy []coll.Measurement
	for m := range ms {
		if l.posterior != nil && l.posterior.noise.Of(m) > noisyFactor*preprocess.MeasurementNoise {
			noisy = append(noisy, m)
		}
	}
	at := map[coll.Point]int{}
	var points []coll.Point
	for _, m := range noisy {
		if _, seen := at[m.Point]; !seen {
			at[m.Point] = len(points)
			points = append(points, m.Point)
		}
	}
	if len(points) == 0 {
		return nil
	}
	out := map[coll.Candidate]bool{}
	means := l.posterior.gaussian.Means(preprocess.SurrogateRows(points), len(l.algorithms))
	for _, m := range noisy {
		a, known := l.index(m.Algorithm)
		if known && math.Abs(math.Log10(m.Seconds)-means[a][at[m.Point]]) < trustedSigma*math.Sqrt(l.posterior.noise.Of(m)) {
			out[m.Candidate] = true
		}
	}
	return out
}
