package activelearn

import (
	"errors"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"tutti/coll"
	"tutti/metrics"
	"tutti/selection"
	"tutti/surrogate/learner"
)

// Evaluator evaluates the selection that follows from the measurements of a ledger.
type Evaluator struct {
	opt      RuleOptions
	ledger   *Ledger
	models   *Models
	previous *snapshot // of the last forecast
}

const (
	// ruleStream changes the seed for the random points of evaluations, so that they are independent of the
	// points that strategies draw in the same round. If they were the same, measured points would be evaluated
	// more often than others. Any odd number would do.
	ruleStream = 0x9e3779b97f4a7c15
	// drawStream changes the seed for the random draws of forecasts.
	drawStream = 0xbf58476d1ce4e5b9
	// betweenStream changes the seed for the random draws of Between, at message sizes between two sizes of the
	// space.
	betweenStream = 0x94d049bb133111eb
	// auditStream changes the seed for the random points of audits.
	auditStream = 0xd1342543de82ef95
)

// Evaluate completes the evaluation of a round. e must have the round and the results of audits. failed is the number
// of failed candidates that will be tried again. Evaluate returns the forecast on which the evaluation is based; it is
// nil if measurements are compared. It returns false if there is nothing to evaluate yet.
func (r *Evaluator) Evaluate(e *Evaluation, failed int) (f *forecast, ok bool, err error) {
	e.setCost(r.ledger)
	e.PointShare = float64(e.Points) / float64(len(r.points()))
	e.Source = r.opt.Source
	switch {
	case r.opt.Source != Reference && r.ledger.FreeCount() == 0 && failed == 0:
		e.Source = measured
		return r.predict(e)
	case r.opt.Source == Predicted:
		return r.predict(e)
	}
	held, err := r.heldOut()
	if err != nil || len(held.Slowdowns) == 0 {
		return nil, false, err
	}
	sum, err := metrics.Summarize(held.Slowdowns, r.weigh(held.Points))
	if err != nil {
		return nil, false, ignoreEmpty(err)
	}
	e.describe(sum)
	if r2, err := held.R2(coll.Algorithm{}); err == nil {
		e.R2 = r2
	}
	return nil, true, nil
}

// predict estimates how good a round's selection is over the space. It stores the results in e. First it
// compares the round's measurements with the predictions made before the round. This comparison scores the
// error models. predict returns false as long as no selected algorithm has a measurement.
func (r *Evaluator) predict(e *Evaluation) (*forecast, bool, error) {
	if before := r.previous; before != nil {
		var err error
		if e.Scores, err = before.posterior.Score(e.Scores, r.ledger.After(before.measurements)); err != nil {
			return nil, false, err
		}
	}
	f, err := r.forecast(*e)
	if err == nil {
		err = e.setForecast(f)
	}
	if err != nil {
		return nil, false, ignoreEmpty(err)
	}
	e.PConverged, e.PAttainable = float64(f.criteriaMet)/float64(f.draws), float64(f.attainableMet)/float64(f.draws)
	e.MistakesAttainable = stat.Mean(f.attainableMistakes, nil)
	return f, true, nil
}

// forecast predicts the quality of the selection after a round. e must already have the scores of the error models.
func (r *Evaluator) forecast(e Evaluation) (*forecast, error) {
	now, err := r.snapshot()
	if err != nil {
		return nil, err
	}
	r.previous = now
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
	f, err := c.forecast(now.posterior, q, times, r.weigh(c.points), r.opt.Criteria)
	if err != nil {
		return nil, err
	}
	f.largestMeasured = r.largestMeasured()
	return f, nil
}

// largestMeasured returns the largest message size that was measured, by this campaign or an earlier one.
func (r *Evaluator) largestMeasured() (bytes int64) {
	for m := range r.ledger.All() {
		bytes = max(bytes, m.MsgBytes)
	}
	for _, ms := range r.models.Data().Earlier {
		for _, m := range ms {
			bytes = max(bytes, m.MsgBytes)
		}
	}
	return bytes
}

// EvaluateFiles predicts how good a selection of the given rows is over the space. The rows are in the order of the
// space's points. The evaluation is the last one with the predicted figures and the present cost. It returns false if
// the posterior cannot predict the selected algorithms.
func (r *StopRule) EvaluateFiles(a Alternatives, rows []selection.Row) (Evaluation, bool, error) {
	e := r.evaluations[len(r.evaluations)-1]
	points, merge := r.SamplePoints(e.Round), r.opt.Merge
	if len(r.points()) > mergedPoints {
		merge = Fastest
	}
	s, err := merge(rows)
	if err != nil {
		return e, false, err
	}
	p := a.models.Posterior()
	c := a.predictable(p, points, s.Choose)
	q := learner.DrawQuery{Scores: e.Scores, Rand: rand.New(rand.NewPCG(r.opt.Seed^drawStream, uint64(e.Round)))}
	f, err := c.forecast(p, q, a.trusted, r.weigh(c.points), r.opt.Criteria)
	if err == nil {
		err = e.setForecast(f)
	}
	if err != nil {
		return e, false, ignoreEmpty(err)
	}
	e.setCost(r.ledger)
	return e, true, nil
}

// Refit fits the models to all measurements made so far, and returns the forecast of an evaluation in the journal. A
// resumed campaign calls Refit with the last one. The forecast is nil unless the source of the evaluation is Predicted.
func (r *Evaluator) Refit(e Evaluation) (*forecast, error) {
	if r.opt.Source != Predicted {
		return nil, nil
	}
	f, err := r.forecast(e)
	return f, ignoreEmpty(err)
}

// heldOut compares the model's predictions with measurements to which the model was not fitted. These are the
// reference measurements or, in cross-validation, the measurements of each fold in turn.
func (r *Evaluator) heldOut() (learner.Validation, error) {
	if r.opt.Source == Reference {
		l, err := r.models.Learner()
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
