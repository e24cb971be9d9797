package assembly

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"tutti/campaign"
	"tutti/journal"
)

// Run tunes the problems at the same time, see starts. The first error cancels the others. past is
// the state of the journal. The results are in the order of Problems.
func (c *Campaign) Run(ctx context.Context, past *journal.State, log campaign.Log, observe func(campaign.Event)) ([]campaign.Result, error) {
	results := make([]campaign.Result, len(c.Problems))
	c.doubt(past)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.Workers())
	for _, i := range c.starts() {
		p := c.Problems[i]
		group.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			results[i], err = campaign.Run(ctx, c.Spec, p, past.Problem(p.Problem), log, observe)
			return err
		})
	}
	return results, group.Wait()
}

// starts returns the order in which problems begin. If several run at the same time, the largest
// space begins first, since it takes longest.
func (c *Campaign) starts() []int {
	order := make([]int, len(c.Problems))
	for i := range order {
		order[i] = i
	}
	if c.Workers() > 1 {
		slices.SortStableFunc(order, func(i, j int) int {
			return cmp.Compare(c.Problems[j].Space.Size(), c.Problems[i].Space.Size())
		})
	}
	return order
}

// doubt makes the machines of libraries wary of which the journal has no measurement.
func (c *Campaign) doubt(past *journal.State) {
	for i, m := range c.machines {
		if !measured(past, c.Config.Libraries[i].Name) {
			m.RequireFirstStart()
		}
	}
}

// measured reports whether the journal has a measurement of a library.
func measured(past *journal.State, library string) bool {
	return slices.ContainsFunc(past.Rounds, func(r *journal.Round) bool { return r.Problem.Library == library && r.Done > 0 })
}

// Results returns the results of the problems in the journal, in their order. Errors match
// ErrInput.
func (c *Campaign) Results(state *journal.State) ([]campaign.Result, error) {
	results := make([]campaign.Result, len(c.Problems))
	for i, p := range c.Problems {
		var err error
		if results[i], err = campaign.Restore(c.Spec, p, state.Problem(p.Problem)); err != nil {
			return nil, input(fmt.Errorf("journal of %s: %w", c.Config.Output, err))
		}
	}
	return results, nil
}

// Reread returns the campaign of a folder with its results, from the journal. Errors match
// ErrInput.
func Reread(dir string) (*Campaign, []campaign.Result, *journal.Contents, error) {
	contents, err := journal.Read(dir)
	if err != nil {
		return nil, nil, nil, input(err)
	}
	c, err := Restore(contents, dir)
	if err != nil {
		return nil, nil, nil, err
	}
	results, err := c.Results(contents.State())
	return c, results, contents, err
}
