package activelearn

import (
	"math"
	"slices"

	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// predict estimates how good a round's selection is over the space, and stores the figures in e.
//
// The standard deviations of the posterior are multiplied by a factor for each message size. The factors
// are learned from the errors of earlier predictions (see scale). The expected mistakes are multiplied by
// the ratio of observed to expected mistakes so far (see calibrate). Their upper ends are multiplied by the
// upper end of that ratio. No upper end is below the loss that the validation sample showed.
//
// predict reports false while no selected algorithm has a measurement.
func (r *StopRule) predict(round int, e *Evaluation) (bool, error) {
	now, err := r.models.snapshot()
	if err != nil {
		return false, err
	}
	before := r.previous
	r.previous = now
	if e.Errors, err = r.errors(before); err != nil {
		return false, err
	}
	ratio, err := r.calibrate(before, now)
	if err != nil {
		return false, err
	}
	points := r.SamplePoints(round)
	choose, err := r.choiceOf(now, points)
	if err != nil {
		return false, err
	}
	points, choices := now.predictable(points, choose)
	risks, err := now.gaussian.Risks(learner.RiskQuery{
		Points: points, Choices: choices, Measured: now.alternatives.times(), Scale: r.scale(e.Errors), Metrics: r.opt.Metrics,
		Open: func(i int) []coll.Algorithm { return now.alternatives.selectable(points[i]) },
	})
	if err != nil {
		return false, err
	}
	opt := r.weigh(points)
	sum, err := averageRisk(risks, opt)
	if err != nil {
		return false, ignoreEmpty(err)
	}
	slowdown, mistakes := deviations(risks, opt)
	sampled := math.Sqrt(float64(len(points)) / float64(len(r.points())))
	e.SlowdownUpper = 1 + upperEnd(sum.Slowdown-1, slowdown*sampled, ratio)
	e.MistakesUpper = min(1, upperEnd(sum.Mistakes, mistakes*sampled, ratio)+r.surprises())
	if err := r.validate(before, now, e); err != nil {
		return false, err
	}
	sum.Slowdown, sum.Mistakes = 1+(sum.Slowdown-1)*ratio.Mean(), min(1, sum.Mistakes*ratio.Mean())
	e.describe(sum)
	e.MistakesExpected, e.MistakesFound = ratio.Expected, ratio.Found
	return true, nil
}

// Expected returns the expected quality of a selection at points of the space. It returns false if the
// Gaussian process does not know the selection at one of the points.
func (a Alternatives) Expected(points []coll.Point, choose Choice, opt metrics.Options) (metrics.Summary, bool, error) {
	at, choices := (&snapshot{gaussian: a.models, alternatives: a}).predictable(points, choose)
	if len(at) < len(points) {
		return metrics.Summary{}, false, nil
	}
	risks, err := a.models.Risks(learner.RiskQuery{
		Points: points, Choices: choices, Measured: a.times(), Scale: func(coll.Point) float64 { return 1 }, Metrics: opt,
		Open: func(i int) []coll.Algorithm { return a.selectable(points[i]) },
	})
	if err != nil {
		return metrics.Summary{}, false, err
	}
	sum, err := averageRisk(risks, opt)
	return sum, err == nil, ignoreEmpty(err)
}

// predictable returns the points at which the posterior has the selected algorithm, and that algorithm
// for each point. The posterior lacks a default without measurements.
func (s *snapshot) predictable(points []coll.Point, choose Choice) (at []coll.Point, choices []coll.Algorithm) {
	for _, p := range points {
		alg := choose(p)
		_, known := slices.BinarySearchFunc(s.gaussian.Algorithms(), alg, coll.CompareAlgorithms)
		if known && slices.Contains(s.alternatives.selectable(p), alg) {
			at, choices = append(at, p), append(choices, alg)
		}
	}
	return at, choices
}

// upperEnd returns the upper end of an average over the space. mean and sd are the expectation and the
// standard deviation of the average. The error that sd describes and the uncertainty of ratio are assumed
// to be independent.
func upperEnd(mean, sd float64, ratio metrics.MistakeCalibration) float64 {
	expected := mean * ratio.Mean()
	return expected + math.Hypot(mean*ratio.Upper()-expected, normalUpper*sd*math.Sqrt(ratio.Mean()))
}

// errors compares the predictions of the previous models with the measurements that were made after these
// models were fitted.
func (r *StopRule) errors(before *snapshot) ([]SizeError, error) {
	if before == nil {
		return nil, nil
	}
	ms, deviations, err := before.gaussian.StandardisedErrors(before.since(r.ledger))
	out := make([]SizeError, len(ms))
	for i, m := range ms {
		out[i] = SizeError{MsgBytes: m.MsgBytes, Deviations: deviations[i]}
	}
	return out, err
}

// scale returns a function. At a point, the function gives the factor by which the posterior's standard
// deviation is multiplied. The factor follows from the prediction errors of all evaluations and from the
// parameter further; see metrics.ErrorScale.
func (r *StopRule) scale(further []SizeError) func(coll.Point) float64 {
	var s metrics.ErrorScale
	add := func(errors []SizeError) {
		for _, e := range errors {
			s.Add(e.MsgBytes, e.Deviations)
		}
	}
	for _, e := range r.evaluations {
		add(e.Errors)
	}
	add(further)
	bySize := map[int64]float64{}
	return func(p coll.Point) float64 {
		if _, ok := bySize[p.MsgBytes]; !ok {
			bySize[p.MsgBytes] = s.At(p.MsgBytes)
		}
		return bySize[p.MsgBytes]
	}
}

// calibrate compares the expected with the observed number of mistakes of previous selections. A selection
// is tested at a point if a rival of its choice was measured there later. calibrate compares the
// probability of a mistake against this rival before the measurement with the probability after it.
func (r *StopRule) calibrate(before, now *snapshot) (metrics.MistakeCalibration, error) {
	var ratio metrics.MistakeCalibration
	if e, ok := r.last(); ok {
		ratio.Expected, ratio.Found = e.MistakesExpected, e.MistakesFound
	}
	if before == nil {
		return ratio, nil
	}
	fresh := before.since(r.ledger)
	var points []coll.Point
	for _, m := range fresh {
		points = append(points, m.Point)
	}
	choose, err := r.choiceOf(before, points)
	if err != nil {
		return ratio, err
	}
	var at []coll.Point
	var choices, rivals []coll.Algorithm
	for _, m := range fresh {
		here, choice := before.predictable([]coll.Point{m.Point}, choose)
		_, known := slices.BinarySearchFunc(before.gaussian.Algorithms(), m.Algorithm, coll.CompareAlgorithms)
		if len(here) > 0 && known && choice[0] != m.Algorithm {
			at, choices, rivals = append(at, m.Point), append(choices, choice[0]), append(rivals, m.Algorithm)
		}
	}
	risks := func(s *snapshot) ([]learner.Risk, error) {
		return s.gaussian.Risks(learner.RiskQuery{
			Points: at, Choices: choices, Measured: s.alternatives.times(), Scale: r.scale(nil), Metrics: r.opt.Metrics,
			Open: func(i int) []coll.Algorithm { return []coll.Algorithm{choices[i], rivals[i]} },
		})
	}
	expected, err := risks(before)
	if err != nil {
		return ratio, err
	}
	found, err := risks(now)
	if err != nil {
		return ratio, err
	}
	for i := range at {
		ratio = ratio.Add(expected[i].Mistake, found[i].Mistake)
	}
	return ratio, nil
}

// surprises returns the expected fraction of candidates that deviate from their predictions in a way that
// was not observed so far. By Laplace's rule of succession, an event that did not occur in n trials has the
// probability 1/(n + 2). The trials are the candidates that were measured after a prediction. Candidates of
// earlier campaigns count as well, by the fraction of them whose times are unchanged.
func (r *StopRule) surprises() float64 {
	tried := 0.0
	if len(r.evaluations) > 0 {
		tried = float64(len(r.ledger.Measurements()) - r.evaluations[0].Trials)
	}
	known := map[coll.Candidate]bool{}
	for _, m := range r.ledger.Measurements() {
		known[m.Candidate] = true
	}
	for _, ms := range r.models.earlier {
		tried += r.unchangedShare(ms) * float64(len(ms))
		for _, m := range ms {
			if r.ledger.Space().Has(m.Candidate) {
				known[m.Candidate] = true
			}
		}
	}
	unknown := max(0, 1-float64(len(known))/float64(r.ledger.Space().Size()))
	return unknown / (tried + 2)
}

// unchangedShare looks at the measurements of an earlier campaign that this campaign repeated. It returns
// the fraction of them whose times changed by less than the mistake threshold.
func (r *StopRule) unchangedShare(earlier []coll.Measurement) float64 {
	was := make(map[coll.Candidate]float64, len(earlier))
	for _, m := range earlier {
		was[m.Candidate] = m.Seconds
	}
	threshold, _ := r.opt.Metrics.Thresholds()
	again, same := 0, 0
	for _, m := range r.ledger.Measurements() {
		if before := was[m.Candidate]; before > 0 {
			again++
			if max(m.Seconds/before, before/m.Seconds) < 1+threshold {
				same++
			}
		}
	}
	return float64(same) / float64(max(1, again))
}

// validate adds a round's validation sample to the samples that were drawn since the criteria were first
// met. It raises the upper ends so that they are not below the average loss of the selection at the sampled
// points.
func (r *StopRule) validate(before, now *snapshot, e *Evaluation) error {
	if before == nil || !r.Confirming() {
		return nil
	}
	risks, err := r.validationRisks(before, now)
	if err != nil {
		return err
	}
	last, _ := r.last()
	e.ValidationPoints, e.ValidationLoss, e.ValidationMistakes = last.ValidationPoints, last.ValidationLoss, last.ValidationMistakes
	for _, k := range risks {
		e.ValidationPoints++
		e.ValidationLoss += k.Loss
		e.ValidationMistakes += k.Mistake
	}
	if n := float64(e.ValidationPoints); n > 0 {
		e.SlowdownUpper = max(e.SlowdownUpper, 1+e.ValidationLoss/n)
		e.MistakesUpper = max(e.MistakesUpper, e.ValidationMistakes/n)
	}
	return nil
}

// validationRisks returns the loss of the previous selection at each point of the latest validation sample.
// The selection is compared with the algorithms measured at the point.
func (r *StopRule) validationRisks(before, now *snapshot) ([]learner.Risk, error) {
	var points []coll.Point
	for _, m := range before.since(r.ledger) {
		if why, _ := r.opt.Reason(m.Candidate); why.Validation && !slices.Contains(points, m.Point) {
			points = append(points, m.Point)
		}
	}
	choose, err := r.choiceOf(before, points)
	if err != nil {
		return nil, err
	}
	points, choices := before.predictable(points, choose)
	times := now.alternatives.times()
	measured := func(i int) []coll.Algorithm {
		p, choice := points[i], choices[i]
		return slices.DeleteFunc(slices.Clone(before.alternatives.selectable(p)), func(alg coll.Algorithm) bool {
			_, seen := times[coll.Candidate{Point: p, Algorithm: alg}]
			return alg != choice && !seen
		})
	}
	return now.gaussian.Risks(learner.RiskQuery{
		Points: points, Choices: choices, Open: measured, Measured: times, Scale: r.scale(nil), Metrics: r.opt.Metrics,
	})
}
