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

// choices are the choices at several points, each with the algorithms that could be chosen instead.
type choices struct {
	points []coll.Point
	open   [][]coll.Algorithm
	own    []int // index of the choice in open
}

// predictable returns the choices at those points at which the posterior knows the choice. It does not know
// a default without measurements.
func (a Alternatives) predictable(p *learner.Posterior, points []coll.Point, choose Choice) (c choices) {
	for _, point := range points {
		open := slices.DeleteFunc(a.selectable(point), func(alg coll.Algorithm) bool { return !p.Knows(alg) })
		if own := slices.Index(open, choose(point)); own >= 0 {
			c.points, c.open, c.own = append(c.points, point), append(c.open, open), append(c.own, own)
		}
	}
	return c
}

// forecast is what joint draws of the times of all algorithms say about choices.
type forecast struct {
	choices
	metrics metrics.Options // with the weights of the points
	noise   []float64       // standard deviation of a measured time at each point, without the shift of its job
	meets   func(metrics.Summary) bool
	rng     *rand.Rand

	draws     int
	met       int               // draws that meet the criteria
	attained  int               // draws that meet them if every candidate is measured once
	summaries []metrics.Summary // of each draw
	floors    []float64         // of each draw: mistakes if every candidate is measured once
	expected  []float64         // of each point: sum of the slowdowns
	mistakes  []float64         // of each point: number of draws in which the choice is a mistake
	logs      [][]float64       // of each point and algorithm: sum of log10 of the times
	rivals    [][]bool          // of each point and algorithm: significantly faster than the choice in some draw
}

// forecast compares the choices with the fastest algorithms in joint draws of all times. The measured times
// replace predictions. The error matches metrics.ErrEmpty if no point has a weight.
func (c choices) forecast(p *learner.Posterior, q learner.DrawQuery, measured map[coll.Candidate]*coll.Measurement, opt metrics.Options, meets func(metrics.Summary) bool) (*forecast, error) {
	if len(c.points) == 0 {
		return nil, metrics.ErrEmpty
	}
	f := &forecast{
		choices: c, metrics: opt, noise: make([]float64, len(c.points)), meets: meets, rng: q.Rand,
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
			if m := measured[candidate]; m != nil {
				q.Measured[candidate] = learner.MeasuredTime{Log: math.Log10(m.Seconds), Noise: p.Noise().Of(*m)}
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

// mayMeet reports whether the criteria may still hold in the proportion confidence of mostDraws.
func (f *forecast) mayMeet() bool { return float64(f.draws-f.met) <= (1-confidence)*mostDraws }

// add adds a draw of times, as log10 of seconds.
func (f *forecast) add(times [][]float64) error {
	threshold, _ := f.metrics.Thresholds()
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
	f.summaries, f.floors = append(f.summaries, s), append(f.floors, attained.Mistakes)
	if f.meets(s) {
		f.met++
	}
	if f.meets(attained) {
		f.attained++
	}
	return nil
}

// slowdownOf returns the slowdown of one of several times, at most maxSlowdown. The times are logarithms.
func slowdownOf(logs []float64, own int) float64 {
	return min(maxSlowdown, math.Pow(10, logs[own]-slices.Min(logs)))
}

// measuredBest simulates one measurement of each time and returns the index of the shortest. The measurements
// have noise with the standard deviation sd. They have no shift that all measurements of a job share, because the
// posterior estimates it.
func (f *forecast) measuredBest(logs []float64, sd float64) int {
	best, shortest := 0, math.Inf(1)
	for k, t := range logs {
		if t += sd * f.rng.NormFloat64(); t < shortest {
			best, shortest = k, t
		}
	}
	return best
}

// mean returns the expectations over the draws. P95 and Worst are those of the points' expected slowdowns.
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

// average returns the average of a figure over the draws.
func (f *forecast) average(figure func(metrics.Summary) float64) float64 {
	return stat.Mean(f.values(figure), nil)
}

// upper returns the upper limit of a figure at the level confidence.
func (f *forecast) upper(figure func(metrics.Summary) float64) float64 {
	return stat.Quantile(confidence, stat.Empirical, f.values(figure), nil)
}

// values returns a figure of all draws, in ascending order.
func (f *forecast) values(figure func(metrics.Summary) float64) []float64 {
	out := make([]float64, len(f.summaries))
	for i, s := range f.summaries {
		out[i] = figure(s)
	}
	slices.Sort(out)
	return out
}

// Expected returns the expected quality of a selection at points of the space. The scores are those of the
// error models; see learner.Scores. It returns false if the posterior does not know the selection at one of the
// points.
func (a Alternatives) Expected(points []coll.Point, choose Choice, opt metrics.Options, scores learner.Scores, seed uint64) (metrics.Summary, bool, error) {
	p := a.models.Posterior()
	c := a.predictable(p, points, choose)
	if len(c.points) < len(points) {
		return metrics.Summary{}, false, nil
	}
	q := learner.DrawQuery{Scores: scores, Rand: rand.New(rand.NewPCG(seed, ruleStream))}
	f, err := c.forecast(p, q, a.trusted, opt, func(metrics.Summary) bool { return false })
	if err != nil {
		return metrics.Summary{}, false, ignoreEmpty(err)
	}
	sum, err := f.mean()
	return sum, err == nil, err
}
