package activelearn

import (
	"errors"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// Evaluate evaluates the selection after a round. The parameter `failed` is the number of failed candidates
// that will be tried again. The result `ok` is false if there is nothing to evaluate yet: with a single
// measured point, or with only one algorithm at each point.
func (r *StopRule) Evaluate(round, failed int) (e Evaluation, ok bool, err error) {
	l := r.ledger
	e = Evaluation{
		Round:          round,
		Trials:         l.Trials(),
		Points:         l.PointsMeasured(),
		MachineSeconds: l.CostSeconds(),
		NodeSeconds:    l.NodeSeconds(),
		PointShare:     float64(l.PointsMeasured()) / float64(len(l.Space().Points())),
		CandidateShare: float64(l.CandidatesMeasured()) / float64(l.Space().Size()),
		Source:         r.opt.Source,
		Outliers:       len(r.outliers),
	}
	switch {
	case r.opt.Source != Reference && l.Left() == 0 && failed == 0:
		e.Source = measured
		ok, err = r.predict(&e)
		return e, ok, err
	case r.opt.Source == Predicted:
		ok, err = r.predict(&e)
		return e, ok, err
	}
	held, err := r.heldOut()
	if err != nil || len(held.Slowdowns) == 0 {
		return e, false, err
	}
	sum, err := metrics.Summarize(held.Slowdowns, r.weigh(held.Points))
	if err != nil {
		return e, false, ignoreEmpty(err)
	}
	e.describe(sum)
	if r2, err := held.R2(coll.Algorithm{}); err == nil {
		e.R2 = r2
	}
	return e, true, nil
}

// predict estimates how good a round's selection is over the space. It stores the results in e. First it
// compares the round's measurements with the predictions made before the round. This comparison scores the
// error models and shows which audits (measurements that check choices) found a mistake. predict returns false
// as long as no selected algorithm has a measurement.
func (r *StopRule) predict(e *Evaluation) (bool, error) {
	before := r.previous
	if last, ok := r.last(); ok {
		e.Scores = last.Scores
	}
	if before != nil {
		var err error
		if e.Scores, err = before.posterior.Score(e.Scores, r.ledger.After(before.measurements)); err != nil {
			return false, err
		}
	}
	r.evaluateAudits(e)
	f, err := r.forecast(*e)
	if err != nil {
		return false, ignoreEmpty(err)
	}
	sum, err := f.mean()
	if err != nil {
		return false, ignoreEmpty(err)
	}
	e.describe(sum)
	e.SlowdownUpper, e.MistakesUpper = f.upper(slowdown), f.upper(mistakes)
	e.Audits = len(r.audits)
	e.PConverged, e.PAttainable = float64(f.met)/float64(f.draws), float64(f.attained)/float64(f.draws)
	e.MistakesAttainable = stat.Mean(f.floors, nil)
	return true, nil
}

// forecast predicts the quality of the selection after a round. It also plans the next round's audits, which check
// choices by measuring. The evaluation e must already have the scores of the error models and the audits' results.
func (r *StopRule) forecast(e Evaluation) (*forecast, error) {
	now, err := r.models.snapshot()
	if err != nil {
		return nil, err
	}
	r.previous, r.audits, r.audited = now, nil, e.Audited
	points := r.SamplePoints(e.Round)
	choose, err := r.choiceOf(now, points)
	if err != nil {
		return nil, err
	}
	times := now.alternatives.trusted
	if e.Source == measured {
		times = now.alternatives.measurement
	}
	c := now.alternatives.predictable(now.posterior, points, choose)
	q := learner.DrawQuery{Scores: e.Scores, Rand: rand.New(rand.NewPCG(r.opt.Seed^drawStream, uint64(e.Round)))}
	f, err := c.forecast(now.posterior, q, times, r.weigh(c.points), r.watch.Meets)
	if err == nil && float64(f.met) >= confidence*float64(f.draws) {
		r.audits = r.planAudits(e.Round, f)
	}
	return f, err
}

// Refit fits the models to all measurements made so far. It also plans the next round's audits, which check choices
// by measuring. A resumed campaign calls Refit with the last evaluation in its journal. Refit does nothing unless
// the source of this evaluation is Predicted.
func (r *StopRule) Refit(e Evaluation) error {
	if r.opt.Source != Predicted {
		return nil
	}
	_, err := r.forecast(e)
	return ignoreEmpty(err)
}

// Accepts reports whether a selection that other models make is also expected to meet the stopping criteria.
// The campaign's posterior predicts the quality of this selection, as it does for the campaign's own
// selection. If no evaluation has used the posterior, Accepts returns true.
func (r *StopRule) Accepts(models *learner.Learner) (bool, error) {
	e, ok := r.last()
	if !ok || e.Source == CrossValidated || e.Source == Reference {
		return true, nil
	}
	own, err := r.models.Fit()
	if err != nil {
		return false, err
	}
	points := r.SamplePoints(e.Round)
	choose, err := r.merge(NewAlternatives(models, r.ledger), points)
	if err != nil {
		return false, err
	}
	s, ok, err := NewAlternatives(own, r.ledger).Expected(points, choose, r.weigh(points), e.Scores, r.opt.Seed)
	return ok && r.watch.Meets(s), err
}

// heldOut compares the model's predictions with measurements to which the model was not fitted. These are the
// reference measurements or, in cross-validation, the measurements of each fold in turn.
func (r *StopRule) heldOut() (learner.Validation, error) {
	if r.opt.Source == Reference {
		l, err := r.models.Fit()
		if err != nil {
			return learner.Validation{}, err
		}
		return l.Compare(slices.DeleteFunc(slices.Clone(r.opt.Reference), func(m coll.Measurement) bool {
			return !r.ledger.Space().Has(m.Candidate) // reference measurements of candidates outside the space do not count
		}))
	}
	if r.ledger.PointsMeasured() < 2 {
		return learner.Validation{}, nil
	}
	return learner.CrossValidate(r.models.Data(), r.opt.Folds, r.opt.Seed, r.models.opt)
}

// ignoreEmpty returns nil if err says that no point has a weight, because there is nothing to evaluate in this
// case. It returns any other error unchanged.
func ignoreEmpty(err error) error {
	if errors.Is(err, metrics.ErrEmpty) {
		return nil
	}
	return err
}
