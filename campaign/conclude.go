package campaign

import (
	"fmt"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/metrics"
	"tutti/selection"
	"tutti/surrogate/learner"
)

// FinalModel contains the final models of a problem and their predictions at every grid point.
type FinalModel struct {
	Problem
	Result       Result
	Spec         Spec             // spec of the problem, with its seed
	Learner      learner.Options  // options of the models
	Data         learner.Data     // training data of the models
	Models       *learner.Learner // trained on every measurement
	alternatives activelearn.Alternatives
	rows         []selection.Row
	guarded      activelearn.Guarded // of rows
	Points       []coll.Point        // points of the grid, and those that were added during the campaign
	scores       learner.Scores      // of the error models (distributions of prediction errors), after the last evaluation
}

// FinalSelection is the final selection for one problem, with the models and times from which it was made.
type FinalSelection struct {
	*FinalModel
	Selection  activelearn.Selection
	Rows       []selection.Row // the alternatives at every grid point, in order
	Allowed    []selection.Row // what the files may select there; see activelearn.Alternatives.Guard
	AllDefault bool            // the whole collective is left to the library's default, so it needs no file
}

// Train trains the final models on all measurements and predicts every candidate of the grid. The same
// arguments lead to the same models.
func Train(spec Spec, p Problem, res Result) (*FinalModel, error) {
	spec = spec.forProblem(p)
	data := activelearn.DataOf(res.Ledger, p.Earlier)
	if res.Ledger.CandidatesMeasured() == 0 {
		return nil, fmt.Errorf("%s: nothing was measured", p.Problem)
	}
	final, err := spec.final(res.Study)
	if err != nil {
		return nil, err
	}
	l, err := learner.Fit(data, final)
	if err != nil {
		return nil, err
	}
	t := &FinalModel{Problem: p, Result: res, Spec: spec, Learner: final, Data: data, Models: l, Points: res.Ledger.Space().Points()}
	if n := len(res.Evaluations); n > 0 {
		t.scores = res.Evaluations[n-1].Scores
	}
	if t.alternatives, err = activelearn.NewAlternatives(l, res.Ledger).ForLayouts(p.Bands); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Problem, err)
	}
	if t.rows, err = t.alternatives.Rows(t.Points); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Problem, err)
	}
	t.guarded = spec.guard(t.alternatives, t.rows)
	return t, nil
}

// guard returns what the selection files may select. Without Spec.Guard, these are all alternatives.
func (s Spec) guard(a activelearn.Alternatives, rows []selection.Row) activelearn.Guarded {
	if s.Guard {
		return a.Guard(rows)
	}
	return activelearn.Unguarded(rows)
}

// Conclude makes the final selection. It selects the library's default at the points in `rejected`, which a
// verification found slower, and makes rules for the other points.
func (t *FinalModel) Conclude(rejected selection.Rejected) (FinalSelection, error) {
	c := FinalSelection{FinalModel: t, Rows: t.rows, AllDefault: rejected.All}
	var err error
	c.Allowed, err = selection.RevertToDefault(t.guarded.Rows, rejected, func(rows []selection.Row) (func(coll.Point) coll.Algorithm, error) {
		s, err := t.merge(rows)
		return s.Choose, err
	})
	if err == nil {
		c.Selection, err = t.merge(c.Allowed)
	}
	if err != nil {
		return FinalSelection{}, fmt.Errorf("%s: %w", t.Problem.Problem, err)
	}
	return c, nil
}

// Excluded returns the candidates that the selection must not contain because they failed.
func (t *FinalModel) Excluded() *activelearn.Excluded { return t.alternatives.Excluded() }

// GuardResult says why the selection at the i-th point of Rows is as it is.
func (c FinalSelection) GuardResult(i int) activelearn.GuardResult {
	result, left := c.guarded.Results[i], c.Selection.Choose(c.Rows[i].Point).IsDefault()
	switch {
	case result == activelearn.Confirmed && left:
		return activelearn.NotSelected
	case result != activelearn.Confirmed && result != activelearn.NotGuarded && !left:
		return activelearn.Equal
	}
	return result
}

// Unguarded reports whether the selection is as predicted: without a default in the space, or without Spec.Guard.
func (c FinalSelection) Unguarded() bool {
	return len(c.Rows) > 0 && c.GuardResult(0) == activelearn.NotGuarded
}

// Noise returns the relative standard deviation of a measured time between jobs, as the median over the points.
func (t *FinalModel) Noise() float64 { return t.alternatives.Noise(t.Points) }

// Unconfirmed returns what further confirmation could add. It is zero without Spec.Guard.
func (t *FinalModel) Unconfirmed() (activelearn.Unconfirmed, error) {
	if !t.Spec.Guard {
		return activelearn.Unconfirmed{}, nil
	}
	opt := activelearn.PairOptions{Weight: t.weight(), SharedLaunch: t.Spec.sharedLaunch(t.Problem), Earlier: t.Earlier}
	m, err := t.alternatives.Market(t.rows, opt)
	if err != nil {
		return activelearn.Unconfirmed{}, fmt.Errorf("%s: %w", t.Problem.Problem, err)
	}
	return m.Unconfirmed(len(t.Points)), nil
}

// maxPosteriorWork limits the cost of a posterior over the whole grid: points times algorithms times the
// squared number of measurements. A posterior at the limit takes about ten seconds.
const maxPosteriorWork = 2e10

// HasPosterior reports whether the models have a posterior that is computed over the grid fast enough for a report.
func (c FinalSelection) HasPosterior() bool {
	work, n := 0.0, float64(c.Result.Ledger.CandidatesMeasured())
	for _, row := range c.Rows {
		work += float64(len(row.Options)) * n * n
	}
	return c.Learner.Model == learner.GaussianProcess && work <= maxPosteriorWork
}

// Expected returns the expected quality (slowdown and mistakes) of a selection over the whole grid. It returns false
// if the models have no posterior or cannot predict the selected algorithm at some point.
func (c FinalSelection) Expected(choose activelearn.Choice) (metrics.Summary, bool, error) {
	if !c.HasPosterior() {
		return metrics.Summary{}, false, nil
	}
	return c.alternatives.Expected(c.Points, choose, c.Weigh(c.Spec.Metrics, c.Points), c.scores, c.Spec.Seed)
}

// Uncertainties returns the uncertainty of the choice at each point with at least two algorithms to choose
// from. See learner.Learner.Uncertainties for cost and errors.
func (c FinalSelection) Uncertainties() ([]learner.Uncertainty, error) {
	var points []coll.Point
	open := map[coll.Point][]coll.Algorithm{}
	for _, row := range c.Rows {
		if len(row.Options) < 2 {
			continue
		}
		points = append(points, row.Point)
		for _, o := range row.Options {
			open[row.Point] = append(open[row.Point], o.Algorithm)
		}
	}
	return c.Models.Uncertainties(points, func(p coll.Point) []coll.Algorithm { return open[p] })
}
