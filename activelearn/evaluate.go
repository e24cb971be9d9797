package activelearn

import (
	"errors"
	"math"
	"slices"

	"tutti/coll"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// Evaluate evaluates the selection after a round. The parameter `failed` is the number of failed candidates
// that will be tried again. ok is false if nothing can be evaluated yet. This is the case, for example, if
// a single point is measured or each point has only one algorithm.
func (r *StopRule) Evaluate(round, failed int) (e Evaluation, ok bool, err error) {
	l := r.ledger
	defer func() { r.evaluated = ok }()
	e = Evaluation{
		Round:          round,
		Trials:         l.Trials(),
		Points:         l.PointsMeasured(),
		MachineSeconds: l.CostSeconds(),
		NodeSeconds:    l.NodeSeconds(),
		PointShare:     float64(l.PointsMeasured()) / float64(len(l.Space().Points())),
		CandidateShare: float64(len(l.Measurements())) / float64(l.Space().Size()),
		Source:         r.opt.Source,
		Outliers:       len(r.outliers),
	}
	switch {
	case r.opt.Source != Reference && l.Left() == 0 && failed == 0:
		ok, err = r.measuredAll(&e)
		return e, ok, err
	case r.opt.Source == Predicted:
		ok, err = r.predict(round, &e)
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

// Refit fits the models to all measurements made so far. The measurements of the next round are then
// compared with the predictions of these models. A resumed campaign calls Refit after the last evaluation
// in its journal. Refit does nothing unless the source of the evaluation is Predicted.
func (r *StopRule) Refit() (err error) {
	if r.opt.Source == Predicted {
		r.previous, err = r.models.snapshot()
	}
	return err
}

// heldOut compares the model's predictions with measurements to which the model was not fitted. These are
// the reference or, in cross-validation, the measurements of each fold in turn.
func (r *StopRule) heldOut() (learner.Validation, error) {
	if r.opt.Source == Reference {
		l, err := r.models.Fit()
		if err != nil {
			return learner.Validation{}, err
		}
		return l.Compare(slices.DeleteFunc(slices.Clone(r.opt.Reference), func(m coll.Measurement) bool {
			return !r.ledger.Space().Has(m.Candidate) // a size that did not join the grid
		}))
	}
	if r.ledger.PointsMeasured() < 2 {
		return learner.Validation{}, nil
	}
	return learner.CrossValidate(r.models.Data(), r.opt.Folds, r.opt.Seed, r.models.opt)
}

// measuredAll evaluates the selection in a space in which every candidate was measured. Because of noise the
// selection may be a wrong choice. The upper ends assume that the errors of different points are independent.
// It reports false if no point of positive weight was measured.
func (r *StopRule) measuredAll(e *Evaluation) (bool, error) {
	choose, err := r.Selected()
	if err != nil {
		return false, err
	}
	noise := preprocess.NoiseOf(r.ledger.Replicates())
	at := map[coll.Point][]coll.Measurement{}
	for _, m := range r.ledger.Measurements() {
		at[m.Point] = append(at[m.Point], m)
	}
	var points []coll.Point
	var risks []learner.Risk
	for _, p := range r.points() {
		if risk, ok := measuredRisk(at[p], choose(p), noise, r.opt.Metrics); ok {
			points, risks = append(points, p), append(risks, risk)
		}
	}
	opt := r.weigh(points)
	sum, err := averageRisk(risks, opt)
	if err != nil {
		return false, ignoreEmpty(err)
	}
	e.describe(sum)
	e.Source = measured
	slowdown, mistakes := deviations(risks, opt)
	e.SlowdownUpper = sum.Slowdown + normalUpper*slowdown
	e.MistakesUpper = min(1, sum.Mistakes+normalUpper*mistakes)
	return true, nil
}

// normalUpper is the 95 % quantile of the standard normal distribution. The true value should lie below an
// upper end with a probability of 95 %.
const normalUpper = 1.645

// measuredRisk returns the risk of a choice at a point, compared with the other measurements there. It
// returns false if the choice was not measured.
func measuredRisk(ms []coll.Measurement, choice coll.Algorithm, noise preprocess.Noise, opt metrics.Options) (learner.Risk, bool) {
	own := slices.IndexFunc(ms, func(m coll.Measurement) bool { return m.Algorithm == choice })
	if own < 0 {
		return learner.Risk{}, false
	}
	var rivals []learner.Rival
	for i, m := range ms {
		if i != own {
			rivals = append(rivals, learner.Rival{
				Gap: math.Log10(m.Seconds / ms[own].Seconds),
				SD:  math.Sqrt(noise.Of(m) + noise.Of(ms[own])),
			})
		}
	}
	return learner.RiskOf(rivals, opt), true
}

// averageRisk returns the average of risks over points. In the summary, P95 and Worst are those of the
// points' expected slowdowns.
func averageRisk(risks []learner.Risk, opt metrics.Options) (metrics.Summary, error) {
	slowdowns := make([]float64, len(risks))
	for i, k := range risks {
		slowdowns[i] = 1 + k.Loss
	}
	s, err := metrics.Summarize(slowdowns, opt)
	if err != nil {
		return s, err
	}
	s.Accuracy, s.Mistakes = 0, 0
	total := 0.0
	for i, k := range risks {
		w := opt.Weight(i)
		total += w
		s.Accuracy += w * k.Best
		s.Mistakes += w * k.Mistake
	}
	s.Accuracy /= total
	s.Mistakes /= total
	return s, nil
}

// deviations returns the standard deviations of two averages over points: the average slowdown and the
// proportion of mistakes. It assumes independent points.
func deviations(risks []learner.Risk, opt metrics.Options) (slowdown, mistakes float64) {
	total := 0.0
	for i, k := range risks {
		w := opt.Weight(i)
		total += w
		slowdown += w * w * max(0, k.Square-k.Loss*k.Loss)
		mistakes += w * w * k.Mistake * (1 - k.Mistake)
	}
	return math.Sqrt(slowdown) / total, math.Sqrt(mistakes) / total
}

// ignoreEmpty returns nil if the error says that no point has a weight, since there is nothing to evaluate
// then. It returns any other error unchanged.
func ignoreEmpty(err error) error {
	if errors.Is(err, metrics.ErrEmpty) {
		return nil
	}
	return err
}
