package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// setback counts the jobs in a row that measured nothing of a request, for a cause outside of its candidate.
type setback struct {
	jobs  int
	since time.Time // end of the first of these jobs
}

// minSetbacks is the least number of jobs in a row without a result after which Run leaves their requests to a later
// run. So many jobs must end this way even if they take longer than the machine's patience.
const minSetbacks = 3

// measureAgain measures the requests that a job left. If the job measured nothing, it waits first, longer after each
// such job in a row. After the machine's patience it leaves the requests to a later run.
func (r *run) measureAgain(ctx context.Context, c *activeJob) error {
	if c.setback == "" || len(c.rest) == 0 {
		return r.measure(ctx, c.rest)
	}
	if r.timeIsUp(r.m.knownCapacity(ctx)) {
		r.endWaiting(c.setback)
		return nil
	}
	worst := r.countSetback(c.rest)
	if worst.jobs >= minSetbacks && time.Since(worst.since) >= r.m.patience {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.later = fmt.Errorf("%w: benchmarks without a result after %d jobs in a row: %d: %s", benchrunner.ErrUnavailable, worst.jobs, len(c.rest), c.setback)
		return nil
	}
	pause := r.m.pauseAfter(worst.jobs)
	r.m.opt.Notice(fmt.Errorf("%w: %s; benchmarks that go into another job in %v: %d", benchrunner.ErrNoResults, c.setback, pause.Round(time.Second), len(c.rest)))
	if !sleep(ctx, pause) {
		return ctx.Err()
	}
	return r.measure(ctx, c.rest)
}

// countSetback counts a job that measured nothing of the requests. It returns the count of the request with the most
// such jobs.
func (r *run) countSetback(requests []int) setback {
	r.mu.Lock()
	defer r.mu.Unlock()
	var worst setback
	for _, i := range requests {
		s := &r.setbacks[i]
		if s.jobs++; s.jobs == 1 {
			s.since = time.Now()
		}
		if s.jobs > worst.jobs {
			worst = *s
		}
	}
	return worst
}

// pauseAfter returns the pause after n jobs in a row without a result: a second, doubled after each job, at most a
// minute.
func (m *Machine) pauseAfter(n int) time.Duration {
	return min(firstPause, m.opt.Poll.Max) << min(n-1, maxDoublings)
}

const (
	firstPause   = time.Second
	maxDoublings = 6 // to about a minute
)

// refusal is a request of a layout that the scheduler never runs.
type refusal struct {
	request int
	reason  error // matches benchrunner.ErrRejected
}

// refuse ends the layout of a job that the scheduler never runs. The layouts of a job with several of them go into jobs
// of their own first, because some of them may run.
func (r *run) refuse(ctx context.Context, c *activeJob) error {
	requests := map[coll.Layout][]int{}
	for _, i := range r.validRequests(c.Requests) {
		layout := r.batch.Requests[i].Layout()
		requests[layout] = append(requests[layout], i)
	}
	layouts := slices.SortedFunc(maps.Keys(requests), coll.CompareLayouts)
	if len(layouts) > 1 {
		for _, layout := range layouts {
			if err := r.measure(ctx, requests[layout]); err != nil {
				return err
			}
		}
		return nil
	}
	for _, layout := range layouts {
		reason := fmt.Errorf("layout %v: %w", layout, c.refusal)
		r.m.refused.Store(layout, reason)
		for _, i := range requests[layout] {
			r.addRefusal(i, reason)
		}
	}
	return nil
}

func (r *run) addRefusal(request int, reason error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = append(r.refused, refusal{request, reason})
}

// endRefused logs a failed trial for each request of a refused layout. If the scheduler refused every job so far, it
// returns the reason instead, because the options are probably wrong.
func (r *run) endRefused() error {
	for _, f := range r.refused {
		if !r.m.accepted.Load() {
			return f.reason
		}
		if err := r.logRejection(rejection{request: f.request, reason: f.reason.Error(), phase: benchrunner.PhaseRefused}); err != nil {
			return err
		}
	}
	return nil
}
