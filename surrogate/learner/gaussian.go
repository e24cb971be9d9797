package learner

import (
	"fmt"
	"math"

	"tutti/coll"
	"tutti/preprocess"
)

// fitGaussian returns a learner of the posterior given the data.
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
		scaler: scaler, allowed: opt.Allowed.WithDefaults(), algorithms: p.algorithms, gaussian: p.gaussian, noise: p.noise,
	}, nil
}

// predictGaussian returns the posterior means minus the lowest mean at each point.
func (l *Learner) predictGaussian(points []coll.Point) [][]float64 {
	out := l.gaussian.Means(preprocess.SurrogateRows(points), len(l.algorithms))
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

// Noise returns the noise of the measurements as a Gaussian process estimates it from replicates.
func (l *Learner) Noise() preprocess.Noise { return l.noise }

const (
	// A measurement is noisy if its variance exceeds this multiple of preprocess.MeasurementNoise,
	// which means a deviation of 6 % of the time. The fastest of several noisy measurements is
	// often fast by chance.
	noisyFactor = 9
	// A noisy measurement that differs from the posterior mean by this many standard deviations of
	// its noise is trusted, because the Gaussian process cannot explain it.
	trustedSigma = 3
)

// TrustedMeasurements returns the measurements of ms that replace the predictions of their
// candidates. ms must be the learner's training data. A noisy measurement near its prediction is
// left out, because the prediction is more accurate: it also uses neighboring measurements. Forests
// trust every measurement. It takes O(n²) operations.
func (l *Learner) TrustedMeasurements(ms []coll.Measurement) map[coll.Candidate]coll.Measurement {
	out := make(map[coll.Candidate]coll.Measurement, len(ms))
	var noisy []coll.Measurement
	for _, m := range ms {
		out[m.Candidate] = m
		if l.gaussian != nil && l.noise.Of(m) > noisyFactor*preprocess.MeasurementNoise {
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
		return out
	}
	means := l.gaussian.Means(preprocess.SurrogateRows(points), len(l.algorithms))
	for _, m := range noisy {
		a, known := l.index(m.Algorithm)
		if known && math.Abs(math.Log10(m.Seconds)-means[a][at[m.Point]]) < trustedSigma*math.Sqrt(l.noise.Of(m)) {
			delete(out, m.Candidate)
		}
	}
	return out
}
