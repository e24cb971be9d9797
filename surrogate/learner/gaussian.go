package learner

import (
	"fmt"
	"iter"
	"math"

	"tutti/coll"
	"tutti/preprocess"
)

// fitGaussian returns a learner that predicts by a Gaussian process, conditioned on the data.
func fitGaussian(d Data, opt Options) (*Learner, error) {
	scaler, err := preprocess.Fit(d.Measurements, opt.Scaling)
	if err != nil {
		return nil, err
	}
	if opt.Scaling != preprocess.AlgorithmLog10 {
		return nil, fmt.Errorf("model %s with scaling %s: want %s", opt.Model, opt.Scaling, preprocess.AlgorithmLog10)
	}
	p := d.Posterior
	if p == nil {
		if p, err = NewPosterior(d); err != nil {
			return nil, err
		}
	}
	return &Learner{
		scaler: scaler, allowed: opt.Allowed.WithDefaults(), algorithms: p.algorithms, posterior: p,
	}, nil
}

// predictGaussian returns the predictions for each point: the posterior means minus the lowest mean there.
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

// NoisyCandidates returns the candidates whose measured times should not replace their predictions.
// `ms` must have the learner's training data. These candidates have noisy measurements that are close to their
// predictions. The prediction is more accurate, because it also uses neighboring measurements. Forests have no such
// candidates. NoisyCandidates takes O(n²) operations.
func (l *Learner) NoisyCandidates(ms iter.Seq[coll.Measurement]) map[coll.Candidate]bool {
	isNoisy := func(m coll.Measurement) bool {
		return l.posterior != nil && l.posterior.noise.Of(m) > noisyFactor*preprocess.MeasurementNoise
	}
	at := map[coll.Point]int{}
	var points []coll.Point
	for m := range ms {
		if _, seen := at[m.Point]; !seen && isNoisy(m) {
			at[m.Point] = len(points)
			points = append(points, m.Point)
		}
	}
	if len(points) == 0 {
		return nil
	}
	out := map[coll.Candidate]bool{}
	means := l.posterior.gaussian.Means(preprocess.SurrogateRows(points), len(l.algorithms))
	for m := range ms {
		a, known := l.index(m.Algorithm)
		if known && isNoisy(m) && math.Abs(math.Log10(m.Seconds)-means[a][at[m.Point]]) < trustedSigma*math.Sqrt(l.posterior.noise.Of(m)) {
			out[m.Candidate] = true
		}
	}
	return out
}
