package campaign

import (
	"slices"

	"tutti/coll"
	"tutti/journal"
	"tutti/surrogate/learner"
)

// confirming reports whether a round is to check that the criteria hold: the last evaluation
// says so.
func (r *run) confirming() bool { return r.spec.Judge == ByPrediction && r.holds() }

// checked holds the upper ends against what a round that checks the belief of before has
// shown, and those before it since the criteria hold. At each point that was measured, what was
// chosen is held against everything that is measured there by now; what that loses on average
// is the least that upper ends can be.
func (r *run) checked(before, now *models, eval *journal.Evaluation) error {
	if before == nil || !r.confirming() {
		return nil
	}
	risks, err := r.shown(before, now)
	if err != nil {
		return err
	}
	last := r.result.Evaluations[len(r.result.Evaluations)-1]
	eval.Checks, eval.CheckLoss, eval.CheckMistakes = last.Checks, last.CheckLoss, last.CheckMistakes
	for _, k := range risks {
		eval.Checks++
		eval.CheckLoss += k.Loss
		eval.CheckMistakes += k.Mistake
	}
	if n := float64(eval.Checks); n > 0 {
		eval.SlowdownUpper = max(eval.SlowdownUpper, 1+eval.CheckLoss/n)
		eval.MistakesUpper = max(eval.MistakesUpper, eval.CheckMistakes/n)
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
	measured := func(i int) []coll.Algorithm {
		p, choice := points[i], choices[i]
		return slices.DeleteFunc(slices.Clone(before.options.open(p)), func(alg coll.Algorithm) bool {
			_, seen := times[coll.Candidate{Point: p, Algorithm: alg}]
			return alg != choice && !seen
		})
	}
	return now.gaussian.Risks(learner.RiskQuery{
		Points: points, Choices: choices, Open: measured, Measured: times, Scale: r.lastScale(), Metrics: r.spec.Metrics,
	})
}
