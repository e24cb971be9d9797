package activelearn

import (
	"errors"
	"math"

	"tutti/coll"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// Evaluate evaluates what is selected after a round; failed is the number of candidates that are
// tried again. It reports false while there are no figures: with one point, or one algorithm at
// each.
func (r *StopRule) Evaluate(round, failed int) (e Evaluation, ok bool, err error) {
	l := r.ledger
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

// Refit fits the models that the next round's measurements are compared with, where figures are
// predicted: after the last evaluation that a journal has.
func (r *StopRule) Refit() (err error) {
	if r.opt.Source == Predicted {
		r.previous, err = r.models.snapshot()
	}
	return err
}

// heldOut compares predictions with the reference, or with measurements that they are not based
// on.
func (r *StopRule) heldOut() (learner.Validation, error) {
	if r.opt.Source == Reference {
		l, err := r.models.Fit()
		if err != nil {
			return learner.Validation{}, err
		}
		return l.Compare(r.opt.Reference)
	}
	if r.ledger.PointsMeasured() < 2 {
		return learner.Validation{}, nil
	}
	return learner.CrossValidate(r.models.Data(), r.opt.Folds, r.opt.Seed, r.models.opt)
}

// measuredAll fills in what is lost where the fastest measured algorithm is selected at each
// point of a space that was measured completely: noise may have made the wrong one the fastest.
// The upper ends are those of averages over independent points. It reports false where no point
// that matters was measured.
func (r *StopRule) measuredAll(e *Evaluation) (bool, error) {
	noise := preprocess.NoiseOf(r.ledger.Replicates())
	at := map[coll.Point][]coll.Measurement{}
	for _, m := range r.ledger.Measurements() {
		at[m.Point] = append(at[m.Point], m)
	}
	var points []coll.Point
	var risks []learner.Risk
	for _, p := range r.points {
		if len(at[p]) > 0 {
			points = append(points, p)
			risks = append(risks, riskOfFastest(at[p], noise, r.opt.Metrics))
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

// normalUpper is the 95 % quantile of the standard normal distribution: the probability with
// which an upper end is meant to lie above the truth.
const normalUpper = 1.645

// riskOfFastest is the risk of selecting the fastest of the measurements at a point.
func riskOfFastest(ms []coll.Measurement, noise preprocess.Noise, opt metrics.Options) learner.Risk {
	best := 0
	for i, m := range ms {
		if m.Seconds < ms[best].Seconds {
			best = i
		}
	}
	var rivals []learner.Rival
	for i, m := range ms {
		if i != best {
			rivals = append(rivals, learner.Rival{
				Gap: math.Log10(m.Seconds / ms[best].Seconds),
				SD:  math.Sqrt(noise.Of(m) + noise.Of(ms[best])),
			})
		}
	}
	return learner.RiskOf(rivals, opt)
}

// averageRisk averages risks over points. P95 and Worst are those of the points' expected
// slowdowns.
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

// deviations returns the standard deviations of the average slowdown and of the proportion of
// mistakes over independent points.
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

// ignoreEmpty returns nil where no point has a weight: then there are no figures.
func ignoreEmpty(err error) error {
	if errors.Is(err, metrics.ErrEmpty) {
		return nil
	}
	return err
}
