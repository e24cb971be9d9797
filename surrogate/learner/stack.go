package learner

import (
	"math"

	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/gp"
)

const (
	stackFolds = 10
	// The criteria's usual limits, by which losses and mistakes are weighed.
	stackSlowdown = 0.03
	stackMistakes = 0.05
	// Forests have a weight only if they are better by so many standard errors.
	stackErrors = 2.0
)

// stackWeights are the weights of the forests that are tried; the Gaussian process has
// the rest.
var stackWeights = []float64{0, 0.25, 0.5, 0.75, 1}

// stack adds forests, trained on times relative to the fastest one that the Gaussian
// process predicts at the point, and weights them. The weight is the one whose choices
// among what was measured at each point lose least, the least of equal ones. What both
// predict there is predicted without the point: by the Gaussian process from other folds,
// by each forest out of bag.
//
// Source: Wolpert, Stacked Generalization, Neural Networks 5 (1992).
func (l *Learner) stack(ms []coll.Measurement, obs gp.Observations, opt Options) error {
	here := l.gaussian.Means(obs.X, len(l.algorithms))
	targets := make([]float64, len(ms))
	for j := range targets {
		targets[j] = obs.Y[j] - fastest(here, obs.At[j])
	}
	forests, err := train(ms, targets, opt.Forest)
	if err != nil {
		return err
	}
	if len(forests.algorithms) < len(l.algorithms) {
		return nil // the others are known from earlier alone
	}
	sets, err := l.heldOut(obs, forests.outOfBag(len(ms)), opt.Forest.Seed)
	if err != nil {
		return err
	}
	l.weight = weightOf(sets)
	l.forests, l.rows = forests.forests, forests.rows
	return nil
}

// outOfBag returns the out-of-bag prediction of each measurement, NaN where there is
// none.
func (l *Learner) outOfBag(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	for a, f := range l.forests {
		left, mean := f.OutOfBag()
		for k, row := range left {
			out[l.rows[a][row]] = mean[k]
		}
	}
	return out
}

// held is a measurement with what was predicted for it without it, all in decades.
type held struct{ measured, gaussian, forest float64 }

// heldOut gathers the measurements of each point that both kinds of models predict.
func (l *Learner) heldOut(obs gp.Observations, forest []float64, seed uint64) ([][]held, error) {
	seen := obs.Sample(gaussianMost)
	folds := make([]int, len(seen.Y))
	of := deal(len(seen.X), stackFolds, seed)
	for j, u := range seen.At {
		folds[j] = of[u]
		if seen.Source != nil && seen.Source[j] != 0 {
			folds[j] = -1
		}
	}
	gaussian, err := l.gaussian.HeldOut(folds)
	if err != nil {
		return nil, err
	}
	sets := make([][]held, len(seen.X))
	for j, k := range obs.Sampled(gaussianMost) {
		if k < len(forest) && !math.IsNaN(forest[k]) {
			sets[seen.At[j]] = append(sets[seen.At[j]], held{seen.Y[j], gaussian[j], forest[k]})
		}
	}
	return sets, nil
}

// weightOf is the weight of the forests that loses least on held-out points. What it
// spares beside the Gaussian process alone must exceed stackErrors standard errors of it.
func weightOf(sets [][]held) float64 {
	alone := lossesOf(sets, 0)
	weight, most := 0.0, 0.0
	for _, w := range stackWeights[1:] {
		sum, squares := 0.0, 0.0
		for i, lost := range lossesOf(sets, w) {
			d := alone[i] - lost
			sum += d
			squares += d * d
		}
		if sum > most && sum > stackErrors*math.Sqrt(squares) {
			weight, most = w, sum
		}
	}
	return weight
}

// lossesOf is what the choice loses at each point, slowdown and mistakes in units of
// what the criteria allow, when the forests have weight w.
func lossesOf(sets [][]held, w float64) []float64 {
	out := make([]float64, len(sets))
	for i, here := range sets {
		if len(here) < 2 {
			continue
		}
		base, best := math.Inf(1), math.Inf(1)
		for _, h := range here {
			base, best = min(base, h.gaussian), min(best, h.measured)
		}
		chosen, lowest := 0.0, math.Inf(1)
		for _, h := range here {
			if v := (1-w)*(h.gaussian-base) + w*h.forest; v < lowest {
				lowest, chosen = v, h.measured
			}
		}
		lost := math.Pow(10, chosen-best) - 1
		out[i] = lost / stackSlowdown
		if lost > metrics.DefaultMistakeThreshold {
			out[i] += 1 / stackMistakes
		}
	}
	return out
}
