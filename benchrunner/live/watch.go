package live

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// How often the scheduler is asked, for all jobs at once: some questions quickly
// when there were no jobs before, then one in askPeriod at most, whatever happens.
const (
	askPeriod = 5 * time.Second
	askBurst  = 10
	askFirst  = time.Second // after a submission: an answer would say "waiting"
)

// unknownTimes is how often in a row a scheduler must not know a job before it is
// lost, and no sooner than files are waited for: right after a submission, and
// after a restart, schedulers answer with gaps.
const unknownTimes = 3

// ending is why a job is not watched any more.
type ending struct {
	byFile bool // its end file is there
	status benchrunner.Status
	err    error // of the scheduler, for longer than patience
}

// watched is one job that is waited for.
type watched struct {
	id      string
	sub     benchrunner.Submission
	status  benchrunner.Status
	unknown int // answers in a row without it
	since   time.Time
	over    chan ending // holds one
}

// watcher looks at all jobs of a machine together. Its goroutine lives while there
// are jobs.
type watcher struct {
	scheduler benchrunner.Scheduler
	poll      Poll
	lostAfter time.Duration // a job that the scheduler does not know, at the earliest
	patience  time.Duration

	mu      sync.Mutex
	jobs    map[*watched]bool
	stop    context.CancelFunc // of the goroutine, nil when there is none
	wake    chan struct{}
	changed time.Time // when something happened last
	nextAsk time.Time
	asking  bool
	asked   time.Time // when it was asked last
	tokens  float64   // questions that may be asked now; below 1 it grows
	refill  time.Time
	failing time.Time // since when the scheduler is unavailable
}

func newWatcher(s benchrunner.Scheduler, p Poll, lostAfter, patience time.Duration) *watcher {
	return &watcher{
		scheduler: s, poll: p, lostAfter: lostAfter, patience: patience,
		jobs: map[*watched]bool{}, wake: make(chan struct{}, 1),
	}
}

// watch waits for the end of a job. known says that it was submitted a while ago,
// so that an answer is wanted at once.
func (w *watcher) watch(ctx context.Context, id string, sub benchrunner.Submission, known bool) (ending, error) {
	j := &watched{id: id, sub: sub, over: make(chan ending, 1)}
	w.add(j, known)
	defer w.remove(j)
	select {
	case e := <-j.over:
		return e, e.err
	case <-ctx.Done():
		return ending{}, ctx.Err()
	}
}

func (w *watcher) add(j *watched, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.jobs[j] = true
	w.changed = now
	ask := now.Add(min(askFirst, w.poll.Max))
	if known {
		ask = now
	}
	if len(w.jobs) == 1 || ask.Before(w.nextAsk) {
		w.nextAsk = ask
	}
	if len(w.jobs) == 1 {
		w.tokens = askBurst
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

// pause is the time to the next look: long when nothing has happened for long,
// never the same.
func (w *watcher) pause() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.jitter(time.Since(w.changed) / 50)
	if ask := time.Until(w.nextAsk); !w.asking && ask < d {
		d = max(ask, w.poll.Min)
	}
	return d
}

func (w *watcher) jitter(d time.Duration) time.Duration {
	d = min(max(d, w.poll.Min), w.poll.Max)
	return d - d/10 + rand.N(d/5+1)
}

// lookAtFiles finds the jobs whose scripts came to their end. A job that is known
// to wait is not looked for, unless the scheduler has gone silent since.
func (w *watcher) lookAtFiles() {
	for _, j := range w.started() {
		if _, err := os.Stat(filepath.Join(j.sub.Dir, "end")); err == nil {
			w.mu.Lock()
			w.finish(j, ending{byFile: true})
			w.mu.Unlock()
		}
	}
}

func (w *watcher) started() []*watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	outputComplete := w.asking && time.Since(w.asked) > askPeriod || !w.failing.IsZero()
	var out []*watched
	for j := range w.jobs {
		if j.status.Phase != benchrunner.JobWaiting || outputComplete {
			out = append(out, j)
		}
	}
	return out
}

// finish ends the watch of a job; the lock is held.
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
	if len(w.jobs) == 0 && w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// mayAsk asks the scheduler about all jobs when it is time; a slow answer keeps
// nobody from looking at files.
func (w *watcher) mayAsk(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	period := min(askPeriod, w.poll.Max)
	if w.tokens < 1 {
		w.tokens = min(1, w.tokens+now.Sub(w.refill).Seconds()/period.Seconds())
	}
	w.refill = now
	if w.asking || now.Before(w.nextAsk) || w.tokens < 1 {
		return
	}
	w.asking, w.asked = true, now
	w.tokens--
	jobs := map[string]benchrunner.Submission{}
	var asked []*watched
	for j := range w.jobs {
		if _, twice := jobs[j.id]; twice { // IDs began again: the next time
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

// take enters an answer of the scheduler.
func (w *watcher) take(ctx context.Context, asked []*watched, answer map[string]benchrunner.Status, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asking = false
	if ctx.Err() != nil {
		return
	}
	now := time.Now()
	if err == nil {
		w.failing = time.Time{}
		for _, j := range asked {
			w.enter(j, answer, now)
		}
	} else {
		w.fail(asked, err, now)
	}
	w.nextAsk = now.Add(w.jitter(max(now.Sub(w.changed)/10, min(askFirst, w.poll.Max))))
}

func (w *watcher) fail(asked []*watched, err error, now time.Time) {
	if w.failing.IsZero() {
		w.failing = now
	}
	if errors.Is(err, benchrunner.ErrUnavailable) && now.Sub(w.failing) < w.patience {
		return
	}
	for _, j := range asked {
		w.finish(j, ending{err: err})
	}
}

func (w *watcher) enter(j *watched, answer map[string]benchrunner.Status, now time.Time) {
	s, known := answer[j.id]
	switch {
	case !known:
		if j.unknown++; j.unknown == 1 {
			j.since = now
		}
		if j.unknown >= unknownTimes && now.Sub(j.since) >= w.lostAfter {
			s = j.status
			s.Phase, s.Outcome, s.Reason = benchrunner.JobOver, coll.JobLost, "the scheduler does not know it any more"
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
