package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"tutti/benchrunner"
	"tutti/coll"
)

// Run measures a batch; see benchrunner.Runner. One goroutine handles each job. If a job ends before it
// reaches all its cases, the remaining cases go to further jobs.
//
// If Run returns early, it cancels the jobs of a scheduler whose jobs must end with this process. Jobs of
// other schedulers continue. To resume these jobs, run the same batch again with the jobs in Batch.Jobs.
func (m *Machine) Run(ctx context.Context, batch benchrunner.Batch, log benchrunner.Log) error {
	if batch.Label != "" && !word.MatchString(batch.Label) {
		return fmt.Errorf("label %q: want letters, digits and ._-", batch.Label)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r := m.newRun(batch, log)
	group, inner := errgroup.WithContext(ctx)
	r.group = group
	fresh := r.openRequests()
	for _, j := range batch.Jobs {
		if j.State != coll.JobEnded {
			c := r.resumedJob(j)
			group.Go(func() error { return r.runToEnd(inner, c) })
		}
	}
	group.Go(func() error { return r.measure(inner, fresh) })
	err := group.Wait()
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return ctx.Err()
	}
	if err == nil {
		err = r.endRefused()
	}
	if err == nil {
		err = r.later
	}
	if err == nil && r.late != "" && slices.Contains(r.decided, false) {
		err = fmt.Errorf("%w: %s", benchrunner.ErrTimeUp, r.late)
	}
	return err
}

type run struct {
	m      *Machine
	batch  benchrunner.Batch
	prefix string
	log    benchrunner.Log
	group  *errgroup.Group
	hasJob atomic.Bool // whether this run has prepared a job

	mu       sync.Mutex // guards the fields below and calls of log
	broken   error      // first error of log
	later    error      // set if some cases must wait for a later run, for a cause in the machine
	late     string     // what waited when the time limit of the batch was reached, "" if nothing did
	number   int        // number of the last job
	decided  []bool     // by request: whether it has a trial
	setbacks []setback  // by request: jobs in a row that measured nothing
	refused  []refusal
	used     map[string]usage // by name: jobs of this process that have begun
	wasted   []float64        // by request: seconds that the nodes of these jobs were allocated
}

func (m *Machine) newRun(batch benchrunner.Batch, log benchrunner.Log) *run {
	n := len(batch.Requests)
	r := &run{
		m: m, batch: batch, log: log, prefix: namePrefix(m.opt.Campaign, batch),
		decided: make([]bool, n), setbacks: make([]setback, n), wasted: make([]float64, n), used: map[string]usage{},
	}
	r.number = lastNumber(r.prefix, batch)
	for i, req := range batch.Requests {
		r.decided[i] = req.Ended
	}
	r.restore()
	return r
}

// restore restores the ended jobs of an earlier run of the batch. The trial of a request comes from the last
// job with this request.
func (r *run) restore() {
	jobs := slices.Clone(r.batch.Jobs)
	slices.SortStableFunc(jobs, func(a, b coll.Job) int { return numberOf(r.prefix, a.Name) - numberOf(r.prefix, b.Name) })
	last := map[int]string{}
	for _, j := range jobs {
		for _, c := range r.validRequests(j.Requests) {
			last[c] = j.Name
		}
	}
	for _, j := range jobs {
		if j.State != coll.JobEnded {
			continue
		}
		decided := slices.ContainsFunc(r.validRequests(j.Requests), func(c int) bool { return r.decided[c] && last[c] == j.Name })
		r.recordJob(j, decided)
	}
}

func (r *run) validRequests(carries []int) []int {
	return slices.DeleteFunc(slices.Clone(carries), func(c int) bool { return c < 0 || c >= len(r.decided) })
}

// recordJob records an ended job. If it has no result for any of its requests, its time is added to the cost of the
// next job with its first request.
func (r *run) recordJob(j coll.Job, decided bool) {
	carries := r.validRequests(j.Requests)
	total := j.Spent.Allocated()
	for _, c := range carries {
		total += r.wasted[c]
		r.wasted[c] = 0
	}
	if decided || len(carries) == 0 {
		return
	}
	r.wasted[carries[0]] = total
}

func (r *run) openRequests() []int {
	activeJob := map[int]bool{}
	for _, j := range r.batch.Jobs {
		if j.State != coll.JobEnded {
			for _, c := range j.Requests {
				activeJob[c] = true
			}
		}
	}
	var out []int
	for i, s := range r.decided {
		if !s && !activeJob[i] {
			out = append(out, i)
		}
	}
	return out
}

func (r *run) logJob(j coll.Job) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken == nil {
		r.broken = r.log.Job(j)
	}
	return r.broken
}

func (r *run) logTrial(request int, t coll.Trial) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil || r.decided[request] {
		return r.broken
	}
	r.decided[request] = true
	r.m.records.add(t)
	r.broken = r.log.Trial(t)
	return r.broken
}

func (r *run) planJobs(ctx context.Context, requests []int) ([]plannedJob, []rejection, error) {
	if len(requests) == 0 {
		return nil, nil, nil
	}
	nodes := 0
	for _, i := range requests {
		nodes = max(nodes, r.batch.Requests[i].Nodes)
	}
	capacity, err := r.m.capacityFor(ctx, nodes)
	if err != nil {
		return nil, nil, err
	}
	var cases []requestedCase
	var unforced []rejection
	for _, i := range requests {
		if reason, ok := r.m.refused.Load(r.batch.Requests[i].Layout()); ok {
			r.addRefusal(i, reason.(error))
			continue
		}
		c, reason := r.m.force(r.batch.Requests[i].Candidate)
		if reason != "" {
			unforced = append(unforced, rejection{request: i, reason: reason, phase: benchrunner.PhaseLaunch})
		} else {
			cases = append(cases, requestedCase{i, c})
		}
	}
	if len(cases) == 0 {
		return nil, unforced, nil
	}
	p, err := r.m.plannerFor(ctx, capacity, nodes)
	if err != nil {
		return nil, nil, err
	}
	planJobs, rejected, err := p.plan(cases)
	if err != nil {
		return nil, nil, err
	}
	rejected = r.postpone(rejected)
	if len(planJobs) > 0 {
		r.m.fits.Store(true)
	} else if len(rejected) > 0 && r.batch.Round <= 1 && !r.m.fits.Load() {
		return nil, nil, fmt.Errorf("%w: nothing of the first round can be measured; %v: %s",
			benchrunner.ErrRejected, r.batch.Requests[rejected[0].request].Candidate, rejected[0].reason)
	}
	return planJobs, append(unforced, rejected...), nil
}

// force returns a candidate with the settings that make the library run it, or why it cannot be measured.
func (m *Machine) force(c coll.Candidate) (forced benchrunner.Case, reason string) {
	if reason := m.records.unusable(c); reason != "" {
		return benchrunner.Case{}, reason
	}
	f, err := m.opt.Force(c)
	if err != nil {
		return benchrunner.Case{}, err.Error()
	}
	return benchrunner.Case{Candidate: c, Forcing: f}, ""
}

// postpone returns the rejections that are final. Other launches can be repeated in a new allocation, or when nodes are
// up again. For these it stores an error, which Run returns at its end.
func (r *run) postpone(rejected []rejection) []rejection {
	var out []rejection
	for _, f := range rejected {
		if !f.later {
			out = append(out, f)
			continue
		}
		r.mu.Lock()
		r.later = fmt.Errorf("%w: %v: %s", benchrunner.ErrUnavailable, r.batch.Requests[f.request].Candidate, f.reason)
		r.mu.Unlock()
	}
	return out
}

func (r *run) measure(ctx context.Context, requests []int) error {
	if len(requests) > 0 && r.timeIsUp(r.m.knownCapacity(ctx)) {
		r.endWaiting("")
		return nil
	}
	planJobs, rejected, err := r.planJobs(ctx, requests)
	if err != nil {
		return err
	}
	for _, f := range rejected {
		if err := r.logRejection(f); err != nil {
			return err
		}
	}
	for _, d := range planJobs {
		r.group.Go(func() error { return r.runToEnd(ctx, &activeJob{at: planned, plannedJob: d}) })
	}
	return nil
}

// logRejection logs the failed trial of a request that no job measures. The trial costs what earlier jobs wasted.
func (r *run) logRejection(f rejection) error {
	r.mu.Lock()
	cost := r.wasted[f.request]
	r.wasted[f.request] = 0
	r.mu.Unlock()
	o := benchrunner.Failed(f.phase, tail([]byte(f.reason), 5))
	return r.logTrial(f.request, trialOf(r.batch.Requests[f.request], o, cost, ""))
}
