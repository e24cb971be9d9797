package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/selection"
)

// Learn trains the models of one problem on the journal in a folder. It returns the selection and the predictions
// that the campaign would have if it ended with the measurements made so far. If nothing was measured yet, the error
// matches ErrNotYet.
func Learn(ctx context.Context, dir string, id journal.Problem) (Learned, error) {
	contents, err := journal.Read(dir)
	if err != nil {
		return Learned{}, err
	}
	c, err := oneProblem(contents, dir, id)
	if err != nil {
		return Learned{}, err
	}
	if err := ctx.Err(); err != nil {
		return Learned{}, err
	}
	state := contents.State()
	results, err := c.Results(state)
	if err != nil {
		return Learned{}, err
	}
	models, err := export.Train(ctx, c, results)
	if errors.Is(err, export.ErrNothing) {
		return Learned{}, fmt.Errorf("%w: %s has no measurement", ErrNotYet, id)
	}
	if err != nil {
		return Learned{}, err
	}
	done, err := models.Conclude(state)
	if err != nil {
		return Learned{}, err
	}
	return newLearned(done.Problems[0])
}

// oneProblem assembles the campaign of a journal for one of its problems only.
func oneProblem(contents *journal.Contents, dir string, id journal.Problem) (*assembly.Campaign, error) {
	cfg, err := config.Restore(contents.Header.Spec, dir)
	if err != nil {
		return nil, fmt.Errorf("journal of %s: %w", dir, err)
	}
	cfg.Libraries = slices.DeleteFunc(cfg.Libraries, func(l config.Library) bool { return l.Name != id.Library })
	cfg.Collectives = slices.DeleteFunc(cfg.Collectives, func(name string) bool { return name != string(id.Collective) })
	if len(cfg.Libraries) != 1 || len(cfg.Collectives) != 1 {
		return nil, fmt.Errorf("%w: %s", ErrNoProblem, id)
	}
	c, err := assembly.New(cfg)
	if errors.Is(err, assembly.ErrUnmeasurable) {
		return nil, fmt.Errorf("%w: %s", ErrNoProblem, id) // every role may read the text, and err names paths
	}
	if err != nil {
		return nil, fmt.Errorf("campaign of %s: %w", dir, err)
	}
	return c, nil
}

// newLearned returns the final selection and predictions for a problem. At points
// with a measurement, predictions are in seconds. At other points only their ratios are known.
func newLearned(c campaign.FinalSelection) (Learned, error) {
	cells, err := export.Cells(c)
	if err != nil {
		return Learned{}, err
	}
	measured := map[coll.Candidate]float64{}
	for _, m := range c.Result.Ledger.Measurements() {
		measured[m.Candidate] = m.Seconds
	}
	out := Learned{Selection: Selection{Cells: cells}, Predictions: []Prediction{}}
	byPoint := func(a, b selection.Row) int { return coll.ComparePoints(a.Point, b.Point) }
	for _, row := range slices.SortedFunc(slices.Values(c.Rows), byPoint) {
		out.Predictions = append(out.Predictions, predictionsAt(row, measured)...)
	}
	return out, nil
}

// predictionsAt returns the predictions at one point. If no algorithm was measured there, the models know only ratios
// of times. The predictions then have slowdowns, and 0 in the field Seconds.
func predictionsAt(row selection.Row, measured map[coll.Candidate]float64) []Prediction {
	unit, fastest := 0.0, math.Inf(1)
	for _, o := range row.Options {
		fastest = min(fastest, o.Seconds)
		if t := measured[coll.Candidate{Point: row.Point, Algorithm: o.Algorithm}]; unit == 0 && t > 0 && o.Seconds > 0 {
			unit = t / o.Seconds
		}
	}
	var out []Prediction
	for _, o := range row.Options {
		out = append(out, Prediction{
			Point: row.Point, Algorithm: o.Algorithm.String(),
			Seconds: o.Seconds * unit, Slowdown: o.Seconds / fastest,
			Measured: measured[coll.Candidate{Point: row.Point, Algorithm: o.Algorithm}] > 0,
		})
	}
	slices.SortFunc(out, func(a, b Prediction) int { return cmp.Compare(a.Algorithm, b.Algorithm) })
	return out
}
