package campaign

import (
	"math"
	"math/rand/v2"
	"slices"

	"tutti/coll"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/store"
	"tutti/surrogate/learner"
)

const (
	// predictedPoints of the space, drawn anew in each round, are predicted for.
	predictedPoints = 300
	// The upper ends are so many times what is expected to be lost: see docs/METHOD.md
	// for how often stops are right.
	predictedUpper = 1.25
	// What has not happened in n trials has at 95 % a chance of 3/n at most (Hanley and
	// Lippman-Hand, JAMA 249, 1983).
	unseenUpper = 3
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
	if k := r.spec.Learner.Model; k != learner.GaussianProcess && k != learner.Stack {
		opt := r.spec.Learner
		opt.Model, opt.Scaling = learner.GaussianProcess, preprocess.AlgorithmLog10
		m.process, err = learner.Fit(ms, opt)
	}
	return m, err
}

// predict fills in what the choices of a round are expected to lose over the space. The
// process is taken at its word but for one factor, by which its deviations have been
// too small or too great where batches were measured since. It reports false while
// nothing that can run at a point is known.
func (r *run) predict(round int, eval *store.Evaluation) (bool, error) {
	now, err := r.learn()
	if err != nil {
		return false, err
	}
	before := r.models
	r.models = now
	scale, err := r.scale(before)
	if err != nil {
		return false, err
	}
	points := r.samplePoints(round)
	measured := measuredBy(r.ledger.Measurements())
	choices, err := now.choice.Choices(points, r.can, measured)
	if err != nil || slices.Contains(choices, coll.Algorithm{}) {
		return false, err
	}
	risks, err := now.process.Risks(points, choices, r.can, measured, scale.Root(), r.spec.Metrics)
	if err != nil {
		return false, err
	}
	opt := r.problem.Weigh(r.spec.Metrics, points)
	sum, err := summaryOf(risks, opt)
	if err != nil {
		return false, ignoreEmpty(err)
	}
	describe(eval, sum)
	eval.SlowdownUpper = 1 + predictedUpper*(sum.Slowdown-1)
	eval.MistakesUpper = min(1, predictedUpper*sum.Mistakes+r.unseen(eval.CandidateShare))
	eval.ScaleSquare, eval.ScaleWeight = scale.Square, scale.Weight
	if r.problem.Inspect != nil {
		err = r.problem.Inspect(*eval, func(points []coll.Point) ([]coll.Algorithm, error) {
			return now.choice.Choices(points, r.can, measured)
		})
	}
	return err == nil, err
}

func measuredBy(ms []coll.Measurement) learner.Measured {
	out := make(learner.Measured, len(ms))
	for _, m := range ms {
		out[m.Candidate] = math.Log10(m.Seconds)
	}
	return out
}

// unseen bounds the share of candidates that surprise in a way that none did so far:
// of those that are left, by those that were measured after something was predicted,
// and those that earlier campaigns measured.
func (r *run) unseen(share float64) float64 {
	tried := 0
	if done := r.result.Evaluations; len(done) > 0 {
		tried = len(r.ledger.Measurements()) - done[0].Trials
	}
	for _, ms := range r.problem.Earlier {
		tried += len(ms)
	}
	return (1 - share) * min(1, unseenUpper/float64(max(1, tried)))
}

// scale is how wide the errors of the process have been, after the measurements since
// the models of the round before.
func (r *run) scale(before *models) (metrics.Scale, error) {
	var s metrics.Scale
	if n := len(r.result.Evaluations); n > 0 {
		e := r.result.Evaluations[n-1]
		s = metrics.Scale{Square: e.ScaleSquare, Weight: e.ScaleWeight}
	}
	if before == nil {
		return s.Add(nil), nil
	}
	errors, err := before.process.Standardised(r.ledger.Measurements()[before.seen:])
	return s.Add(errors), err
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
