// Package export writes the results of a campaign: the selection files of the libraries and the
// report. It trains the final models, makes the selections and checks the files before it writes
// them. Files can also be written for other releases than the measured ones.
//
//	models, err := export.Train(ctx, c, results)
//	if err != nil {
//		return err
//	}
//	selections, err := models.Conclude(state)
//	if err != nil {
//		return err
//	}
//	facts, err := selections.Write(ctx, dir, program)
package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"tutti/activelearn"
	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/verify"
)

// FinalModels contains the final models of a campaign, for each problem.
type FinalModels struct {
	campaign *assembly.Campaign
	trained  []*campaign.FinalModel // one for each problem; nil if it has no measurements
}

// FinalSelections contains the final selections of a campaign for all libraries and releases.
type FinalSelections struct {
	campaign *assembly.Campaign
	state    *journal.State
	Targets  []*Target                 // of the campaign's libraries, in order
	Problems []campaign.FinalSelection // of all libraries, in order; without problems that have no measurements
}

// ErrNothing is matched by the error for a campaign without measurements, from which no model can be trained.
var ErrNothing = errors.New("nothing has been measured: nothing to report")

// Train trains the final models of all problems, several at the same time. The results must be in the order
// of the problems. The error matches ErrNothing if nothing was measured.
func Train(ctx context.Context, c *assembly.Campaign, results []campaign.Result) (*FinalModels, error) {
	m := &FinalModels{campaign: c, trained: make([]*campaign.FinalModel, len(c.Problems))}
	var group errgroup.Group
	group.SetLimit(c.Workers())
	for i, p := range c.Problems {
		if results[i].Ledger.CandidatesMeasured() == 0 {
			continue
		}
		group.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			m.trained[i], err = campaign.Train(c.Spec, p, results[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(m.trained, func(t *campaign.FinalModel) bool { return t != nil }) {
		return nil, nothingMeasured(results)
	}
	return m, nil
}

// nothingMeasured returns ErrNothing with what is known of the reason: failed trials, the first warning, or the limit that
// ended learning.
func nothingMeasured(results []campaign.Result) error {
	failed, first, limit := 0, "", ""
	for _, r := range results {
		failed += r.Ledger.Failed()
		if first == "" && len(r.Warnings) > 0 {
			first = r.Warnings[0]
		}
		switch r.Stop {
		case activelearn.TimeUp:
			limit = "stop.wall_time ended learning before a first result"
		case activelearn.Budget:
			limit = "a budget ended learning before a first result"
		}
	}
	switch why := cmp.Or(first, limit); {
	case failed > 0:
		return fmt.Errorf("%w: %d trials failed; %s", ErrNothing, failed, first)
	case why != "":
		return fmt.Errorf("%w: %s", ErrNothing, why)
	}
	return ErrNothing
}

// Conclude makes the selections of all libraries. It selects the library's default where a verification in
// the journal found the selection slower.
func (m *FinalModels) Conclude(state *journal.State) (*FinalSelections, error) {
	c := &FinalSelections{campaign: m.campaign, state: state}
	for _, lib := range m.campaign.Config.Libraries {
		t, err := m.Library(state, lib)
		if err != nil {
			return nil, err
		}
		c.Targets, c.Problems = append(c.Targets, t), append(c.Problems, t.problems...)
	}
	return c, nil
}

// Library makes the selections of one library, for the release that was measured.
func (m *FinalModels) Library(state *journal.State, lib config.Library) (*Target, error) {
	port, cat, err := lib.Release()
	if err != nil {
		return nil, err
	}
	t := newTarget(m.campaign, Release{lib, lib, port, cat})
	t.created, t.tutti = state.Created, state.Version
	entries, err := verify.Entries(state.Verification(lib.Name))
	if err != nil {
		return nil, fmt.Errorf("journal of %s: %w", m.campaign.Config.Output, err)
	}
	verified, err := verify.Restore(lib.Name, entries)
	if err != nil {
		return nil, err
	}
	t.verified, t.headline = verified.Proved(), verified.Headline()
	for i, p := range m.campaign.Problems {
		switch {
		case p.Library != lib.Name:
			continue
		case m.trained[i] == nil:
			t.Warnings = append(t.Warnings, p.Problem.String()+": nothing was measured, so the library decides")
			continue
		}
		one, err := m.trained[i].Conclude(verify.RejectedBy(entries, p.Collective))
		if err != nil {
			return nil, err
		}
		t.concluded = append(t.concluded, one)
	}
	return t, t.fit()
}
