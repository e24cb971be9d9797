package report

import (
	"errors"

	"tutti/campaign"
	"tutti/coll"
	"tutti/metrics"
	"tutti/store"
)

// predictedScore is what the last evaluation predicts, with the upper ends. Of how much
// better it may be nothing is said.
func predictedScore(evaluations []store.Evaluation) (Score, bool) {
	if len(evaluations) == 0 {
		return Score{}, false
	}
	e := evaluations[len(evaluations)-1]
	return Score{
		Name: "tuned", Source: e.Source, Points: e.Judged, Accuracy: e.Accuracy, P95: e.P95Slowdown, Worst: e.WorstSlowdown,
		Slowdown: e.Slowdown, SlowdownLow: 1, SlowdownHigh: e.SlowdownUpper,
		Mistakes: e.Mistakes, MistakesHigh: e.MistakesUpper,
	}, e.Source == string(campaign.ByPrediction)
}

// bootstrapResamples of the intervals in the report: the 2.5 % tails hold 25.
const bootstrapResamples = 1000

// score condenses slowdowns at points with intervals; nil for none that matters.
func score(name, source string, slowdowns []float64, points []coll.Point, p campaign.Problem, spec campaign.Spec) (*Score, error) {
	opt := p.Weigh(spec.Metrics, points)
	sum, err := metrics.Summarize(slowdowns, opt)
	if errors.Is(err, metrics.ErrEmpty) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &Score{
		Name: name, Source: source, Points: sum.Points,
		Slowdown: sum.Slowdown, Accuracy: sum.Accuracy, Mistakes: sum.Mistakes, P95: sum.P95, Worst: sum.Worst,
	}
	if s.SlowdownLow, s.SlowdownHigh, err = resampled(slowdowns, opt, spec.Seed, func(s metrics.Summary) float64 { return s.Slowdown }); err != nil {
		return nil, err
	}
	s.MistakesLow, s.MistakesHigh, err = resampled(slowdowns, opt, spec.Seed, func(s metrics.Summary) float64 { return s.Mistakes })
	return s, err
}

// resampled is the bootstrap interval of a figure over points drawn with their
// weights. Of draws without any weight the figure is that of all points.
func resampled(slowdowns []float64, opt metrics.Options, seed uint64, pick func(metrics.Summary) float64) (low, high float64, err error) {
	all, err := metrics.Average(slowdowns, opt)
	if err != nil {
		return 0, 0, err
	}
	indices := make([]float64, len(slowdowns))
	for i := range indices {
		indices[i] = float64(i)
	}
	drawn, of := make([]float64, len(slowdowns)), opt
	if opt.Weights != nil {
		of.Weights = make([]float64, len(slowdowns))
	}
	i, err := metrics.Bootstrap(indices, func(v []float64) float64 {
		for k, at := range v {
			drawn[k] = slowdowns[int(at)]
			if opt.Weights != nil {
				of.Weights[k] = opt.Weights[int(at)]
			}
		}
		s, err := metrics.Average(drawn, of)
		if errors.Is(err, metrics.ErrEmpty) {
			return pick(all)
		}
		if err != nil {
			panic(err) // the values were summarised above
		}
		return pick(s)
	}, bootstrapResamples, 0.95, seed)
	return i.Low, i.High, err
}

func curveOf(evaluations []store.Evaluation) []CurvePoint {
	out := make([]CurvePoint, len(evaluations))
	for i, e := range evaluations {
		out[i] = CurvePoint{
			Round: e.Round, Trials: e.Trials, Points: e.Points, PointShare: e.PointShare,
			MachineSeconds: e.MachineSeconds, Source: e.Source, R2: e.R2, Slowdown: e.Slowdown,
			Accuracy: e.Accuracy, Mistakes: e.Mistakes, P95: e.P95Slowdown, Worst: e.WorstSlowdown,
			SlowdownUpper: e.SlowdownUpper, MistakesUpper: e.MistakesUpper,
		}
	}
	return out
}
