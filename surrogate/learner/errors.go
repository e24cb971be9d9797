package learner

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// ErrorModel is a distribution of the errors of predictions. An error is distributed as Student's t with
// Freedom degrees of freedom, times Scale standard deviations of the posterior.
type ErrorModel struct{ Scale, Freedom float64 }

// errorModels returns all error models. Scales and degrees of freedom are powers of two.
func errorModels() (all []ErrorModel) {
	for scale := 1.0 / maxErrorScale; scale <= maxErrorScale; scale *= 2 {
		for freedom := minFreedom; freedom <= maxFreedom; freedom *= 2 {
			all = append(all, ErrorModel{scale, freedom})
		}
	}
	return all
}

// Scores says how well each error model predicted measurements. A score is the sum of the log probability
// densities that the model predicted for the measurements. Scores is nil without measurements.
type Scores []float64

// logDensity returns the log probability density of a prediction error. The variance of the error is the sum of
// the posterior's variance and the noise.
func (m ErrorModel) logDensity(err, variance, noise float64) float64 {
	return distuv.StudentsT{Sigma: math.Sqrt(m.Scale*m.Scale*variance + noise), Nu: m.Freedom}.LogProb(err)
}

// Score updates the scores of the error models by measurements that the posterior does not use. It ignores
// measurements of algorithms that the posterior does not know, and all but the last maxScored. If the error
// models have equal prior probabilities, their posterior probabilities are proportional to exp(score).
//
// Source: Dawid, Statistical Theory: The Prequential Approach, J. Royal Statistical Society A 147 (1984).
func (p *Posterior) Score(s Scores, ms iter.Seq[coll.Measurement]) (Scores, error) {
	models := errorModels()
	out := make(Scores, len(models))
	copy(out, s)
	var known []coll.Measurement
	for m := range ms {
		if p.Knows(m.Algorithm) {
			known = append(known, m)
		}
	}
	known = known[max(0, len(known)-maxScored):]
	for some := range slices.Chunk(known, 2*blockPoints) {
		points, entries := make([]coll.Point, len(some)), make([]gp.Entry, len(some))
		for i, m := range some {
			points[i], entries[i] = m.Point, gp.Entry{Row: i, Task: p.Task(m.Algorithm, 0)}
		}
		posterior, err := p.gaussian.Posterior(preprocess.SurrogateRows(points), entries)
		if err != nil {
			return nil, err
		}
		for i, m := range some {
			for k, e := range models {
				out[k] = forgetting*out[k] + e.logDensity(math.Log10(m.Seconds)-posterior.Mean(i), posterior.Variance(i), p.noise.Of(m))
			}
		}
	}
	return out, nil
}

// probabilities returns the probabilities of the error models, given their scores. Without scores they are
// equal.
func probabilities(scores Scores) ([]float64, error) {
	out := make([]float64, len(errorModels()))
	if scores == nil {
		scores = out
	}
	if len(scores) != len(out) {
		return nil, fmt.Errorf("%d scores of %d error models", len(scores), len(out))
	}
	total := floats.LogSumExp(scores)
	for k, s := range scores {
		out[k] = math.Exp(s - total)
	}
	return out, nil
}

// leaveOneOut returns the log probability density of each of the n observations of a Gaussian process,
// predicted from all others. It uses the error model with the greatest sum of these densities.
//
// Source: Rasmussen and Williams, Gaussian Processes for ML (2006), equation 5.11, with the error model in
// place of the normal distribution.
func leaveOneOut(m *gp.GP, n int) (densities []float64) {
	all := make([]int, n)
	for j := range all {
		all[j] = j
	}
	residuals, deviations := m.LOOResiduals(all)
	for _, e := range errorModels() {
		of := make([]float64, n)
		for j, r := range residuals {
			of[j] = e.logDensity(r, deviations[j]*deviations[j], 0)
		}
		if densities == nil || floats.Sum(of) > floats.Sum(densities) {
			densities = of
		}
	}
	return densities
}
