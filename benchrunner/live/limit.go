package live

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"

	"tutti/benchrunner"
)

// limitPoll is the longest time between two looks at the limits of a batch while a job waits or runs.
const limitPoll = 250 * time.Millisecond

// reached returns which limit of the batch is reached, "" if none is.
func (r *run) reached() string {
	if !r.batch.Until.IsZero() && !time.Now().Before(r.batch.Until) {
		return "wall time"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	machineSeconds, nodeSeconds := 0.0, 0.0
	for _, u := range r.used {
		seconds := u.seconds
		if !u.began.IsZero() {
			seconds = max(0, time.Since(u.began).Seconds())
		}
		machineSeconds, nodeSeconds = machineSeconds+seconds, nodeSeconds+seconds*float64(u.nodes)
	}
	if r.batch.Budget.Spent(machineSeconds, nodeSeconds) {
		return "machine time"
	}
	return ""
}

// usage is the machine time that a job of the batch has used.
type usage struct {
	began   time.Time // zero if the job does not run
	seconds float64   // of a job that has ended
	nodes   int
}

// recordUsage records that a job has begun, if its script has, and reports whether it has. Of a job of an earlier run, the
// time of its first file counts.
func (r *run) recordUsage(c *activeJob) (begun bool) {
	info, err := os.Stat(filepath.Join(r.m.jobDir(c.Name), "begin"))
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.used[c.Name]; known {
		return true
	}
	began := time.Now()
	if c.fromEarlierRun {
		began = began.Add(-max(0, timeOfFiles(filepath.Dir(r.m.jobDir(c.Name))).Sub(info.ModTime())))
	}
	r.used[c.Name] = usage{began: began, nodes: c.Nodes}
	return true
}

// timeOfFiles returns the present time by the clock that dates new files in a folder. The clock of a file server may
// differ from that of this machine.
func timeOfFiles(folder string) time.Time {
	f, err := os.CreateTemp(folder, ".time-*")
	if err != nil {
		return time.Now()
	}
	defer os.Remove(f.Name())
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return time.Now()
	}
	return info.ModTime()
}

// endUsage records what a job that has ended has used.
func (r *run) endUsage(c *activeJob, seconds float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used[c.Name] = usage{seconds: seconds, nodes: c.Nodes}
}

// timeIsUp reports whether a limit of the batch is reached. On an attached machine, whose jobs begin at once, the
// first job does not count.
func (r *run) timeIsUp(c benchrunner.Capacity) bool {
	return r.reached() != "" && !(c.Attached && !r.hasJob.Load())
}

// endWaiting records that a limit left requests without a trial, and what they waited for.
func (r *run) endWaiting(what string) {
	limit := r.reached()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = cmp.Or(r.late, limit+": "+cmp.Or(what, "further jobs were not begun"))
}

// limitJob ends the work of a submitted job when a limit of the batch is reached. A job that has not begun is
// cancelled. A job that runs begins no launch but its first; those that run are measured to their end. The result ends
// this watch.
func (r *run) limitJob(ctx context.Context, c *activeJob) (stop func()) {
	if r.batch.Until.IsZero() && r.batch.Budget == (benchrunner.Budget{}) {
		return func() {}
	}
	watch, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for begun := false; ; {
			begun = begun || r.recordUsage(c)
			if r.reached() != "" {
				break
			}
			if !sleep(watch, limitPoll) {
				return
			}
		}
		r.endJob(ctx, c)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// endJob lets a job begin no further launch, because a limit of the batch is reached.
func (r *run) endJob(ctx context.Context, c *activeJob) {
	dir := r.m.jobDir(c.Name)
	attached := r.m.knownCapacity(ctx).Attached // jobs of an attached machine begin at once
	if _, err := os.Stat(filepath.Join(dir, "begin")); err == nil || attached {
		r.endWaiting("further launches were not begun")
		_ = os.WriteFile(filepath.Join(dir, timeUpFile), nil, 0o666) // without the file, the job has a limit of its own
		return
	}
	r.endWaiting(cmp.Or(r.m.watcher.waitingFor(), "jobs had not begun"))
	_ = r.forget(ctx, c.job) // the job cannot begin without its folder
}
