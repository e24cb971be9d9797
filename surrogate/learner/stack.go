package learner

import (
	"math"
	"slices"

	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/gp"
)

const (
	stackFolds = 10
	// Forests have a weight only if they are better by so many standard errors.
	stackErrors = 2.0
)

// stackWeights are the weights of the forests that are tried; the Gaussian process has
// the rest.
var stackWeights = []float64{0, 0.25, 0.5, 0.75, 1}

// stack adds forests, trained on times relative to the fastest one that the Gaussian
// process predicts at the point, where they have a weight; see weigh.
//
// Source: Wolpert, Stacked Generalization, Neural Networks 5 (1992).
func (l *Learner) stack(ms []coll.Measurement, b *Belief, opt Options) error {
	l.weighed = ms[:learntFrom(len(ms), reweighEvery)]
	if before := opt.Before; before != nil && slices.Equal(before.weighed, l.weighed) {
		l.weight = before.weight
	} else if err := l.weigh(ms, b, opt); err != nil {
		return err
	}
	if l.weight == 0 {
		return nil
	}
	forests, err := l.beside(ms, b.obs, opt)
	if err != nil {
		return err
	}
	l.forests, l.rows = forests.forests, forests.rows
	return nil
}

// beside grows forests of all algorithms beside the Gaussian process, of which obs are the
// observations that begin with the measurements.
func (l *Learner) beside(ms []coll.Measurement, obs gp.Observations, opt Options) (*Learner, error) {
	here := l.gaussian.Means(obs.X, len(l.algorithms))
	targets := make([]float64, len(ms))
	for j := range targets {
		targets[j] = obs.Y[j] - fastest(here, obs.At[j])
	}
	return train(ms, targets, opt.Forest)
}

// weigh weights the forests by the first of the measurements of a belief. The weight is the
// one whose choices among what was measured at each point lose least, the least of equal ones.
// What both predict there is predicted without the point: by the Gaussian process from
// other folds, by each forest out of bag.
func (l *Learner) weigh(ms []coll.Measurement, b *Belief, opt Options) error {
	if len(l.weighed) < len(ms) {
		var err error
		ms = l.weighed
		if b, err = b.Next(ms, b.repeats, opt.Earlier...); err != nil {
			return err
		}
	}
	of := &Learner{algorithms: b.algorithms, gaussian: b.process}
	forests, err := of.beside(ms, b.obs, opt)
	if err != nil {
		return err
	}
	if len(forests.algorithms) < len(of.algorithms) {
		return nil // the others are known from earlier alone
	}
	points, err := of.heldOut(b.obs, forests.outOfBag(len(ms)), opt.Forest.Seed)
	if err != nil {
		return err
	}
	for j, m := range ms {
		points[b.obs.At[j]].weight = opt.weight(m.Point)
	}
	l.weight = weightOf(points, l.allowed)
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

// heldPoint is a point with what is known there.
type heldPoint struct {
	weight float64
	known  []held
}

// heldOut gathers the measurements of each row that both kinds of models predict.
func (l *Learner) heldOut(obs gp.Observations, forest []float64, seed uint64) ([]heldPoint, error) {
	seen := obs.Sample(beliefMost)
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
	points := make([]heldPoint, len(obs.X))
	for j, k := range obs.Sampled(beliefMost) {
		if k < len(forest) && !math.IsNaN(forest[k]) {
			p := &points[obs.At[k]]
			p.known = append(p.known, held{seen.Y[j], gaussian[j], forest[k]})
		}
	}
	return points, nil
}

// weightOf is the weight of the forests that loses least on held-out points. What it
// spares beside the Gaussian process alone must exceed stackErrors standard errors of it.
func weightOf(points []heldPoint, allowed metrics.Allowed) float64 {
	alone := lossesOf(points, 0, allowed)
	weight, most := 0.0, 0.0
	for _, w := range stackWeights[1:] {
		sum, squares := 0.0, 0.0
		for i, lost := range lossesOf(points, w, allowed) {
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

// lossesOf is what the choice loses at each point, in units of what is allowed and by the
// point's weight, when the forests have weight w.
func lossesOf(points []heldPoint, w float64, allowed metrics.Allowed) []float64 {
	out := make([]float64, len(points))
	for i, p := range points {
		here := p.known
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
		out[i] = p.weight * allowed.LossOf(math.Pow(10, chosen-best)-1)
	}
	return out
}
