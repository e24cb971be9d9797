package campaign

import (
	"math/rand/v2"
	"slices"

	"tutti/coll"
	"tutti/learner"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/report"
	"tutti/store"
)

const (
	// predictedPoints of the space, drawn anew in each round, are predicted for.
	predictedPoints = 300
	// upperQuantile is the probability that the upper end of a prediction is above it.
	upperQuantile = 0.95
)

// models are what was learnt from the first measurements.
type models struct {
	choice  *learner.Learner // what is selected
	process *learner.Learner // how sure it is; the same unless forests choose
	seen    int              // measurements
}

// learn fits the models to what is measured. Forests are judged by a process beside
// them, since they do not know how sure they are.
func (r *run) learn() (*models, error) {
	ms := r.ledger.Measurements()
	choice, err := learner.Fit(ms, r.spec.Learner)
	if err != nil {
		return nil, err
	}
	m := &models{choice: choice, process: choice, seen: len(ms)}
	if k := r.spec.Learner.Model; k != learner.Process && k != learner.Stack {
		opt := r.spec.Learner
		opt.Model, opt.Scaling = learner.Process, preprocess.AlgorithmLog10
		m.process, err = learner.Fit(ms, opt)
	}
	return m, err
}

// predict fills in what the choices of a round are expected to lose over the space.
// The process is taken at its word but for one factor, by which its probabilities of
// mistakes have been too low where batches were measured since; see surprises. It
// reports false while nothing that can run at a point is known. What is predicted and
// its upper ends are the expectation times the mean and a quantile of that factor.
func (r *run) predict(round int, eval *store.Evaluation) (bool, error) {
	now, err := r.learn()
	if err != nil {
		return false, err
	}
	before := r.models
	r.models = now
	points := r.samplePoints(round)
	choices, err := now.choice.Choices(points, r.can)
	if err != nil || slices.Contains(choices, coll.Algorithm{}) {
		return false, err
	}
	risks, err := now.process.Risks(points, choices, r.can, r.spec.Metrics)
	if err != nil {
		return false, err
	}
	sum, err := summaryOf(risks, r.problem.weigh(r.spec.Metrics, points))
	if err != nil {
		return false, ignoreEmpty(err)
	}
	all, err := r.surprises(before, now)
	if err != nil {
		return false, err
	}
	eval.MistakesExpected, eval.MistakesFound = all.Expected, all.Seen
	for _, e := range r.result.Evaluations {
		all = all.Add(metrics.Surprises{Expected: e.MistakesExpected, Seen: e.MistakesFound})
	}
	mean, upper := all.Mean(), all.Factor(upperQuantile)
	loss, mistakes := sum.Slowdown-1, sum.Mistakes
	sum.Slowdown, sum.Mistakes = 1+mean*loss, min(1, mean*mistakes)
	describe(eval, sum)
	eval.SlowdownUpper, eval.MistakesUpper = 1+upper*loss, min(1, upper*mistakes)
	if r.problem.Inspect != nil {
		err = r.problem.Inspect(*eval, now.choice)
	}
	return err == nil, err
}

// surprises are the mistakes that the models of the round before expected of their own
// choices at the points measured since, and what is expected of the same choices now.
// A process that is right about itself expects as many before as after, on average.
func (r *run) surprises(before, now *models) (metrics.Surprises, error) {
	var s metrics.Surprises
	if before == nil {
		return s, nil
	}
	var points []coll.Point
	for _, m := range r.ledger.Measurements()[before.seen:] {
		points = append(points, m.Point)
	}
	slices.SortFunc(points, coll.ComparePoints)
	points = slices.Compact(points)
	choices, err := before.choice.Choices(points, r.can)
	if err != nil || len(points) == 0 || slices.Contains(choices, coll.Algorithm{}) {
		return s, err
	}
	expected, err := before.process.Risks(points, choices, r.can, r.spec.Metrics)
	if err != nil {
		return s, err
	}
	found, err := now.process.Risks(points, choices, r.can, r.spec.Metrics)
	if err != nil {
		return s, err
	}
	for i := range points {
		s = s.Add(metrics.Surprises{Expected: expected[i].Mistake, Seen: found[i].Mistake})
	}
	return s, nil
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
		w := 1.0
		if opt.Weights != nil {
			w = opt.Weights[i]
		}
		total += w
		s.Accuracy += w * k.Best
		s.Mistakes += w * k.Mistake
	}
	s.Accuracy /= total
	s.Mistakes /= total
	return s, nil
}

// predictedScore is what the last evaluation predicts, with the interval between the
// quantiles of the factor that are as far from both ends.
func predictedScore(evaluations []store.Evaluation) (report.Score, bool) {
	if len(evaluations) == 0 {
		return report.Score{}, false
	}
	e := evaluations[len(evaluations)-1]
	if e.Source != string(ByPrediction) {
		return report.Score{}, false
	}
	var all metrics.Surprises
	for _, e := range evaluations {
		all = all.Add(metrics.Surprises{Expected: e.MistakesExpected, Seen: e.MistakesFound})
	}
	low := all.Factor(1-upperQuantile) / all.Mean()
	return report.Score{
		Name: "tuned", Source: e.Source, Points: e.Judged, Accuracy: e.Accuracy, P95: e.P95Slowdown, Worst: e.WorstSlowdown,
		Slowdown: e.Slowdown, SlowdownLow: 1 + low*(e.Slowdown-1), SlowdownHigh: e.SlowdownUpper,
		Mistakes: e.Mistakes, MistakesLow: low * e.Mistakes, MistakesHigh: e.MistakesUpper,
	}, true
}

// can returns the algorithms that can run at a point of the space.
func (r *run) can(p coll.Point) []coll.Algorithm {
	i, _ := r.problem.Space.Index(p)
	var out []coll.Algorithm
	for _, a := range r.problem.Space.Feasible(i) {
		out = append(out, r.problem.Space.Algorithms()[a])
	}
	return out
}

// samplePoints draws points of the space, in order.
func (r *run) samplePoints(round int) []coll.Point {
	all := r.problem.Space.Points()
	if len(all) <= predictedPoints {
		return all
	}
	at := rand.New(rand.NewPCG(r.spec.Seed, uint64(round))).Perm(len(all))[:predictedPoints]
	slices.Sort(at)
	out := make([]coll.Point, len(at))
	for k, i := range at {
		out[k] = all[i]
	}
	return out
}
