package assembly

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"tutti/journal"
)

// Withdraw removes the files of a connected campaign whose first jobs were rejected: the folders
// of the jobs and the journal, which must be locked. If a job was accepted or a trial has ended,
// it changes nothing and reports false.
func (c *Campaign) Withdraw(ctx context.Context) (gone bool, err error) {
	contents, err := journal.Read(c.Config.Output)
	if err != nil {
		return false, err
	}
	state := contents.State()
	if taken(state) {
		return false, nil
	}
	// Jobs that may have been accepted are cancelled.
	if err := c.Cancel(ctx, state.OpenJobs()); err != nil {
		return false, err
	}
	return true, c.forget(state)
}

// taken reports whether a job was accepted or a trial has ended.
func taken(state *journal.State) bool {
	for _, p := range state.Problems {
		if slices.ContainsFunc(p.Rounds, func(r *journal.Round) bool { return len(r.Trials) > 0 }) {
			return true
		}
	}
	return slices.ContainsFunc(state.Jobs, func(j *journal.Job) bool { return j.Taken })
}

// forget removes the folders of the jobs, incomplete ones included, and the journal last.
func (c *Campaign) forget(state *journal.State) error {
	jobs := filepath.Join(c.Config.Output, "jobs")
	remove, err := fs.Glob(os.DirFS(jobs), ".new-*")
	if err != nil {
		return err
	}
	for _, j := range state.Jobs {
		remove = append(remove, j.Name)
	}
	for _, name := range remove {
		if err := os.RemoveAll(filepath.Join(jobs, name)); err != nil {
			return err
		}
	}
	if err := os.Remove(jobs); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return err
	}
	return os.Remove(filepath.Join(c.Config.Output, journal.FileName))
}
