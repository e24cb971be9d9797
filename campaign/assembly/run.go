package assembly

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"tutti/campaign"
	"tutti/journal"
)

// Run tunes the problems, up to Workers of them at the same time. They share the wall time of the campaign.
// When a problem starts, it gets an equal part of the remaining time. The first error cancels the other
// problems. `past` is the state of the journal. The results are in the order of Problems.
func (c *Campaign) Run(ctx context.Context, past *journal.State, log campaign.Log, observe func(campaign.Event)) ([]campaign.Result, error) {
	tunings := make([]*campaign.Tuning, len(c.Problems))
	err := c.restoreMachines(past)
	if err == nil {
		err = c.tune(ctx, tunings, past, log, observe)
	}
	results := make([]campaign.Result, len(c.Problems))
	for i, t := range tunings {
		results[i] = t.Result()
	}
	return results, err
}

// tune learns, confirms what the files may select, and makes the hyperparameter studies. Confirmation begins when all
// problems have learned.
func (c *Campaign) tune(ctx context.Context, tunings []*campaign.Tuning, past *journal.State, log campaign.Log, observe func(campaign.Event)) error {
	began := time.Now()
	group, learning := errgroup.WithContext(ctx)
	group.SetLimit(c.Workers())
	for turn, i := range c.startOrder() {
		p, spec := c.Problems[i], c.Spec
		group.Go(func() (err error) {
			if err := learning.Err(); err != nil {
				return err
			}
			if spec.Limits.Wall > 0 {
				turns := (len(c.Problems) - turn + c.Workers() - 1) / c.Workers() // number of problems, from this one on, that this worker tunes one after another
				spec.Limits.Wall = max(1, (spec.Limits.Wall-time.Since(began))/time.Duration(turns))
			}
			tunings[i], err = campaign.Learn(learning, spec, p, past.Problem(p.Problem), log, observe)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	spec := c.Spec
	if spec.Limits.Wall > 0 {
		spec.Limits.Wall = max(1, spec.Limits.Wall-time.Since(began))
	}
	if err := campaign.Confirm(ctx, spec, tunings, c.Workers()); err != nil {
		return err
	}
	finish, ctx := errgroup.WithContext(ctx)
	finish.SetLimit(c.Workers())
	for _, i := range c.startOrder() {
		finish.Go(func() error { return tunings[i].Finish(ctx) })
	}
	return finish.Wait()
}

// startOrder returns the order in which problems start: the largest spaces first if several run at the same time.
func (c *Campaign) startOrder() []int {
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

// restoreMachines passes the trials in the journal to the machines. The machine of a library without a measurement
// runs one job at a time until a first program has started there.
func (c *Campaign) restoreMachines(past *journal.State) error {
	for i, m := range c.machines {
		measured := false
		for _, r := range past.Rounds {
			if r.Problem.Library != c.Config.Libraries[i].Name {
				continue
			}
			for trial, err := range r.Trials() {
				if err != nil {
					return err
				}
				m.Restore(trial)
			}
			measured = measured || r.Done > 0
		}
		if !measured {
			m.RequireFirstStart()
		}
	}
	return nil
}

// Results restores from a journal the result of each problem. Errors match ErrInput.
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

// RestoreAll reads the journal in a folder. It returns the campaign, its results and the contents of the
// journal. Errors match ErrInput.
func RestoreAll(dir string) (*Campaign, []campaign.Result, *journal.Contents, error) {
	contents, err := journal.Read(dir)
	if err != nil {
		return nil, nil, nil, input(err)
	}
	if err := CheckCampaign(contents, dir); err != nil {
		return nil, nil, nil, err
	}
	c, err := Restore(contents, dir)
	if err != nil {
		return nil, nil, nil, err
	}
	results, err := c.Results(contents.State())
	return c, results, contents, err
}

// CheckCampaign returns an error that matches ErrInput for a folder in which a selection file from elsewhere is verified:
// it has no campaign.
func CheckCampaign(contents *journal.Contents, dir string) error {
	if contents.Header.Rules == "" {
		return nil
	}
	return input(fmt.Errorf("%s has no campaign, but the verification of %s: tutti verify goes on with it and prints its result", dir, contents.Header.Rules))
}

// Withdraw removes the job folders and the journal of a campaign whose first jobs were rejected by the scheduler. The
// campaign must be connected to its machine. The caller must hold the lock of the journal. If a job of a
// problem was accepted or a trial has ended, Withdraw changes nothing and returns false.
func (c *Campaign) Withdraw(ctx context.Context) (removed bool, err error) {
	contents, err := journal.Read(c.Config.Output)
	if err != nil {
		return false, err
	}
	state := contents.State()
	if hasStarted(state) {
		return false, nil
	}
	// The scheduler may have accepted even a job whose submission was not confirmed. So cancel all jobs without
	// a recorded end.
	if err := c.Cancel(ctx, state.OpenJobs()); err != nil {
		return false, err
	}
	return true, removeFiles(c.Config.Output, state)
}

// hasStarted reports whether a job of a problem was accepted or a trial has ended.
func hasStarted(state *journal.State) bool {
	for _, p := range state.Problems {
		if slices.ContainsFunc(p.Rounds, func(r *journal.Round) bool { return r.Done+r.Failed > 0 }) {
			return true
		}
	}
	return slices.ContainsFunc(state.Jobs, func(j *journal.Job) bool { return j.Taken && j.Problem.Collective != journal.Preflight })
}

// RemoveFolder removes a folder with jobs that have ended. The scheduler and the last process of a job may still write a
// file while it is removed, so RemoveFolder tries again for a few seconds.
func RemoveFolder(dir string) error {
	_, err := backoff.Retry(context.Background(), func() (any, error) {
		err := os.RemoveAll(dir)
		if err != nil && !errors.Is(err, syscall.ENOTEMPTY) {
			err = backoff.Permanent(err)
		}
		return nil, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(removePause)), backoff.WithMaxTries(removeTries))
	return err
}

// RemoveFolder tries removeTries times, with pauses of removePause.
const (
	removePause = 100 * time.Millisecond
	removeTries = 50
)

// removeFiles removes from the folder of a campaign the job folders, including incomplete ones, and then the journal.
func removeFiles(dir string, state *journal.State) error {
	jobs := filepath.Join(dir, "jobs")
	remove, err := fs.Glob(os.DirFS(jobs), ".new-*")
	if err != nil {
		return err
	}
	remove = append(remove, "running.lock") // of the jobs that ran
	for _, j := range state.Jobs {
		remove = append(remove, j.Name)
	}
	for _, name := range remove {
		if err := RemoveFolder(filepath.Join(jobs, name)); err != nil {
			return err
		}
	}
	if err := os.Remove(jobs); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return err
	}
	return os.Remove(filepath.Join(dir, journal.FileName))
}
