package live

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"

	"tutti/benchrunner"
)

// timeIsUp reports whether the time limit of the batch is reached. On an attached machine, whose jobs begin at once, the
// first job does not count.
func (r *run) timeIsUp(c benchrunner.Capacity) bool {
	return !r.batch.Until.IsZero() && !time.Now().Before(r.batch.Until) && !(c.Attached && !r.hasJob.Load())
}

// endWaiting records that the time limit left requests without a trial, and what they waited for.
func (r *run) endWaiting(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = cmp.Or(r.late, what, "further jobs were not begun")
}

// limitJob ends the work of a submitted job when the time limit of the batch is reached. A job that has not begun is
// cancelled. A job that runs begins no launch but its first; those that run are measured to their end. The result ends
// this watch.
func (r *run) limitJob(ctx context.Context, j job) (stop func() bool) {
	if r.batch.Until.IsZero() {
		return func() bool { return true }
	}
	attached := r.m.knownCapacity(ctx).Attached // jobs of an attached machine begin at once
	timer := time.AfterFunc(time.Until(r.batch.Until), func() {
		dir := r.m.jobDir(j.Name)
		if _, err := os.Stat(filepath.Join(dir, "begin")); err == nil || attached {
			r.endWaiting("further launches were not begun")
			_ = os.WriteFile(filepath.Join(dir, timeUpFile), nil, 0o666) // without the file, the job has a limit of its own
			return
		}
		r.endWaiting(cmp.Or(r.m.watcher.waitingFor(), "jobs had not begun"))
		_ = r.forget(ctx, j) // the job cannot begin without its folder
	})
	return timer.Stop
}
