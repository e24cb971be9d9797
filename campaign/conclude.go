package campaign

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"tutti/campaign/report"
	"tutti/coll"
	"tutti/metrics"
	"tutti/selection"
	"tutti/store"
	"tutti/surrogate/learner"
	"tutti/verify"
)

// Selection is what a library can be told of the predictions: the algorithm that
// its files will select at a point, coll.Default where they leave the decision to
// the library, and the number of rules they need.
type Selection struct {
	Choose func(coll.Point) coll.Algorithm
	Leaves int
}

// Conclusion is what a problem's measurements amount to.
type Conclusion struct {
	Selection Selection
	Rows      []selection.Row // predictions at every grid point, in order
	Left      bool            // a verification left the whole collective to the library: write nothing for it
	Facts     report.ProblemFacts
}

// Conclude trains the final models, predicts every candidate of the grid, puts
// back to the default what verifications condemned, fits what the library can be
// told and gathers the facts for the report. It is a function of its arguments
// alone.
func Conclude(spec Spec, p Problem, res Result, condemned verify.Condemned, fit func([]selection.Row) (Selection, error)) (Conclusion, error) {
	c, l, err := Select(spec, p, res, condemned, fit)
	if err != nil {
		return Conclusion{}, err
	}
	spec = spec.concluding(p, res)
	final, err := spec.final(res.Study)
	if err != nil {
		return Conclusion{}, err
	}
	var held learner.HeldOut // none from a single point
	if res.Ledger.PointsMeasured() > 1 {
		if held, err = learner.CrossValidate(res.Ledger.Measurements(), spec.Folds, spec.Seed, final); err != nil {
			return Conclusion{}, err
		}
	}
	if c.Facts, err = newFacts(spec, final, p, res, c, held); err != nil {
		return c, err
	}
	return c, addTies(&c.Facts, l, len(res.Ledger.Measurements()), c)
}

// Select is Conclude without the facts: what would be selected by now, not how
// good that is. It returns the models, too.
func Select(spec Spec, p Problem, res Result, condemned verify.Condemned, fit func([]selection.Row) (Selection, error)) (Conclusion, *learner.Learner, error) {
	spec = spec.concluding(p, res)
	ms := res.Ledger.Measurements()
	if len(ms) == 0 {
		return Conclusion{}, nil, fmt.Errorf("%s: nothing was measured", p.Problem)
	}
	final, err := spec.final(res.Study)
	if err != nil {
		return Conclusion{}, nil, err
	}
	l, err := learner.Fit(ms, final)
	if err != nil {
		return Conclusion{}, nil, err
	}
	c := Conclusion{Left: condemned.All}
	if c.Rows, err = predictRows(l, p, ms); err != nil {
		return Conclusion{}, nil, fmt.Errorf("%s: %w", p.Problem, err)
	}
	c.Rows, err = verify.PutBack(c.Rows, condemned, func(rows []selection.Row) (func(coll.Point) coll.Algorithm, error) {
		s, err := fit(rows)
		return s.Choose, err
	})
	if err != nil {
		return Conclusion{}, nil, fmt.Errorf("%s: %w", p.Problem, err)
	}
	if c.Selection, err = fit(c.Rows); err != nil {
		return Conclusion{}, nil, fmt.Errorf("%s: %w", p.Problem, err)
	}
	return c, l, nil
}

// concluding is the spec of one problem with what it knows by the end.
func (s Spec) concluding(p Problem, res Result) Spec {
	s = s.forProblem(p.Problem)
	s.Learner.Missing, s.Learner.Earlier = res.Ledger.Missing, p.Earlier
	return s
}

// predictRows returns what can be selected at each point of the space. What was
// measured at a point stands for its prediction there; what was measured to be slower than the library's default at the point itself cannot.
func predictRows(l *learner.Learner, p Problem, ms []coll.Measurement) ([]selection.Row, error) {
	seconds := make(map[coll.Candidate]float64, len(ms))
	for _, m := range ms {
		seconds[m.Candidate] = m.Seconds
	}
	points := p.Space.Points()
	predicted, err := l.Predict(points)
	if err != nil {
		return nil, err
	}
	var rows []selection.Row
	for i, point := range points {
		row := selection.Row{Point: point}
		var scaled []float64
		byDefault := seconds[coll.Candidate{Point: point, Algorithm: coll.Default}] // zero when not measured
		for _, a := range p.Space.Feasible(i) {
			alg := p.Space.Algorithms()[a]
			if byDefault > 0 && seconds[coll.Candidate{Point: point, Algorithm: alg}] > byDefault {
				continue
			}
			if at, known := slices.BinarySearchFunc(l.Algorithms(), alg, coll.CompareAlgorithms); known {
				row.Options = append(row.Options, selection.Option{Algorithm: alg})
				scaled = append(scaled, predicted[at][i])
			}
		}
		if len(scaled) == 0 {
			continue
		}
		relative, err := l.Relative(scaled)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", point, err)
		}
		for k := range row.Options {
			row.Options[k].Seconds = relative[k]
		}
		useMeasured(row, seconds)
		rows = append(rows, row)
	}
	return rows, nil
}

// useMeasured puts measured times in the place of predictions, in the unit of the
// predictions at the point: the geometric mean of those that are replaced stays.
func useMeasured(row selection.Row, seconds map[coll.Candidate]float64) {
	n, shift := 0, 0.0
	for _, o := range row.Options {
		if t := seconds[coll.Candidate{Point: row.Point, Algorithm: o.Algorithm}]; t > 0 {
			n++
			shift += math.Log(o.Seconds / t)
		}
	}
	if n == 0 {
		return
	}
	unit := math.Exp(shift / float64(n))
	for k, o := range row.Options {
		if t := seconds[coll.Candidate{Point: row.Point, Algorithm: o.Algorithm}]; t > 0 {
			row.Options[k].Seconds = t * unit
		}
	}
}

// bootstrapResamples of the intervals in the report: the 2.5 % tails hold 25.
const bootstrapResamples = 1000

// score condenses slowdowns at points with intervals; nil for none that matters.
func score(name, source string, slowdowns []float64, points []coll.Point, p Problem, spec Spec) (*report.Score, error) {
	opt := p.weigh(spec.Metrics, points)
	sum, err := metrics.Summarize(slowdowns, opt)
	if errors.Is(err, metrics.ErrEmpty) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &report.Score{
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

func curveOf(evaluations []store.Evaluation) []report.CurvePoint {
	out := make([]report.CurvePoint, len(evaluations))
	for i, e := range evaluations {
		out[i] = report.CurvePoint{
			Round: e.Round, Trials: e.Trials, Points: e.Points, PointShare: e.PointShare,
			MachineSeconds: e.MachineSeconds, Source: e.Source, R2: e.R2, Slowdown: e.Slowdown,
			Accuracy: e.Accuracy, Mistakes: e.Mistakes, P95: e.P95Slowdown, Worst: e.WorstSlowdown,
			SlowdownUpper: e.SlowdownUpper, MistakesUpper: e.MistakesUpper,
		}
	}
	return out
}
