package live

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"
)

// timeIsUp reports whether the time limit of the batch is reached.
func (r *run) timeIsUp() bool { return !r.batch.Until.IsZero() && !time.Now().Before(r.batch.Until) }

// endWaiting records that the time limit left requests without a trial, and what they waited for.
func (r *run) endWaiting(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = cmp.Or(r.late, what, "further jobs were not begun")
}

// limitWaiting cancels a submitted job that has not begun when the time limit of the batch is reached. A job that runs
// has a limit of its own. Jobs of an attached machine begin at once. The result ends this watch.
func (r *run) limitWaiting(ctx context.Context, j job) (stop func() bool) {
	if r.batch.Until.IsZero() || r.m.knownCapacity(ctx).Attached {
		return func() bool { return true }
	}
	timer := time.AfterFunc(time.Until(r.batch.Until), func() {
		if _, err := os.Stat(filepath.Join(r.m.jobDir(j.Name), "begin")); err == nil {
			return
		}
		r.endWaiting(cmp.Or(r.m.watcher.waitingFor(), "jobs had not begun"))
		_ = r.forget(ctx, j) // the job cannot begin without its folder
	})
	return timer.Stop
}
