package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// Limits of the status requests to the scheduler. One request asks for all jobs.
const (
	askPeriod = 5 * time.Second // least time between two requests
	askFirst  = time.Second     // delay after a submission, when the answer would only be "waiting"
)

// lookPeriod is the mean time between two looks at files on a shared file system: at most 500 a second for all jobs.
const lookPeriod = 2 * time.Millisecond

// unknownTimes is the number of consecutive answers that must omit a job before it counts as lost or not
// accepted. A lost job must also be missing for this many times Options.Settle. Schedulers omit jobs right
// after a submission, after a restart, and before their accounts show the end.
const unknownTimes = 3

type ending struct {
	byFile bool // the script wrote its end file
	status benchrunner.Status
	err    error // set if the scheduler was unavailable for longer than patience
}

type watched struct {
	id      string
	sub     benchrunner.Submission
	status  benchrunner.Status
	begun   time.Time // when tutti began to watch the job
	unknown int       // number of consecutive answers that omit the job
	since   time.Time
	over    chan ending // receives the ending; capacity 1
}

// watcher waits for the ends of all jobs of a machine. Its goroutine runs while there are
// jobs.
type watcher struct {
	scheduler benchrunner.Scheduler
	poll      Poll
	lostAfter time.Duration // least time after which an unknown job counts as lost
	patience  time.Duration // the same time while the scheduler reports an error
	notice    func(error)   // receives why the watcher waits: errors of a scheduler, reasons of pending jobs

	mu      sync.Mutex
	jobs    map[*watched]bool
	stop    context.CancelFunc // stops the goroutine; nil without one
	wake    chan struct{}
	changed time.Time // time of the last event
	nextAsk time.Time
	asking  bool
	asked   time.Time // time of the last status request
	failing time.Time // time since which the scheduler is unavailable; zero if available
}

func newWatcher(s benchrunner.Scheduler, p Poll, lostAfter, patience time.Duration, notice func(error)) *watcher {
	return &watcher{
		scheduler: s, poll: p, lostAfter: lostAfter, patience: patience, notice: notice,
		jobs: map[*watched]bool{}, wake: make(chan struct{}, 1),
	}
}

func (w *watcher) watch(ctx context.Context, id string, sub benchrunner.Submission) (ending, error) {
	j := &watched{id: id, sub: sub, over: make(chan ending, 1)}
	w.add(j)
	defer w.remove(j)
	select {
	case e := <-j.over:
		return e, e.err
	case <-ctx.Done():
		return ending{}, ctx.Err()
	}
}

func (w *watcher) add(j *watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.jobs[j], j.begun = true, now
	w.changed = now
	if ask := now.Add(min(askFirst, w.poll.Max)); len(w.jobs) == 1 || ask.Before(w.nextAsk) {
		w.nextAsk = latest(ask, w.asked.Add(w.period()))
	}
	if w.stop == nil {
		var ctx context.Context
		ctx, w.stop = context.WithCancel(context.Background())
		go w.loop(ctx)
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watcher) remove(j *watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.jobs, j)
	if len(w.jobs) == 0 && w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

func (w *watcher) loop(ctx context.Context) {
	for ctx.Err() == nil {
		w.lookAtFiles()
		w.mayAsk(ctx)
		timer := time.NewTimer(w.pause())
		select {
		case <-timer.C:
		case <-w.wake:
			timer.Stop()
			sleep(ctx, w.poll.Min)
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// pause returns a random time until the watcher looks at files again. The mean of this time grows with the
// time since the last event.
func (w *watcher) pause() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.jitter(max(time.Since(w.changed)/50, time.Duration(len(w.jobs))*lookPeriod))
	if ask := time.Until(w.nextAsk); !w.asking && ask < d {
		d = max(ask, w.poll.Min)
	}
	return d
}

func (w *watcher) jitter(d time.Duration) time.Duration {
	d = min(max(d, w.poll.Min), w.poll.Max)
	return d - d/10 + rand.N(d/5+1)
}

func (w *watcher) period() time.Duration { return min(askPeriod, w.poll.Max) }

// lookAtFiles finds jobs whose scripts have written an end file. It also looks at jobs that the scheduler last
// reported as waiting, because they may have run since.
func (w *watcher) lookAtFiles() {
	w.mu.Lock()
	jobs := slices.Collect(maps.Keys(w.jobs))
	w.mu.Unlock()
	for _, j := range jobs {
		if _, err := os.Stat(filepath.Join(j.sub.Dir, "end")); err == nil {
			w.mu.Lock()
			w.finish(j, ending{byFile: true})
			w.mu.Unlock()
		}
	}
}

// finish stops watching a job and reports how the job ended. The caller holds the lock.
func (w *watcher) finish(j *watched, e ending) {
	if !w.jobs[j] {
		return
	}
	if e.byFile {
		e.status = j.status
	}
	delete(w.jobs, j)
	w.changed = time.Now()
	j.over <- e
}

// mayAsk requests the status of all jobs, unless the next request must wait. It does so in a goroutine, so that
// a slow answer does not delay looking at files.
func (w *watcher) mayAsk(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if w.asking || now.Before(w.nextAsk) {
		return
	}
	w.asking, w.asked = true, now
	jobs := map[string]benchrunner.Submission{}
	var asked []*watched
	for j := range w.jobs {
		if _, twice := jobs[j.id]; twice { // an old job has the same ID: the next request asks for this one
			continue
		}
		jobs[j.id] = j.sub
		asked = append(asked, j)
	}
	go func() {
		answer, err := w.scheduler.Status(ctx, jobs)
		w.take(ctx, asked, answer, err)
	}()
}

func (w *watcher) take(ctx context.Context, asked []*watched, answer map[string]benchrunner.Status, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asking = false
	if ctx.Err() != nil {
		return
	}
	now := time.Now()
	if err == nil || answer != nil {
		w.failing = time.Time{}
	} else if w.failing.IsZero() {
		w.failing = now
	}
	down := !w.failing.IsZero() && (!errors.Is(err, benchrunner.ErrUnavailable) || now.Sub(w.failing) >= w.patience)
	for _, j := range asked {
		switch {
		case down:
			w.finish(j, ending{err: err})
		case w.failing.IsZero():
			w.enter(j, answer, err, now)
		}
	}
	if err != nil && !down {
		w.notice(err)
	} else if reasons := w.pendingReasons(now); reasons != "" {
		w.notice(errors.New(reasons))
	}
	w.nextAsk = now.Add(max(w.period(), w.jitter(now.Sub(w.changed)/10)))
}

// pendingReasons returns how many jobs are pending for each of the scheduler's reasons, the most frequent first. It leaves
// out jobs that have only just been submitted. The caller holds the lock.
func (w *watcher) pendingReasons(now time.Time) string {
	count := map[string]int{}
	for j := range w.jobs {
		if j.status.Phase == benchrunner.JobWaiting && now.Sub(j.begun) >= w.period() {
			count[j.status.Reason]++
		}
	}
	reasons := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, reason := range reasons {
		parts = append(parts, fmt.Sprintf("%d pending: %s", count[reason], reason))
	}
	return strings.Join(parts, ", ")
}

// waitingFor returns how many jobs wait for each of the scheduler's reasons, "" if none is known to wait.
func (w *watcher) waitingFor() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pendingReasons(time.Now().Add(w.period()))
}

// enter records a job's status from an answer of the scheduler. If the answer omits the job, a non-nil `err` says why
// the answer may be incomplete.
func (w *watcher) enter(j *watched, answer map[string]benchrunner.Status, err error, now time.Time) {
	s, known := answer[j.id]
	switch {
	case !known:
		if j.unknown++; j.unknown == 1 {
			j.since = now
		}
		least := w.lostAfter
		if err != nil {
			least = max(least, w.patience)
		}
		if j.unknown >= unknownTimes && now.Sub(j.since) >= least {
			s = j.status
			s.Phase, s.Outcome, s.Reason = benchrunner.JobOver, coll.JobLost, "the scheduler no longer knows it"
			w.finish(j, ending{status: s})
		}
		return
	case s.Phase != j.status.Phase:
		w.changed = now
	}
	j.unknown, j.status = 0, s
	if s.Phase == benchrunner.JobOver || s.NeverStarts {
		w.finish(j, ending{status: s})
	}
}
