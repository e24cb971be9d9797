package activelearn

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// choices holds the selected algorithm at each of several points, together with the algorithms that could be
// selected instead.
type choices struct {
	points []coll.Point
	open   [][]coll.Algorithm
	own    []int // index of the choice in open
}

// predictable returns the choices at those points at which the posterior has a prediction for the selected
// algorithm. It has none for a library default without measurements.
func (a Alternatives) predictable(p *learner.Posterior, points []coll.Point, choose Choice) (c choices) {
	for _, point := range points {
		open := slices.DeleteFunc(a.selectable(point), func(alg coll.Algorithm) bool { return !p.Knows(alg) })
		if own := slices.Index(open, choose(point)); own >= 0 {
			c.points, c.open, c.own = append(c.points, point), append(c.open, open), append(c.own, own)
		}
	}
	return c
}

// forecast evaluates choices by joint random draws of the times of all algorithms from the posterior.
type forecast struct {
	choices
	metrics         metrics.Options // with the weights of the points
	noise           []float64       // standard deviation of a measured time at each point, without the shift common to its job
	meets           func(metrics.Summary) bool
	required        float64 // probability with which draws must meet the criteria
	rng             *rand.Rand
	largestMeasured int64 // largest message size that was measured, by this campaign or an earlier one

	draws              int
	criteriaMet        int               // draws that meet the criteria
	attainableMet      int               // draws in which the criteria would hold if every candidate were measured once
	summaries          []metrics.Summary // of each draw
	attainableMistakes []float64         // of each draw: proportion of mistakes if every candidate were measured once
	expected           []float64         // of each point: sum of the slowdowns
	mistakes           []float64         // of each point: number of draws in which the choice is a mistake
	logs               [][]float64       // of each point and algorithm: sum of log10 of the times
	rivals             [][]bool          // of each point and algorithm: whether it was significantly faster than the choice in some draw
}

// forecast draws the times of all algorithms jointly, and compares the choices with the fastest algorithms of
// each draw. The measured times replace predictions. The error matches metrics.ErrEmpty if no point has a
// weight.
func (c choices) forecast(p *learner.Posterior, q learner.DrawQuery, measured func(coll.Candidate) (coll.Measurement, bool), opt metrics.Options, criteria Criteria) (*forecast, error) {
	if len(c.points) == 0 {
		return nil, metrics.ErrEmpty
	}
	f := &forecast{
		choices: c, metrics: opt, noise: make([]float64, len(c.points)), meets: criteria.Meets, required: criteria.confidence(), rng: q.Rand,
		expected: make([]float64, len(c.points)), mistakes: make([]float64, len(c.points)), logs: make([][]float64, len(c.points)), rivals: make([][]bool, len(c.points)),
	}
	for i, open := range c.open {
		f.logs[i], f.rivals[i] = make([]float64, len(open)), make([]bool, len(open))
		f.noise[i] = math.Sqrt(p.Noise().Unshifted(c.points[i]))
	}
	q.Points, q.Open, q.Measured = c.points, c.open, map[coll.Candidate]learner.MeasuredTime{}
	for i, point := range c.points {
		for _, alg := range c.open[i] {
			candidate := coll.Candidate{Point: point, Algorithm: alg}
			if m, ok := measured(candidate); ok {
				q.Measured[candidate] = learner.MeasuredTime{Log: math.Log10(m.Seconds), Noise: p.Noise().Of(m)}
			}
		}
	}
	draws, err := p.Draws(q)
	if err != nil {
		return nil, err
	}
	for f.draws < mostDraws && f.mayMeet() {
		for _, times := range draws.Next(fewDraws) {
			if err := f.add(times); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// mayMeet reports whether the stopping criteria can still hold in the required proportion of mostDraws draws.
// It assumes that they hold in all remaining draws.
func (f *forecast) mayMeet() bool {
	return float64(f.draws-f.criteriaMet) <= (1-f.required)*mostDraws
}

// add adds one random draw: log10 of the time in seconds, for each point and algorithm.
func (f *forecast) add(times [][]float64) error {
	threshold := f.metrics.Threshold()
	slowdowns, floor := make([]float64, len(times)), make([]float64, len(times))
	for i, logs := range times {
		slowdowns[i] = slowdownOf(logs, f.own[i])
		floor[i] = slowdownOf(logs, f.measuredBest(logs, f.noise[i]))
		f.expected[i] += slowdowns[i]
		if slowdowns[i] > 1+threshold {
			f.mistakes[i]++
		}
		for k, t := range logs {
			f.logs[i][k] += t
			f.rivals[i][k] = f.rivals[i][k] || logs[f.own[i]]-t > math.Log10(1+threshold)
		}
	}
	s, err := metrics.Average(slowdowns, f.metrics)
	if err != nil {
		return err
	}
	attained, err := metrics.Average(floor, f.metrics)
	if err != nil {
		return err
	}
	f.draws++
	f.summaries, f.attainableMistakes = append(f.summaries, s), append(f.attainableMistakes, attained.Mistakes)
	if f.meets(s) {
		f.criteriaMet++
	}
	if f.meets(attained) {
		f.attainableMet++
	}
	return nil
}

// slowdownOf returns the slowdown of the algorithm with index `own` relative to the fastest, limited to
// maxSlowdown. `logs` holds log10 of the times of all algorithms.
func slowdownOf(logs []float64, own int) float64 {
	return min(maxSlowdown, math.Pow(10, logs[own]-slices.Min(logs)))
}

// measuredBest simulates one noisy measurement of each algorithm and returns the index of the shortest time.
// The noise has the standard deviation `sd`. It does not include the slowdown that all times of a job share,
// because the posterior estimates it separately.
func (f *forecast) measuredBest(logs []float64, sd float64) int {
	best, shortest := 0, math.Inf(1)
	for k, t := range logs {
		if t += sd * f.rng.NormFloat64(); t < shortest {
			best, shortest = k, t
		}
	}
	return best
}

// mean returns the averages over the draws. P95 and Worst are computed from the expected slowdown of each
// point.
func (f *forecast) mean() (metrics.Summary, error) {
	expected := make([]float64, len(f.expected))
	for i, sum := range f.expected {
		expected[i] = sum / float64(f.draws)
	}
	out, err := metrics.Summarize(expected, f.metrics)
	out.Accuracy, out.Mistakes = f.average(accuracy), f.average(mistakes)
	return out, err
}

func slowdown(s metrics.Summary) float64 { return s.Slowdown }
func mistakes(s metrics.Summary) float64 { return s.Mistakes }
func accuracy(s metrics.Summary) float64 { return s.Accuracy }

// average returns the mean of one field of the summaries.
func (f *forecast) average(figure func(metrics.Summary) float64) float64 {
	return stat.Mean(f.values(figure), nil)
}

// upper returns the upper confidence limit of one field of the summaries, at the level `confidence`.
func (f *forecast) upper(figure func(metrics.Summary) float64) float64 {
	return stat.Quantile(confidence, stat.Empirical, f.values(figure), nil)
}

// values returns one field of the summaries of all draws, in ascending order.
func (f *forecast) values(figure func(metrics.Summary) float64) []float64 {
	out := make([]float64, len(f.summaries))
	for i, s := range f.summaries {
		out[i] = figure(s)
	}
	slices.Sort(out)
	return out
}

// Expected returns the expected quality of a selection at points of the space. `scores` says
// how well each error model has predicted so far. It returns false if the posterior has no prediction for the
// selected algorithm at one of the points.
func (a Alternatives) Expected(points []coll.Point, choose Choice, opt metrics.Options, scores learner.Scores, seed uint64) (metrics.Summary, bool, error) {
	p := a.models.Posterior()
	c := a.predictable(p, points, choose)
	if len(c.points) < len(points) {
		return metrics.Summary{}, false, nil
	}
	q := learner.DrawQuery{Scores: scores, Rand: rand.New(rand.NewPCG(seed, ruleStream))}
	f, err := c.forecast(p, q, a.trusted, opt, Criteria{})
	if err != nil {
		return metrics.Summary{}, false, ignoreEmpty(err)
	}
	sum, err := f.mean()
	return sum, err == nil, err
}
