package campaign

import (
	"math"
	"math/rand/v2"
	"slices"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/journal"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// predictedPoints of the space, drawn anew in each round, are predicted for.
const predictedPoints = 300

// models are what was learnt from the first measurements.
type models struct {
	choice   *learner.Learner                // what is selected
	gaussian *learner.Learner                // how sure it is; the same unless forests choose
	seen     int                             // measurements
	options  options                         // what can be selected by choice
	choose   func(coll.Point) coll.Algorithm // what the files would select; nil until it is asked for
}

// learn fits the models to what is measured. Forests do not know how sure they are: a
// Gaussian process beside them says it.
func (r *run) learn() (*models, error) {
	choice, err := r.fit()
	if err != nil {
		return nil, err
	}
	opt := r.spec.Learner
	m := &models{choice: choice, gaussian: choice, seen: len(r.ledger.Measurements())}
	if opt.Model != learner.GaussianProcess {
		opt.Model, opt.Scaling = learner.GaussianProcess, preprocess.AlgorithmLog10
		if m.gaussian, err = learner.Fit(r.data(), opt); err != nil {
			return nil, err
		}
	}
	m.options = newOptions(choice, r.ledger)
	return m, nil
}

// fit fits the configured model to what is measured.
func (r *run) fit() (*learner.Learner, error) {
	d := r.data()
	if r.spec.Learner.Model == learner.GaussianProcess {
		var err error
		if d.Posterior, err = r.believe(); err != nil {
			return nil, err
		}
	}
	return learner.Fit(d, r.spec.Learner)
}

// data returns what models are trained on.
func (r *run) data() learner.Data { return dataOf(r.problem, r.ledger) }

// dataOf returns what models of a problem are trained on.
func dataOf(p Problem, l *activelearn.Ledger) learner.Data {
	return learner.Data{Measurements: l.Measurements(), Replicates: l.Repeats(), Earlier: p.Earlier, Missing: l.Missing}
}

// current returns what chooses by all that is measured: the judge's, where it has just
// formed it.
func (r *run) current() (*learner.Learner, error) {
	if r.models != nil && r.models.seen == len(r.ledger.Measurements()) {
		return r.models.choice, nil
	}
	return r.fit()
}

// believe returns the belief of what is measured, the same one until more is.
func (r *run) believe() (*learner.Posterior, error) {
	if r.believed == r.ledger.Trials() {
		return r.belief, nil
	}
	b, err := r.belief.Update(r.data())
	if err == nil {
		r.belief, r.believed = b, r.ledger.Trials()
	}
	return b, err
}

// predict fills in what the choices of a round are expected to lose over the space. The
// deviations that the Gaussian process states are multiplied by a factor for each size: by how
// much they have been too small or too great where batches were measured since. What is expected
// is multiplied by what was borne out of expectations, see borne, and its upper ends by the upper
// end of that; what checks found counts as it is. It reports
// false while nothing is known of any choice.
func (r *run) predict(round int, eval *journal.Evaluation) (bool, error) {
	now, err := r.learn()
	if err != nil {
		return false, err
	}
	before := r.models
	r.models = now
	if eval.Errors, err = r.errors(before); err != nil {
		return false, err
	}
	borne, err := r.borne(before, now)
	if err != nil {
		return false, err
	}
	o := now.options
	points := r.samplePoints(round)
	choose, err := r.chosen(now, points)
	if err != nil {
		return false, err
	}
	points, choices := now.judged(points, choose, o.open)
	risks, err := now.gaussian.Risks(learner.RiskQuery{
		Points: points, Choices: choices, Measured: o.times(), Scale: r.scale(eval.Errors), Metrics: r.spec.Metrics,
		Open: func(i int) []coll.Algorithm { return o.open(points[i]) },
	})
	if err != nil {
		return false, err
	}
	opt := r.problem.Weigh(r.spec.Metrics, points)
	sum, err := summaryOf(risks, opt)
	if err != nil {
		return false, ignoreEmpty(err)
	}
	slowdown, mistakes := spreadOf(risks, opt)
	all := math.Sqrt(float64(len(points)) / float64(len(r.problem.Space.Points())))
	eval.SlowdownUpper = 1 + upperEnd(sum.Slowdown-1, slowdown*all, borne)
	eval.MistakesUpper = min(1, upperEnd(sum.Mistakes, mistakes*all, borne)+r.unseen())
	if err := r.checked(before, now, eval); err != nil {
		return false, err
	}
	sum.Slowdown, sum.Mistakes = 1+(sum.Slowdown-1)*borne.Mean(), min(1, sum.Mistakes*borne.Mean())
	describe(eval, sum)
	eval.MistakesExpected, eval.MistakesFound = borne.Expected, borne.Found
	return true, nil
}

// selected returns what the files would select by everything that is measured.
func (r *run) selected() (Choice, error) {
	points := r.problem.Space.Points()
	if r.models != nil && r.models.seen == len(r.ledger.Measurements()) {
		return r.chosen(r.models, points)
	}
	l, err := r.fit()
	if err != nil {
		return nil, err
	}
	return r.choose(newOptions(l, r.ledger), points)
}

// upperEnd is that of an average over the space that is expected to be mean and deviates by sd where
// the points are independent: from the mean of what is borne out to its upper end, and by chance.
func upperEnd(mean, sd float64, borne metrics.Borne) float64 {
	expected := mean * borne.Mean()
	return expected + math.Hypot(mean*borne.Upper()-expected, normalUpper*sd*math.Sqrt(borne.Mean()))
}

// mergedPoints is the size of a space up to which the judge merges all of it as the files
// do, every round.
const mergedPoints = 20_000

// chosen is what the files would select by models, at points at least.
func (r *run) chosen(m *models, points []coll.Point) (func(coll.Point) coll.Algorithm, error) {
	if len(r.problem.Space.Points()) > mergedPoints {
		return r.choose(m.options, points)
	}
	var err error
	if m.choose == nil {
		m.choose, err = r.choose(m.options, points)
	}
	return m.choose, err
}

// choose returns what the files would select by the options of a round. In a space of more
// than mergedPoints it knows the points given alone, and merges nothing.
func (r *run) choose(o options, points []coll.Point) (func(coll.Point) coll.Algorithm, error) {
	fit, all := fastest, r.problem.Space.Points()
	if len(all) <= mergedPoints {
		fit, points = r.problem.fit, all
	}
	rows, err := o.rows(points)
	if err != nil {
		return nil, err
	}
	sel, err := fit(rows)
	return sel.Choose, err
}

// judged are the points at which something is known of what is chosen, and these choices.
// Of a default that nobody measures nothing is.
func (m *models) judged(points []coll.Point, choose func(coll.Point) coll.Algorithm, open func(coll.Point) []coll.Algorithm) (judged []coll.Point, choices []coll.Algorithm) {
	for _, p := range points {
		alg := choose(p)
		_, known := slices.BinarySearchFunc(m.gaussian.Algorithms(), alg, coll.CompareAlgorithms)
		if known && slices.Contains(open(p), alg) {
			judged, choices = append(judged, p), append(choices, alg)
		}
	}
	return judged, choices
}

// unseen is the share of candidates that are expected to surprise in a way that none did so
// far: of those that nobody measured, by those that were measured after something was
// predicted, and those of earlier campaigns as far as they are borne out. What has not
// happened in n trials is expected of 1 in n + 2 (Laplace's rule of succession).
func (r *run) unseen() float64 {
	tried := 0.0
	if done := r.result.Evaluations; len(done) > 0 {
		tried = float64(len(r.ledger.Measurements()) - done[0].Trials)
	}
	known := map[coll.Candidate]bool{}
	for _, m := range r.ledger.Measurements() {
		known[m.Candidate] = true
	}
	for _, ms := range r.problem.Earlier {
		tried += r.asBefore(ms) * float64(len(ms))
		for _, m := range ms {
			if r.problem.Space.Has(m.Candidate) {
				known[m.Candidate] = true
			}
		}
	}
	left := max(0, 1-float64(len(known))/float64(r.ledger.Space().Size()))
	return left / (tried + 2)
}

// asBefore is the share of an earlier campaign's measurements that are what they were, by
// those that were measured again: off by less than makes a mistake.
func (r *run) asBefore(earlier []coll.Measurement) float64 {
	was := make(map[coll.Candidate]float64, len(earlier))
	for _, m := range earlier {
		was[m.Candidate] = m.Seconds
	}
	threshold, _ := r.spec.Metrics.Thresholds()
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

// lastScale is the scale by the errors up to the last evaluation.
func (r *run) lastScale() func(coll.Point) float64 { return r.scale(nil) }

// scale is how wide the errors of the Gaussian process have been at the size of a point, by those
// of all evaluations and further ones.
func (r *run) scale(further []journal.SizeError) func(coll.Point) float64 {
	var s metrics.Scale
	add := func(errors []journal.SizeError) {
		for _, e := range errors {
			s.Add(e.MsgBytes, e.Deviations)
		}
	}
	for _, e := range r.result.Evaluations {
		add(e.Errors)
	}
	add(further)
	known := map[int64]float64{}
	return func(p coll.Point) float64 {
		if _, ok := known[p.MsgBytes]; !ok {
			known[p.MsgBytes] = s.At(p.MsgBytes)
		}
		return known[p.MsgBytes]
	}
}

// errors are those of what the models of the round before predicted for the measurements since.
func (r *run) errors(before *models) ([]journal.SizeError, error) {
	if before == nil {
		return nil, nil
	}
	ms, deviations, err := before.gaussian.StandardisedErrors(r.ledger.Measurements()[before.seen:])
	out := make([]journal.SizeError, len(ms))
	for i, m := range ms {
		out[i] = journal.SizeError{MsgBytes: m.MsgBytes, Deviations: deviations[i]}
	}
	return out, err
}

// summaryOf averages risks over points; P95 and Worst are those of the points'
// expected slowdowns.
func summaryOf(risks []learner.Risk, opt metrics.Options) (metrics.Summary, error) {
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

// judgeStream keeps what the judge draws apart from what the strategy draws in the same
// round: it must not look where it was just measured. Any odd number would do.
const judgeStream = 0x9e3779b97f4a7c15

// samplePoints draws points of the space, in order.
func (r *run) samplePoints(round int) []coll.Point {
	all := r.problem.Space.Points()
	if len(all) <= predictedPoints {
		return slices.Clone(all)
	}
	at := rand.New(rand.NewPCG(r.spec.Seed^judgeStream, uint64(round))).Perm(len(all))[:predictedPoints]
	slices.Sort(at)
	out := make([]coll.Point, len(at))
	for k, i := range at {
		out[k] = all[i]
	}
	return out
}
