package export

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tutti/activelearn"
	"tutti/campaign"
	"tutti/coll"
	"tutti/metrics"
	"tutti/report"
)

// scores returns the scores of the tuned selection and of the default at the same points. If true times are
// recorded, these are the points with a true time of the default, or all points if there are none. Without
// true times, the score of the tuned selection is that of the last evaluation.
func scores(k knownTimes, c campaign.FinalSelection) ([]report.Score, error) {
	if c.Truth == nil {
		return estimates(c)
	}
	ofDefault := func(coll.Point) coll.Algorithm { return coll.Default }
	points := c.Points
	if known, _ := k.slowdowns(points, ofDefault); len(known) > 0 {
		points = known
	}
	tunedPoints, slowdowns := k.slowdowns(points, c.Selection.Choose)
	tuned, err := scoreOf("tuned", c, tunedPoints, slowdowns)
	if errors.Is(err, metrics.ErrEmpty) { // no point has a weight
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	tuned.Slower, tuned.SlowerWorst = k.slower(points, c.Selection.Choose)
	defaultPoints, slowdowns := k.slowdowns(tunedPoints, ofDefault)
	byDefault, err := scoreOf("default", c, defaultPoints, slowdowns)
	if errors.Is(err, metrics.ErrEmpty) {
		return []report.Score{tuned}, nil
	}
	return []report.Score{tuned, byDefault}, err
}

func unsafeFacts(c campaign.FinalSelection) (*report.UnsafeFacts, error) {
	if len(c.Unsafe) == 0 {
		return nil, nil
	}
	f := &report.UnsafeFacts{Algorithms: c.Unsafe}
	if c.UnsafeTruth == nil {
		return f, nil
	}
	all := knownTimesOf(c, slices.Concat(c.Truth, c.UnsafeTruth))
	points, slowdowns := all.slowdowns(c.Points, c.Selection.Choose)
	sum, err := metrics.Average(slowdowns, c.Weigh(c.Spec.Metrics, points))
	if errors.Is(err, metrics.ErrEmpty) {
		return f, nil
	}
	f.Slowdown, f.Mistakes = &sum.Slowdown, &sum.Mistakes
	return f, err
}

// estimates returns the predicted score of the files' selection, or that of the last evaluation if it is unknown. If the
// models can predict the default at every point of the grid, both scores are from the same random draws, so that their
// difference is not chance. It returns no score if there was no evaluation, or if the campaign measured the rest of the
// space after the last one.
func estimates(c campaign.FinalSelection) ([]report.Score, error) {
	res := c.Result
	n := len(res.Evaluations)
	if n == 0 || res.Stop == activelearn.SpaceExhausted && res.Evaluations[n-1].Trials < res.Ledger.Trials() {
		return nil, nil
	}
	e := res.Evaluations[n-1]
	if res.Files != nil {
		e = *res.Files
	}
	tuned := report.Score{
		Name: "tuned", Source: string(e.Source), SlowdownHigh: e.SlowdownUpper, MistakesHigh: e.MistakesUpper,
		Summary: metrics.Summary{Points: e.EvaluatedPoints, Slowdown: e.Slowdown, Accuracy: e.Accuracy, Mistakes: e.Mistakes, P95: e.P95Slowdown, Worst: e.WorstSlowdown},
	}
	if e.SlowdownUpper > 0 {
		tuned.SlowdownLow = 1 // only upper limits are estimated
	}
	sum, ok, err := c.Expected(func(coll.Point) coll.Algorithm { return coll.Default })
	if err != nil || !ok {
		return []report.Score{tuned}, err
	}
	own, ok, err := c.Expected(c.Selection.Choose)
	if err != nil {
		return nil, err
	}
	if ok {
		tuned.Summary = own
		tuned.SlowdownHigh, tuned.MistakesHigh = max(e.SlowdownUpper, own.Slowdown), max(e.MistakesUpper, own.Mistakes)
	}
	return []report.Score{tuned, {Name: "default", Source: string(e.Source), Summary: sum}}, nil
}

// bootstrapResamples is the number of resamples for an interval. Each tail of 2.5 % then has 25 resamples.
const bootstrapResamples = 1000

// scoreOf summarizes the known slowdowns of a selection at the given points, with intervals. The error matches
// metrics.ErrEmpty if no point has a weight.
func scoreOf(name string, c campaign.FinalSelection, points []coll.Point, slowdowns []float64) (report.Score, error) {
	opt := c.Weigh(c.Spec.Metrics, points)
	sum, err := metrics.Summarize(slowdowns, opt)
	if err != nil {
		return report.Score{}, err
	}
	s := report.Score{Name: name, Source: "recorded", Summary: sum}
	if s.SlowdownLow, s.SlowdownHigh, err = bootstrapInterval(slowdowns, opt, c.Spec.Seed, func(s metrics.Summary) float64 { return s.Slowdown }); err != nil {
		return s, err
	}
	s.MistakesLow, s.MistakesHigh, err = bootstrapInterval(slowdowns, opt, c.Spec.Seed, func(s metrics.Summary) float64 { return s.Mistakes })
	return s, err
}

// bootstrapInterval returns a confidence interval of a number that `pick` reads from a summary of slowdowns.
func bootstrapInterval(slowdowns []float64, opt metrics.Options, seed uint64, pick func(metrics.Summary) float64) (low, high float64, err error) {
	all, err := metrics.Average(slowdowns, opt)
	if err != nil {
		return 0, 0, err
	}
	i, err := bootstrap(slowdowns, opt.Weight, pick(all), func(drawn, weights []float64) float64 {
		s, err := metrics.Average(drawn, metrics.Options{MistakeThreshold: opt.MistakeThreshold, Weights: weights})
		if err != nil {
			panic(err) // impossible: Average accepted the same values above
		}
		return pick(s)
	}, seed)
	return i.Low, i.High, err
}

// bootstrap returns the 95 % interval of a statistic of weighted values, by drawing values with replacement. If all
// drawn values have weight zero, it uses `whole`, the statistic of all values.
func bootstrap(values []float64, weight func(int) float64, whole float64, statistic func(values, weights []float64) float64, seed uint64) (metrics.Interval, error) {
	indices := make([]int, len(values))
	for i := range indices {
		indices[i] = i
	}
	x, w := make([]float64, len(values)), make([]float64, len(values))
	return metrics.Bootstrap(indices, func(drawn []int) float64 {
		for k, i := range drawn {
			x[k], w[k] = values[i], weight(i)
		}
		if !(floats.Sum(w) > 0) {
			return whole
		}
		return statistic(x, w)
	}, bootstrapResamples, 0.95, seed)
}

// curveOf returns the evaluations without the field Scores, which only a resumed campaign needs.
func curveOf(evaluations []activelearn.Evaluation) []activelearn.Evaluation {
	out := slices.Clone(evaluations)
	for i := range out {
		out[i].Scores = nil
	}
	return out
}

// knownTimes contains the times with which selections are compared. These are the recorded true times, or
// the measurements if there are none.
type knownTimes struct {
	seconds  map[coll.Candidate]float64
	fastest  map[coll.Point]coll.Measurement // prefers another algorithm to an equally fast default
	measured map[coll.Point]int              // number of measurements
	complete bool                            // the times of all candidates are known
}

// knownTimesOf returns the times in `truth`, or the measured ones if `truth` is nil.
func knownTimesOf(c campaign.FinalSelection, truth []coll.Measurement) knownTimes {
	k := knownTimes{
		seconds:  map[coll.Candidate]float64{},
		fastest:  map[coll.Point]coll.Measurement{},
		measured: map[coll.Point]int{},
		complete: truth != nil || c.Result.Ledger.FreeCount() == 0,
	}
	for _, m := range c.Result.Ledger.Measurements() {
		k.measured[m.Point]++
	}
	if truth == nil {
		truth = c.Result.Ledger.Measurements()
	}
	for _, m := range truth {
		k.seconds[m.Candidate] = m.Seconds
		best, ok := k.fastest[m.Point]
		if !ok || m.Seconds < best.Seconds || m.Seconds == best.Seconds && best.Algorithm.IsDefault() {
			k.fastest[m.Point] = m
		}
	}
	return k
}

// slowdown returns the time of an algorithm at a point over the fastest known time, false if it is unknown.
func (k knownTimes) slowdown(p coll.Point, alg coll.Algorithm) (float64, bool) {
	chosen, ok := k.seconds[coll.Candidate{Point: p, Algorithm: alg}]
	if !ok {
		return 0, false
	}
	s, err := metrics.Slowdown(chosen, k.fastest[p].Seconds)
	return s, err == nil
}

// slowdowns returns the known slowdowns of a selection. The result `at` has the point of each slowdown.
func (k knownTimes) slowdowns(points []coll.Point, choose func(coll.Point) coll.Algorithm) (at []coll.Point, slowdowns []float64) {
	for _, p := range points {
		if s, ok := k.slowdown(p, choose(p)); ok {
			at, slowdowns = append(at, p), append(slowdowns, s)
		}
	}
	return at, slowdowns
}

// slower returns the number `n` of points at which a selection is significantly slower than the default. The
// result `worst` is the largest ratio of the selection's time to the default's time at one point. Both are
// nil if no point can be compared.
func (k knownTimes) slower(points []coll.Point, choose func(coll.Point) coll.Algorithm) (n *int, worst *float64) {
	count, most := 0, 0.0
	for _, p := range points {
		chosen, ok := k.slowdown(p, choose(p))
		byDefault, comparable := k.slowdown(p, coll.Default)
		if !ok || !comparable {
			continue
		}
		ratio := chosen / byDefault
		most = max(most, ratio)
		if ratio > 1+metrics.TieTolerance {
			count++
		}
	}
	if most == 0 {
		return nil, nil
	}
	return &count, &most
}
