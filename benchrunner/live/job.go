package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// state is the state of a job. One goroutine for each job moves it from state to state:
//
//	state           action                                 next state
//	planned         wait for a slot, create the folder     done if the allocation ends too soon, else prepared
//	resumed         read what an earlier run began         outputComplete if there is a result, submitted if
//	                                                       the journal has the job's ID, else searching
//	searching       look for the job's ID at the           accepted if it is found, outputComplete if the
//	                scheduler and in the job's folder      folder is missing, else prepared
//	prepared        hand the job to the scheduler          done if it is rejected, else accepted
//	accepted        write the job's ID into the journal    submitted
//	submitted       wait for the end of the job            accepted if another copy of the job claimed
//	                                                       the folder, else ended
//	ended           wait for the last files                outputComplete
//	outputComplete  read the output, write trials and      done
//	                the end into the journal
//	done            split or end a refused layout, or plan further jobs for requests without a trial
type state int

const (
	planned state = iota
	resumed
	searching
	prepared
	accepted
	submitted
	ended
	outputComplete
	done
)

// steps maps each state to its action, which returns the next state.
var steps = [done]func(*run, context.Context, *activeJob) (state, error){
	planned:        (*run).prepare,
	resumed:        (*run).resume,
	searching:      (*run).find,
	prepared:       (*run).submit,
	accepted:       (*run).recordID,
	submitted:      (*run).follow,
	ended:          (*run).awaitOutput,
	outputComplete: (*run).finish,
}

type activeJob struct {
	job
	at             state
	plannedJob     plannedJob // only in state planned
	slot           bool       // the job occupies one of the scheduler's job slots
	fromEarlierRun bool       // an earlier run of tutti created the job
	claimed        bool       // a script has claimed the job's folder
	ending         ending     // why tutti stopped waiting for the job
	storedResult   *result    // result.json of an earlier run, nil if there is none
	rest           []int      // requests that the job left unmeasured, for further jobs
	setback        string     // why the job measured nothing, for a cause outside of its candidates; "" if it measured something
	refusal        error      // why the scheduler never runs the job, nil if it may
}

// resumedJob returns the activeJob for a job that an earlier run of tutti began. If the job was submitted,
// it counts against the scheduler's limit of jobs from the start.
func (r *run) resumedJob(j coll.Job) *activeJob {
	c := &activeJob{job: job{Job: j}, at: resumed, fromEarlierRun: true, slot: j.State == coll.JobSubmitted}
	if c.slot {
		r.m.slots.take()
	}
	return c
}

// runToEnd advances a job until its state is done. Then it plans and starts jobs for the requests that this
// job left unmeasured.
func (r *run) runToEnd(ctx context.Context, c *activeJob) error {
	err := r.advance(ctx, c)
	if c.slot && !errors.Is(err, benchrunner.ErrNoStart) { // after ErrNoStart, no other job may use the slot
		r.m.slots.release()
	}
	switch {
	case err != nil:
		return err
	case c.refusal != nil:
		return r.refuse(ctx, c)
	}
	return r.measureAgain(ctx, c)
}

func (r *run) advance(ctx context.Context, c *activeJob) error {
	for c.at != done {
		next, err := steps[c.at](r, ctx, c)
		if err != nil {
			return r.abandon(c, err)
		}
		c.at = next
	}
	return nil
}

// abandon returns the error that ended the work on a job. It cancels the job if jobs of this scheduler must not
// run without tutti.
func (r *run) abandon(c *activeJob, cause error) error {
	if c.ID == "" || c.at == outputComplete { // the job is not running
		return cause
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if !r.m.knownCapacity(ctx).Attached {
		return cause
	}
	if err := r.m.opt.Scheduler.Cancel(ctx, c.ID, r.m.submission(c.job)); err != nil {
		return fmt.Errorf("%w; job %s could not be ended: %w", cause, c.Name, err)
	}
	return cause
}

func (r *run) acquireSlot(ctx context.Context, c *activeJob) error {
	err := r.m.slots.acquire(ctx)
	c.slot = err == nil
	return err
}

func (r *run) prepare(ctx context.Context, c *activeJob) (state, error) {
	if err := r.acquireSlot(ctx, c); err != nil {
		return done, err
	}
	known := r.m.lastCapacity.Load()
	if !known.Ends.IsZero() && time.Now().Add(c.plannedJob.limit).After(known.Ends) || r.timeIsUp(*known) {
		c.rest = c.plannedJob.carries()
		return done, nil
	}
	r.hasJob.Store(true)
	var err error
	if c.job, err = r.makeJob(ctx, c.plannedJob); err != nil {
		return done, err
	}
	return prepared, r.logJob(c.Job)
}

func (r *run) makeJob(ctx context.Context, d plannedJob) (job, error) {
	for {
		r.mu.Lock()
		r.number++
		name := fmt.Sprintf("%s%d", r.prefix, r.number)
		r.mu.Unlock()
		j, err := r.m.render(d, name)
		if err != nil {
			return job{}, err
		}
		err = r.m.retry(ctx, func() error { return makeFolder(r.m.jobDir(name), j) })
		if !errors.Is(err, fs.ErrExist) {
			return j, err
		}
	}
}

// resume reads the files of a job that an earlier run of tutti created. From them it finds the state in which the
// job continues.
func (r *run) resume(ctx context.Context, c *activeJob) (state, error) {
	var made result
	err := r.m.read(ctx, c.Name, func(f *folder) {
		c.launches, c.storedResult, made = f.plan(), nil, result{}
		if f.json(resultFile, &made) && made.Trials != nil {
			c.storedResult = &made
		}
	})
	switch {
	case err != nil:
		return done, err
	case c.storedResult != nil:
		return outputComplete, nil
	case c.State == coll.JobSubmitted:
		return submitted, nil
	}
	return searching, nil
}

// find looks for the scheduler's ID of a job that an earlier run of tutti may have submitted. The journal does
// not have this ID. It comes from the scheduler, or from the job's own script.
func (r *run) find(ctx context.Context, c *activeJob) (state, error) {
	if err := r.acquireSlot(ctx, c); err != nil {
		return done, err
	}
	sub := r.m.submission(c.job)
	var found bool
	err := r.m.retry(ctx, func() (err error) {
		c.ID, found, err = r.m.opt.Scheduler.Find(ctx, sub)
		return err
	})
	if err != nil {
		return done, err
	}
	claimOwner, err := r.claimOwner(ctx, c.job)
	switch {
	case err != nil:
		return done, err
	case claimOwner != "":
		c.ID = claimOwner
	case found:
	case len(c.launches) == 0: // the folder is missing
		c.ending = ending{status: benchrunner.Status{Outcome: coll.JobLost}}
		return outputComplete, nil
	default:
		return prepared, nil
	}
	return accepted, nil
}

// claimOwner returns the ID of the scheduler's job that claimed the folder. Only this job measures. The ID is
// "" if no job claimed the folder.
func (r *run) claimOwner(ctx context.Context, j job) (id string, err error) {
	err = r.m.read(ctx, j.Name, func(f *folder) { id = f.claimOwner() })
	return id, err
}

func (m *Machine) submission(j job) benchrunner.Submission {
	s := benchrunner.Submission{
		Name: j.Name, Dir: m.jobDir(j.Name), Nodes: j.Nodes, PPN: 1,
		Limit: time.Duration(j.LimitSeconds * float64(time.Second)),
	}
	s.Script = filepath.Join(s.Dir, "job.sh")
	for _, st := range j.launches {
		s.PPN = max(s.PPN, st.Layout.PPN)
	}
	return s
}

// submit hands a job to the scheduler, which may never accept it.
func (r *run) submit(ctx context.Context, c *activeJob) (state, error) {
	sub := r.m.submission(c.job)
	tried, absent := false, 0
	err := r.m.retry(ctx, func() (err error) {
		if tried { // an earlier attempt may have reached the scheduler
			id, found, err := r.m.opt.Scheduler.Find(ctx, sub)
			if err != nil || found {
				c.ID = id
				return err
			}
			if absent++; absent < unknownTimes {
				return fmt.Errorf("%w: job %s may have been accepted", benchrunner.ErrUnavailable, sub.Name)
			}
		}
		tried, absent = true, 0
		c.ID, err = r.m.opt.Scheduler.Submit(ctx, sub)
		return err
	})
	switch {
	case err == nil:
		return accepted, nil
	case !errors.Is(err, benchrunner.ErrRejected):
		return done, err
	}
	c.State, c.Outcome, c.refusal = coll.JobEnded, coll.JobFailed, err
	return done, r.logJob(c.Job)
}

func (r *run) recordID(_ context.Context, c *activeJob) (state, error) {
	c.State = coll.JobSubmitted
	return submitted, r.logJob(c.Job)
}

// follow waits for the end of a job. If another job with the same name has claimed the folder, follow
// cancels its own job and waits for the other one instead.
func (r *run) follow(ctx context.Context, c *activeJob) (state, error) {
	sub := r.m.submission(c.job)
	stop := r.limitJob(ctx, c)
	e, err := r.m.watcher.watch(ctx, c.ID, sub)
	stop()
	if err != nil {
		return done, err
	}
	claimOwner, err := r.claimOwner(ctx, c.job)
	if err != nil {
		return done, err
	}
	if claimOwner != "" && claimOwner != c.ID {
		_ = r.m.opt.Scheduler.Cancel(ctx, c.ID, sub) // a job without the claim measures nothing
		c.ID = claimOwner
		if !e.byFile {
			return accepted, nil
		}
	}
	c.claimed, c.ending = claimOwner != "", e
	return ended, nil
}

// awaitOutput waits for the last files of a job and makes sure that the job writes nothing
// more.
func (r *run) awaitOutput(ctx context.Context, c *activeJob) (state, error) {
	status := c.ending.status
	began := c.ending.byFile || !status.NeverStarts && (c.claimed || status.Outcome != coll.JobCancelled)
	switch {
	case c.ending.byFile:
		if err := r.quiet(ctx, c.job); errors.Is(err, benchrunner.ErrLeft) {
			return done, err
		}
	case status.Outcome == coll.JobLost:
		if err := r.forget(ctx, c.job); err != nil {
			return done, err
		}
	}
	known := r.m.knownCapacity(ctx)
	killedHere := known.Attached && !known.SeparateNodes && status.Outcome == coll.JobCancelled // it writes nothing more
	if began && !killedHere {
		r.m.await(ctx, func() bool { return completeOutput(r.m.jobDir(c.Name), c.launches) })
	}
	if err := ctx.Err(); err != nil {
		return done, err
	}
	over := false
	err := r.m.read(ctx, c.Name, func(f *folder) { _, over = f.fields("end") })
	if err == nil && !over { // the scheduler may be about to requeue the job
		err = r.forget(ctx, c.job)
	}
	return outputComplete, err
}

// quiet waits until the last process of a job has ended, usually some milliseconds, and ends those that stay.
// Otherwise the next job could run at the same time. It returns an error if processes do not end.
func (r *run) quiet(ctx context.Context, j job) error {
	if !r.m.knownCapacity(ctx).Attached {
		return nil
	}
	jobs := map[string]benchrunner.Submission{j.ID: r.m.submission(j)}
	for began := time.Now(); time.Since(began) < 5*time.Second; {
		answer, err := r.m.opt.Scheduler.Status(ctx, jobs)
		if s, ok := answer[j.ID]; err != nil || !ok || s.Phase == benchrunner.JobOver || !sleep(ctx, r.m.opt.Poll.Min) {
			break
		}
	}
	return r.m.opt.Scheduler.Cancel(ctx, j.ID, jobs[j.ID])
}

// forget makes sure that a job measures nothing more. It cancels the job, and writes a stop file, which keeps
// the job's script from starting a launch. It returns an error only if it cannot write this file.
func (r *run) forget(ctx context.Context, j job) error {
	var err error
	r.m.await(ctx, func() bool {
		err = writeStop(r.m.jobDir(j.Name))
		return err == nil
	})
	_ = r.m.opt.Scheduler.Cancel(ctx, j.ID, r.m.submission(j))
	if err != nil {
		return fmt.Errorf("job %s: %w", j.Name, err)
	}
	return nil
}

func (r *run) finish(ctx context.Context, c *activeJob) (state, error) {
	fresh := c.storedResult == nil
	if fresh {
		made, err := r.result(ctx, c)
		if err != nil {
			return done, err
		}
		c.storedResult = &made
	}
	var rest []int
	for _, request := range r.validRequests(c.Requests) {
		t, ok := c.storedResult.Trials[request]
		if !ok {
			rest = append(rest, request)
			continue
		}
		if err := r.logTrial(request, t); err != nil {
			return done, err
		}
	}
	c.State, c.Outcome, c.Spent, c.Environment = coll.JobEnded, c.storedResult.Outcome, c.storedResult.Spent, c.storedResult.Environment
	c.NoStartReason = c.storedResult.NoStartReason
	r.endUsage(c, c.Spent.Allocated())
	if err := r.logJob(c.Job); err != nil {
		return done, err
	}
	switch {
	case fresh && len(c.storedResult.Left) > 0:
		return done, leftError(c.Name, c.storedResult.Left)
	case c.NoStartReason == "" && len(c.storedResult.Trials) > 0:
		r.m.confirmStart()
	case c.NoStartReason != "" && !c.fromEarlierRun: // if an earlier run created the job, its cause may have been fixed since
		return done, fmt.Errorf("%w: job %s, %d benchmarks: %s", benchrunner.ErrNoStart, c.Name, len(c.Requests), c.NoStartReason)
	}
	if status := c.ending.status; status.NeverStarts {
		c.refusal = fmt.Errorf("job %s %w: it can never start: %s", c.Name, benchrunner.ErrRejected, status.Reason)
	} else {
		r.m.accepted.Store(true)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recordJob(c.Job, len(c.storedResult.Trials) > 0)
	c.rest = slices.DeleteFunc(rest, func(request int) bool { return r.decided[request] })
	if len(c.storedResult.Trials) == 0 {
		c.setback = c.storedResult.NotReached
	}
	return done, nil
}

// leftError returns the error of a job whose benchmarks left processes that do not end. They would slow down every
// later measurement on their nodes.
func leftError(job string, left []string) error {
	return fmt.Errorf("%w: job %s: %s: end them, or restart the node, then resume", benchrunner.ErrLeft, job, strings.Join(left, ", "))
}

func (r *run) result(ctx context.Context, c *activeJob) (result, error) {
	s, err := r.m.see(ctx, c.job, c.ending)
	if err != nil {
		return result{}, err
	}
	r.mu.Lock()
	wasted := 0.0
	for _, request := range r.validRequests(c.Requests) {
		wasted += r.wasted[request]
	}
	res := s.result(r.batch.Requests, wasted)
	if res.NoStartReason != "" {
		if r.m.needsFirstStart.Load() {
			res.Trials = map[int]coll.Trial{}
		} else {
			res.NoStartReason = ""
		}
	}
	r.mu.Unlock()
	if err := writeJSON(filepath.Join(r.m.jobDir(c.Name), resultFile), res); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return res, fmt.Errorf("job %s: %w", c.Name, err)
	}
	return res, nil
}
