package campaign

import (
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/selection"
	"tutti/surrogate/learner"
)

// Selection is what a library can be told of the predictions: the algorithm that
// its files will select at a point, coll.Default where they leave the decision to
// the library, and the number of rules they need.
type Selection struct {
	Choose func(coll.Point) coll.Algorithm
	Leaves int
}

// Trained is what a problem's measurements have taught: the final models and what
// they predict at every grid point.
type Trained struct {
	Spec    Spec             // of the problem, with its own seed
	Learner learner.Options  // of the models
	Models  *learner.Learner // trained on every measurement
	rows    []selection.Row
	problem Problem
}

// Conclusion is what is selected by the end.
type Conclusion struct {
	*Trained
	Selection Selection
	Rows      []selection.Row // what can be selected at every grid point, in order
	Left      bool            // the whole collective is left to the library: write nothing for it
}

// Train trains the final models on all measurements and predicts every candidate of
// the grid. It is a function of its arguments alone.
func Train(spec Spec, p Problem, res Result) (*Trained, error) {
	spec = spec.concluding(p, res)
	ms := res.Ledger.Measurements()
	if len(ms) == 0 {
		return nil, fmt.Errorf("%s: nothing was measured", p.Problem)
	}
	final, err := spec.final(res.Study)
	if err != nil {
		return nil, err
	}
	l, err := learner.Fit(ms, final)
	if err != nil {
		return nil, err
	}
	t := &Trained{Spec: spec, Learner: final, Models: l, problem: p}
	if t.rows, err = predictRows(l, p, ms); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Problem, err)
	}
	return t, nil
}

// Conclude leaves to the default what was condemned and fits what the library can be
// told.
func (t *Trained) Conclude(condemned selection.Condemned, fit func([]selection.Row) (Selection, error)) (Conclusion, error) {
	c := Conclusion{Trained: t, Left: condemned.All}
	var err error
	c.Rows, err = selection.PutBack(t.rows, condemned, func(rows []selection.Row) (func(coll.Point) coll.Algorithm, error) {
		s, err := fit(rows)
		return s.Choose, err
	})
	if err == nil {
		c.Selection, err = fit(c.Rows)
	}
	if err != nil {
		return Conclusion{}, fmt.Errorf("%s: %w", t.problem.Problem, err)
	}
	return c, nil
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
