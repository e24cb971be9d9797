package learner

import (
	"fmt"
	"math"

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

// Scores are the sums of the log probability densities that the error models of a process gave to
// measurements before they were made. A process is a Gaussian process with or without steps. The zero value
// has no measurements.
type Scores struct {
	Steps  []float64 `json:"steps,omitempty"`
	Smooth []float64 `json:"smooth,omitempty"`
}

// logDensity returns the log probability density of an error. Its variance is that of the posterior plus
// that of the noise.
func (m ErrorModel) logDensity(err, variance, noise float64) float64 {
	return distuv.StudentsT{Sigma: math.Sqrt(m.Scale*m.Scale*variance + noise), Nu: m.Freedom}.LogProb(err)
}

// Score adds the scores of measurements that the posterior does not use. It ignores measurements of
// algorithms that the posterior does not know. With equal prior probabilities, error models have posterior probabilities in
// proportion to exp(score).
//
// Source: Dawid, Statistical Theory: The Prequential Approach, J. Royal Statistical Society A 147 (1984).
func (p *Posterior) Score(s Scores, ms []coll.Measurement) (Scores, error) {
	steps, err := p.withSteps()
	if err != nil {
		return s, err
	}
	smooth, err := p.Smooth()
	if err != nil {
		return s, err
	}
	if s.Steps, err = p.score(steps, s.Steps, ms); err != nil {
		return s, err
	}
	s.Smooth, err = p.score(smooth, s.Smooth, ms)
	return s, err
}

// score adds the scores of measurements under the error models of one process.
func (p *Posterior) score(m *gp.GP, scores []float64, ms []coll.Measurement) ([]float64, error) {
	models := errorModels()
	out := make([]float64, len(models))
	copy(out, scores)
	var known []coll.Measurement
	var points []coll.Point
	var entries []gp.Entry
	for _, m := range ms {
		if p.Knows(m.Algorithm) {
			entries = append(entries, gp.Entry{Row: len(points), Task: p.Task(m.Algorithm, 0)})
			points, known = append(points, m.Point), append(known, m)
		}
	}
	if len(points) == 0 {
		return out, nil
	}
	posterior, err := m.Posterior(preprocess.SurrogateRows(points), entries)
	if err != nil {
		return nil, err
	}
	for i, m := range known {
		for k, e := range models {
			out[k] = forgetting*out[k] + e.logDensity(math.Log10(m.Seconds)-posterior.Mean(i), posterior.Variance(i), p.noise.Of(m))
		}
	}
	return out, nil
}

// probabilities returns the probabilities of the error models, given their scores. Without scores they are
// equal.
func probabilities(scores []float64) ([]float64, error) {
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

// leaveOneOut returns the log probability density of the observations of a Gaussian process, each given all
// others, under the error model that makes it the greatest.
//
// Source: Rasmussen and Williams, Gaussian Processes for ML (2006), equation 5.11, with the normal
// distribution replaced.
func leaveOneOut(m *gp.GP, n int) float64 {
	all := make([]int, n)
	for j := range all {
		all[j] = j
	}
	residuals, deviations := m.LOOResiduals(all)
	best := math.Inf(-1)
	for _, e := range errorModels() {
		sum := 0.0
		for j, r := range residuals {
			sum += e.logDensity(r, deviations[j]*deviations[j], 0)
		}
		best = max(best, sum)
	}
	return best
}
