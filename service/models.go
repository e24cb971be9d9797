package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/selection"
	"tutti/surrogate/learner"
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
	return newLearned(done.Problems[0]), nil
}

// oneProblem returns the campaign that a journal describes, limited to one of its problems.
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

// newLearned converts the final selection and predictions for a problem (a collective of a library). At points
// with a measurement, predictions are in seconds. At other points only their ratios are known.
func newLearned(p campaign.Conclusion) Learned {
	measured := map[coll.Candidate]float64{}
	for _, m := range p.Result.Ledger.Measurements() {
		measured[m.Candidate] = m.Seconds
	}
	out := Learned{Selection: Selection{Choices: []Choice{}}, Predictions: []Prediction{}}
	defaults, uncertain := defaultAlgorithms(p), uncertainties(p)
	byPoint := func(a, b selection.Row) int { return coll.ComparePoints(a.Point, b.Point) }
	for _, row := range slices.SortedFunc(slices.Values(p.Rows), byPoint) {
		unit := secondsPerUnit(row, measured)
		choice := choiceAt(row, p.Selection.Choose(row.Point), unit)
		choice.Default = defaults[row.Point]
		choice.Measured = len(p.Result.Ledger.Missing(row.Point)) == 0
		if d, ok := uncertain[row.Point]; ok {
			choice.Rival, choice.Tie, choice.PMistake = d.Rival.String(), d.Tie, d.PMistake
		}
		out.Selection.Choices = append(out.Selection.Choices, choice)
		out.Predictions = append(out.Predictions, predictionsAt(row, unit, measured)...)
	}
	return out
}

// secondsPerUnit returns the factor that converts the predictions of a row to seconds. It is 0 if
// nothing was measured at the point.
func secondsPerUnit(row selection.Row, measured map[coll.Candidate]float64) float64 {
	for _, o := range row.Options {
		if t := measured[coll.Candidate{Point: row.Point, Algorithm: o.Algorithm}]; t > 0 && o.Seconds > 0 {
			return t / o.Seconds
		}
	}
	return 0
}

func choiceAt(row selection.Row, alg coll.Algorithm, unit float64) Choice {
	c := Choice{Nodes: row.Point.Nodes, PPN: row.Point.PPN, MsgBytes: row.Point.MsgBytes, Algorithm: alg.String()}
	own, byDefault := predictionOf(row, alg), predictionOf(row, coll.Default)
	c.Seconds = own * unit
	if own > 0 && byDefault > 0 {
		c.Gain = byDefault / own
	}
	return c
}

// predictionOf returns the prediction of one algorithm in a row. It returns 0 if the row has none.
func predictionOf(row selection.Row, alg coll.Algorithm) float64 {
	for _, o := range row.Options {
		if o.Algorithm == alg {
			return o.Seconds
		}
	}
	return 0
}

func predictionsAt(row selection.Row, unit float64, measured map[coll.Candidate]float64) []Prediction {
	fastest := 0.0
	for _, o := range row.Options {
		if fastest == 0 || o.Seconds < fastest {
			fastest = o.Seconds
		}
	}
	var out []Prediction
	for _, o := range row.Options {
		out = append(out, Prediction{
			Nodes: row.Point.Nodes, PPN: row.Point.PPN, MsgBytes: row.Point.MsgBytes, Algorithm: o.Algorithm.String(),
			Seconds: o.Seconds * unit, Slowdown: o.Seconds / fastest,
			Measured: measured[coll.Candidate{Point: row.Point, Algorithm: o.Algorithm}] > 0,
		})
	}
	slices.SortFunc(out, func(a, b Prediction) int { return cmp.Compare(a.Algorithm, b.Algorithm) })
	return out
}

// defaultAlgorithms returns, for each point of recorded data, the algorithm that the library's default
// runs. It is the algorithm whose recorded time equals that of the default.
func defaultAlgorithms(p campaign.Conclusion) map[coll.Point]string {
	times := map[coll.Point]float64{}
	for _, m := range p.Truth {
		if m.Algorithm.IsDefault() {
			times[m.Point] = m.Seconds
		}
	}
	out := map[coll.Point]string{}
	for _, m := range p.Truth {
		if _, known := out[m.Point]; !known && !m.Algorithm.IsDefault() && m.Seconds == times[m.Point] {
			out[m.Point] = m.Algorithm.String()
		}
	}
	return out
}

// uncertainties returns how uncertain the choice at each point is. It returns nil for models without a
// posterior.
func uncertainties(p campaign.Conclusion) map[coll.Point]learner.Uncertainty {
	doubts, err := p.Uncertainties()
	if err != nil {
		return nil // forests have no posterior
	}
	out := make(map[coll.Point]learner.Uncertainty, len(doubts))
	for _, d := range doubts {
		out[d.Point] = d
	}
	return out
}
