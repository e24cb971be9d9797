// Package views tells a service what campaigns amount to and what their machines are
// like: it builds the campaigns of journals and campaign files, which the service itself
// does not know.
//
//	s, err := service.New(service.Options{Views: views.Journals{}, Site: views.Machine{}, ...})
package views

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/selection"
	"tutti/service"
	"tutti/surrogate/learner"
)

// Journals tells what journals amount to.
type Journals struct{}

// Learnt implements service.Views: the selection and the predictions that concluding
// the campaign now would give for one problem.
func (Journals) Learnt(ctx context.Context, dir string, id journal.Problem) (service.Learnt, error) {
	contents, err := journal.Read(dir)
	if err != nil {
		return service.Learnt{}, err
	}
	c, err := oneProblem(contents, dir, id)
	if err != nil {
		return service.Learnt{}, err
	}
	if err := ctx.Err(); err != nil {
		return service.Learnt{}, err
	}
	state := contents.State()
	results, err := c.Results(state)
	if err != nil {
		return service.Learnt{}, err
	}
	models, err := export.Train(ctx, c, results)
	if errors.Is(err, export.ErrNothing) {
		return service.Learnt{}, fmt.Errorf("%w: nothing was measured of %s", service.ErrNotYet, id)
	}
	if err != nil {
		return service.Learnt{}, err
	}
	done, err := models.Conclude(state)
	if err != nil {
		return service.Learnt{}, err
	}
	return learntOf(done.Problems[0]), nil
}

// oneProblem makes the campaign of a journal with a single one of its problems.
func oneProblem(contents *journal.Contents, dir string, id journal.Problem) (*assembly.Campaign, error) {
	cfg, err := config.Recall(contents.Header.Spec, dir)
	if err != nil {
		return nil, fmt.Errorf("journal of %s: %w", dir, err)
	}
	cfg.Libraries = slices.DeleteFunc(cfg.Libraries, func(l config.Library) bool { return l.Name != id.Library })
	cfg.Collectives = slices.DeleteFunc(cfg.Collectives, func(name string) bool { return name != string(id.Collective) })
	if len(cfg.Libraries) != 1 || len(cfg.Collectives) != 1 {
		return nil, fmt.Errorf("%w: %s", service.ErrNoProblem, id)
	}
	c, err := assembly.New(cfg)
	if errors.Is(err, assembly.ErrUnmeasurable) {
		return nil, fmt.Errorf("%w: %s: %w", service.ErrNoProblem, id, err)
	}
	if err != nil {
		return nil, fmt.Errorf("campaign of %s: %w", dir, err)
	}
	return c, nil
}

// learntOf puts the predictions of each point into seconds where something was
// measured there; elsewhere only ratios are known.
func learntOf(p export.Concluded) service.Learnt {
	measured := map[coll.Candidate]float64{}
	for _, m := range p.Result.Ledger.Measurements() {
		measured[m.Candidate] = m.Seconds
	}
	options := 0
	for _, row := range p.Rows {
		options += len(row.Options)
	}
	// No longer than they must be: the service keeps them.
	out := service.Learnt{Selection: service.Selection{Choices: make([]service.Choice, 0, len(p.Rows))}, Predictions: make([]service.Prediction, 0, options)}
	usual, doubts := usualChoices(p), doubtsOf(p)
	for _, row := range p.Rows {
		unit := unitOf(row, measured)
		choice := choiceAt(row, p.Selection.Choose(row.Point), unit)
		choice.Default = usual[row.Point]
		choice.Measured = len(p.Result.Ledger.Missing(row.Point)) == 0
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
func usualChoices(p export.Concluded) map[coll.Point]string {
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
func doubtsOf(p export.Concluded) map[coll.Point]learner.Doubt {
	doubts, err := p.Doubts()
	if err != nil {
		return nil // forests do not tell
	}
	out := make(map[coll.Point]learner.Doubt, len(doubts))
	for _, d := range doubts {
		out[d.Point] = d
	}
	return out
}
