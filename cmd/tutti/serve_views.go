package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/selection"
	"tutti/service"
	"tutti/store"
	"tutti/surrogate/learner"
	"tutti/verify"
)

// journalViews tells the service what a journal amounts to.
type journalViews struct{}

// Learnt implements service.Views: the selection and the predictions that
// concluding the campaign now would give for one problem.
func (journalViews) Learnt(ctx context.Context, dir string, id store.Problem) (service.Learnt, error) {
	contents, err := store.Read(dir)
	if err != nil {
		return service.Learnt{}, err
	}
	b, err := buildOne(contents, dir, id)
	if err != nil {
		return service.Learnt{}, err
	}
	if err := ctx.Err(); err != nil {
		return service.Learnt{}, err
	}
	p := b.problems[0]
	res, err := campaign.Recall(b.spec, p, contents.Records)
	if err != nil {
		return service.Learnt{}, err
	}
	if len(res.Ledger.Measurements()) == 0 {
		return service.Learnt{}, fmt.Errorf("%w: nothing was measured of %s", service.ErrNotYet, id)
	}
	entries, err := verify.Entries(contents.Records)
	if err != nil {
		return service.Learnt{}, err
	}
	t, err := newTarget(b.libraryOf(p), b.config.Export)
	if err != nil {
		return service.Learnt{}, err
	}
	c, models, err := campaign.Select(b.spec, p, res, verify.CondemnedBy(entries, p.Library, p.Collective), t.fit)
	if err != nil {
		return service.Learnt{}, err
	}
	return learntOf(p, res, c, models), nil
}

// buildOne builds the campaign of a journal with a single one of its problems.
func buildOne(contents *store.Contents, dir string, id store.Problem) (*built, error) {
	c, err := config.Recall(contents.Header.Spec, dir)
	if err != nil {
		return nil, err
	}
	c.Libraries = slices.DeleteFunc(c.Libraries, func(l config.Library) bool { return l.Name != id.Library })
	c.Collectives = slices.DeleteFunc(c.Collectives, func(name string) bool { return name != string(id.Collective) })
	if len(c.Libraries) != 1 || len(c.Collectives) != 1 {
		return nil, fmt.Errorf("%w: %s", service.ErrNoProblem, id)
	}
	return build(c)
}

// learntOf puts the predictions of each point into seconds where something was
// measured there; elsewhere only ratios are known.
func learntOf(p campaign.Problem, res campaign.Result, c campaign.Conclusion, models *learner.Learner) service.Learnt {
	measured := map[coll.Candidate]float64{}
	for _, m := range res.Ledger.Measurements() {
		measured[m.Candidate] = m.Seconds
	}
	options := 0
	for _, row := range c.Rows {
		options += len(row.Options)
	}
	// No longer than they must be: the service keeps them.
	out := service.Learnt{Selection: service.Selection{Choices: make([]service.Choice, 0, len(c.Rows))}, Predictions: make([]service.Prediction, 0, options)}
	usual, doubts := usualChoices(p), doubtsOf(p, models)
	for _, row := range c.Rows {
		unit := unitOf(row, measured)
		choice := choiceAt(row, c.Selection.Choose(row.Point), unit)
		choice.Default = usual[row.Point]
		choice.Measured = len(res.Ledger.Missing(row.Point)) == 0
		if d, ok := doubts[row.Point]; ok {
			choice.Rival, choice.Tie, choice.Doubt = d.Rival.String(), d.Tie, d.PMistake
		}
		out.Selection.Choices = append(out.Selection.Choices, choice)
		out.Predictions = append(out.Predictions, predictionsAt(row, unit, measured)...)
	}
	slices.SortStableFunc(out.Selection.Choices, func(a, b service.Choice) int {
		return cmp.Or(cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.PPN, b.PPN), cmp.Compare(a.Bytes, b.Bytes))
	})
	slices.SortStableFunc(out.Predictions, func(a, b service.Prediction) int {
		return cmp.Or(cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.PPN, b.PPN), cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Algorithm, b.Algorithm))
	})
	return out
}

// unitOf is what the numbers of a row are multiplied by to be seconds, 0 when
// nothing was measured there.
func unitOf(row selection.Row, measured map[coll.Candidate]float64) float64 {
	for _, o := range row.Options {
		if t := measured[coll.Candidate{Point: row.Point, Algorithm: o.Algorithm}]; t > 0 && o.Seconds > 0 {
			return t / o.Seconds
		}
	}
	return 0
}

func choiceAt(row selection.Row, alg coll.Algorithm, unit float64) service.Choice {
	c := service.Choice{Nodes: row.Point.Nodes, PPN: row.Point.PPN, Bytes: row.Point.MsgBytes, Algorithm: alg.String()}
	own, byDefault := secondsOf(row, alg), secondsOf(row, coll.Default)
	c.Seconds = own * unit
	if own > 0 && byDefault > 0 {
		c.Gain = byDefault / own
	}
	return c
}

// secondsOf is the number of one algorithm in a row, 0 when it has none.
func secondsOf(row selection.Row, alg coll.Algorithm) float64 {
	for _, o := range row.Options {
		if o.Algorithm == alg {
			return o.Seconds
		}
	}
	return 0
}

func predictionsAt(row selection.Row, unit float64, measured map[coll.Candidate]float64) []service.Prediction {
	fastest := 0.0
	for _, o := range row.Options {
		if fastest == 0 || o.Seconds < fastest {
			fastest = o.Seconds
		}
	}
	var out []service.Prediction
	for _, o := range row.Options {
		out = append(out, service.Prediction{
			Nodes: row.Point.Nodes, PPN: row.Point.PPN, Bytes: row.Point.MsgBytes, Algorithm: o.Algorithm.String(),
			Seconds: o.Seconds * unit, Slowdown: o.Seconds / fastest,
			Measured: measured[coll.Candidate{Point: row.Point, Algorithm: o.Algorithm}] > 0,
		})
	}
	return out
}

// usualChoices is what the library runs by itself where recorded data tell: the
// algorithm whose recorded time is the default's.
func usualChoices(p campaign.Problem) map[coll.Point]string {
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

// doubtsOf asks models that know how sure they are; none for others.
func doubtsOf(p campaign.Problem, models *learner.Learner) map[coll.Point]learner.Doubt {
	feasible := map[coll.Point][]coll.Algorithm{}
	points := p.Space.Points()
	for i, point := range points {
		for _, a := range p.Space.Feasible(i) {
			feasible[point] = append(feasible[point], p.Space.Algorithms()[a])
		}
	}
	doubts, err := models.Doubts(points, func(p coll.Point) []coll.Algorithm { return feasible[p] })
	if err != nil {
		return nil // forests do not tell
	}
	out := make(map[coll.Point]learner.Doubt, len(doubts))
	for _, d := range doubts {
		out[d.Point] = d
	}
	return out
}
