package campaign

import (
	"slices"

	"tutti/coll"
	"tutti/metrics"
	"tutti/store"
	"tutti/surrogate/learner"
)

// confirming reports whether a round is to check that the criteria hold: by the last
// evaluation the belief alone says so.
func (r *run) confirming() bool {
	n := len(r.result.Evaluations)
	if r.spec.Judge != ByPrediction || n == 0 {
		return false
	}
	e := r.result.Evaluations[n-1]
	return r.watch.Holds(metrics.Summary{Slowdown: e.SlowdownUpper, Mistakes: e.MistakesUpper})
}

// checked counts what a round that checks the belief of before has shown, and what those
// before it have. At each point that was drawn, what was chosen is held against everything that
// is measured there by now.
func (r *run) checked(before, now *models, eval *store.Evaluation) error {
	if n := len(r.result.Evaluations); n > 0 {
		last := r.result.Evaluations[n-1]
		eval.Checks, eval.CheckLoss, eval.CheckMistakes = last.Checks, last.CheckLoss, last.CheckMistakes
	}
	if before == nil || !r.confirming() {
		return nil
	}
	risks, err := r.shown(before, now)
	if err != nil {
		return err
	}
	for _, k := range risks {
		eval.Checks++
		eval.CheckLoss += k.Loss
		eval.CheckMistakes += k.Mistake
	}
	return nil
}

// shown is what choices of before turn out to lose to measured algorithms, at the points that
// were drawn since.
func (r *run) shown(before, now *models) ([]learner.Risk, error) {
	var points []coll.Point
	for _, m := range r.ledger.Measurements()[before.seen:] {
		if why, _ := r.reason(m.Candidate); why.Check && !slices.Contains(points, m.Point) {
			points = append(points, m.Point)
		}
	}
	choose, err := r.chosen(before, points)
	if err != nil {
		return nil, err
	}
	points, choices := before.judged(points, choose, before.options.open)
	times := now.options.times()
	known := func(p coll.Point) []coll.Algorithm {
		choice := choose(p)
		return slices.DeleteFunc(slices.Clone(before.options.open(p)), func(alg coll.Algorithm) bool {
			_, seen := times[coll.Candidate{Point: p, Algorithm: alg}]
			return alg != choice && !seen
		})
	}
	return now.gaussian.Risks(points, choices, known, times, r.lastScale().Root(), r.spec.Metrics)
}
