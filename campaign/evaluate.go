package campaign

import (
	"errors"

	"tutti/coll"
	"tutti/journal"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// evaluate says how good the selection of a round is, by the figures of Spec.Judge. It
// reports false while there are none: with one point, or one algorithm at each.
func (r *run) evaluate(round int) (eval journal.Evaluation, ok bool, err error) {
	l := r.ledger
	eval = journal.Evaluation{
		Round:          round,
		Trials:         l.Trials(),
		Points:         l.PointsMeasured(),
		MachineSeconds: l.CostSeconds(),
		NodeSeconds:    l.NodeSeconds(),
		PointShare:     float64(l.PointsMeasured()) / float64(len(l.Space().Points())),
		CandidateShare: float64(len(l.Measurements())) / float64(l.Space().Size()),
		Source:         string(r.spec.Judge),
		Doubted:        len(r.doubts),
	}
	switch {
	case r.spec.Judge != ByReference && r.complete():
		ok, err = r.measured(&eval)
		return eval, ok, err
	case r.spec.Judge == ByPrediction:
		ok, err = r.predict(round, &eval)
		return eval, ok, err
	}
	held, err := r.heldOut()
	if err != nil || len(held.Slowdowns) == 0 {
		return eval, false, err
	}
	sum, err := metrics.Summarize(held.Slowdowns, r.problem.Weigh(r.spec.Metrics, held.Points))
	if err != nil {
		return eval, false, ignoreEmpty(err)
	}
	describe(&eval, sum)
	if r2, err := held.R2(coll.Algorithm{}); err == nil {
		eval.R2 = r2
	}
	return eval, true, nil
}

// heldOut compares the choice of models trained on what is measured with the
// truth, or that of models trained on part of it with the rest.
func (r *run) heldOut() (learner.Validation, error) {
	if r.spec.Judge == ByReference {
		l, err := r.fit()
		if err != nil {
			return learner.Validation{}, err
		}
		return l.Compare(r.problem.Truth)
	}
	if r.ledger.PointsMeasured() < 2 {
		return learner.Validation{}, nil
	}
	return learner.CrossValidate(r.data(), r.spec.Folds, r.spec.Seed, r.spec.Learner)
}

// describe fills in a summary.
func describe(eval *journal.Evaluation, sum metrics.Summary) {
	eval.Judged = sum.Points
	eval.Slowdown, eval.Accuracy, eval.Mistakes = sum.Slowdown, sum.Accuracy, sum.Mistakes
	eval.P95Slowdown, eval.WorstSlowdown = sum.P95, sum.Worst
}

// ignoreEmpty is nil when none of the points matters: then there are no figures.
func ignoreEmpty(err error) error {
	if errors.Is(err, metrics.ErrEmpty) {
		return nil
	}
	return err
}
