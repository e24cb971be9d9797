package learner

import (
	"math"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// PredictedTime is the posterior of the time of one candidate, without the noise of a new measurement.
type PredictedTime struct {
	Seconds   float64 // median
	Low, High float64 // 95 % interval
}

// intervalSigmas is half the width of a 95 % interval of a normal variable, in standard deviations.
const intervalSigmas = 1.96

// Times returns the posterior of the times of algorithms at a point. It leaves out algorithms without a measurement.
// Forests have no posterior: the result is empty. It takes O(algorithms · n²) operations for n measurements.
func (l *Learner) Times(p coll.Point, algorithms []coll.Algorithm) (map[coll.Algorithm]PredictedTime, error) {
	if l.posterior == nil {
		return nil, nil
	}
	var entries []gp.Entry
	for task, alg := range l.algorithms {
		if slices.Contains(algorithms, alg) {
			entries = append(entries, gp.Entry{Task: task})
		}
	}
	posterior, err := l.posterior.gaussian.Posterior(preprocess.SurrogateRows([]coll.Point{p}), entries)
	if err != nil {
		return nil, err
	}
	out := map[coll.Algorithm]PredictedTime{}
	for i, e := range entries {
		mean, sd := posterior.Mean(i), math.Sqrt(max(0, posterior.Variance(i)))
		out[l.algorithms[e.Task]] = PredictedTime{
			Seconds: math.Pow(10, mean),
			Low:     math.Pow(10, mean-intervalSigmas*sd), High: math.Pow(10, mean+intervalSigmas*sd),
		}
	}
	return out, nil
}
