package campaign

import (
	"math/rand/v2"
	"slices"

	"tutti/coll"
	"tutti/learner"
	"tutti/preprocess"
	"tutti/store"
)

// forecastPoints of the grid are drawn anew in each round and forecast for.
const forecastPoints = 300

// predict fills in what the choices of a round are expected to lose over the grid.
// It reports false while not every point has an algorithm that was measured.
func (r *run) predict(round int, eval *store.Evaluation) (bool, error) {
	ms := r.ledger.Measurements()
	chooser, err := learner.Fit(ms, r.spec.Learner)
	if err != nil {
		return false, err
	}
	judge := chooser
	if m := r.spec.Learner.Model; m != learner.Process && m != learner.Stack {
		opt := r.spec.Learner
		opt.Model, opt.Scaling = learner.Process, preprocess.AlgorithmLog10
		if judge, err = learner.Fit(ms, opt); err != nil {
			return false, err
		}
	}
	points := r.forecastPoints(round)
	for _, p := range points {
		if !slices.ContainsFunc(r.can(p), func(a coll.Algorithm) bool { return slices.Contains(judge.Algorithms(), a) }) {
			return false, nil
		}
	}
	f, err := chooser.Forecast(judge, points, r.can, learner.ForecastOptions{Seed: r.spec.Seed + uint64(round), Metrics: r.spec.Metrics})
	if err != nil {
		return false, err
	}
	eval.Judged = f.Points
	eval.Slowdown, eval.Accuracy, eval.Mistakes = f.Slowdown, f.Accuracy, f.Mistakes
	eval.P95Slowdown, eval.WorstSlowdown = f.P95, f.Worst
	eval.SlowdownUpper, eval.MistakesUpper = f.SlowdownUpper, f.MistakesUpper
	return true, nil
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

// forecastPoints draws points of the space, in order.
func (r *run) forecastPoints(round int) []coll.Point {
	all := r.problem.Space.Points()
	if len(all) <= forecastPoints {
		return all
	}
	rng := rand.New(rand.NewPCG(r.spec.Seed, uint64(round)))
	at := rng.Perm(len(all))[:forecastPoints]
	slices.Sort(at)
	out := make([]coll.Point, len(at))
	for k, i := range at {
		out[k] = all[i]
	}
	return out
}
