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
	Algorithm coll.Algorithm
	Seconds   float64 // median
	Low, High float64 // 95 % interval
}

// intervalSigmas is half the width of a 95 % interval of a normal variable, in standard deviations.
const intervalSigmas = 1.96

// Times returns the posterior of the times of algorithms at a point, in their order. It leaves out algorithms without
// a measurement. Forests have no posterior: the result is empty. It takes O(algorithms · n²) operations for n
// measurements.
func (l *Learner) Times(p coll.Point, algorithms []coll.Algorithm) ([]PredictedTime, error) {
	if l.posterior == nil {
		return nil, nil
	}
	var entries []gp.Entry
	var out []PredictedTime
	for _, alg := range algorithms {
		if task, known := l.index(alg); known {
			entries = append(entries, gp.Entry{Task: task})
			out = append(out, PredictedTime{Algorithm: alg})
		}
	}
	order := make([]int, len(entries))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return entries[a].Task - entries[b].Task })
	sorted := make([]gp.Entry, len(entries))
	for i, k := range order {
		sorted[i] = entries[k]
	}
	posterior, err := l.posterior.gaussian.Posterior(preprocess.SurrogateRows([]coll.Point{p}), sorted)
	if err != nil {
		return nil, err
	}
	for i, k := range order {
		mean, sd := posterior.Mean(i), math.Sqrt(max(0, posterior.Variance(i)))
		out[k].Seconds = math.Pow(10, mean)
		out[k].Low, out[k].High = math.Pow(10, mean-intervalSigmas*sd), math.Pow(10, mean+intervalSigmas*sd)
	}
	return out, nil
}
