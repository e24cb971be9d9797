package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"tutti/store"
)

// takeBack says why the machine takes no job of a campaign. When none was ever
// begun, it leaves nothing behind: the file is corrected and tune begins anew. The
// journal must be locked.
func (b *built) takeBack(ctx context.Context, cause error) error {
	contents, err := store.Read(b.config.Output)
	if err != nil {
		return errors.Join(cause, err)
	}
	state := contents.State()
	if begun(state) {
		return fmt.Errorf("%w\nwhat was measured is kept; go on with: %s", cause, b.again)
	}
	// A job of which nobody knows whether it was taken is ended if it was.
	if err := b.machines[0].Cancel(ctx, state.OpenJobs()); err != nil {
		return fmt.Errorf("%w\n%w\ngo on with: %s", cause, err, b.again)
	}
	return errors.Join(cause, b.forget(state))
}

// begun reports whether a job was taken or a trial ended.
func begun(state *store.State) bool {
	for _, p := range state.Problems {
		if slices.ContainsFunc(p.Rounds, func(r *store.Round) bool { return len(r.Trials) > 0 }) {
			return true
		}
	}
	return slices.ContainsFunc(state.Jobs, func(j *store.Job) bool { return j.Taken })
}

// forget removes the folders of the jobs, those that a kill left half made, and the
// journal last.
func (b *built) forget(state *store.State) error {
	jobs := filepath.Join(b.config.Output, "jobs")
	remove, err := filepath.Glob(filepath.Join(jobs, ".new-*"))
	if err != nil {
		return err
	}
	for _, j := range state.Jobs {
		remove = append(remove, filepath.Join(jobs, j.Name))
	}
	for _, path := range remove {
		if err := os.RemoveAll(path); err != nil {
			return withOutputCode(err)
		}
	}
	if err := os.Remove(jobs); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return withOutputCode(err)
	}
	return withOutputCode(os.Remove(filepath.Join(b.config.Output, store.FileName)))
}
