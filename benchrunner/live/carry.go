package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// carry takes a draft from its slot to its end.
func (r *run) carry(ctx context.Context, d draft) error {
	err := r.m.slots.acquire(ctx)
	release := sync.OnceFunc(r.m.slots.release)
	defer release()
	if err != nil {
		return err
	}
	if c := r.m.known.Load(); !c.Ends.IsZero() && time.Now().Add(d.limit).After(c.Ends) {
		release()
		return r.measure(ctx, d.carries())
	}
	j, err := r.make(d)
	if err != nil {
		return err
	}
	if err := r.logJob(j.Job); err != nil {
		return err
	}
	return r.submit(ctx, j, release)
}

// make gives a draft a name that was never used and makes its folder.
func (r *run) make(d draft) (job, error) {
	for {
		r.mu.Lock()
		r.number++
		name := fmt.Sprintf("%s%d", r.prefix, r.number)
		r.mu.Unlock()
		j, err := r.m.render(d, name)
		if err != nil {
			return job{}, err
		}
		err = makeFolder(r.m.jobDir(name), j)
		if !errors.Is(err, fs.ErrExist) {
			return j, err
		}
	}
}

func (m *Machine) submission(j job) benchrunner.Submission {
	s := benchrunner.Submission{
		Name: j.Name, Dir: m.jobDir(j.Name), Nodes: j.Nodes, PPN: 1,
		Limit: time.Duration(j.LimitSeconds * float64(time.Second)),
	}
	s.Script = filepath.Join(s.Dir, "job.sh")
	for _, st := range j.starts {
		s.PPN = max(s.PPN, st.Layout.PPN)
	}
	return s
}

// submit hands a job to the scheduler and follows it. A job that can never be
// accepted fails its trials; if none ever was, the options are wrong.
func (r *run) submit(ctx context.Context, j job, release func()) error {
	sub := r.m.submission(j)
	tried := false
	err := r.m.patiently(ctx, func() (err error) {
		if tried { // an earlier attempt may have arrived
			id, found, err := r.m.opt.Scheduler.Find(ctx, sub)
			if err != nil || found {
				j.ID = id
				return err
			}
		}
		tried = true
		j.ID, err = r.m.opt.Scheduler.Submit(ctx, sub)
		return err
	})
	switch {
	case errors.Is(err, benchrunner.ErrRejected):
		return r.rejected(ctx, j, err, release)
	case err != nil:
		return err
	}
	return r.submitted(ctx, j, false, release)
}

func (r *run) rejected(ctx context.Context, j job, err error, release func()) error {
	if r.m.accepted.Load() {
		v := verdict{status: benchrunner.Status{Phase: benchrunner.JobOver, Outcome: coll.JobFailed, Reason: err.Error()}}
		return r.end(ctx, j, v, release)
	}
	j.State, j.Outcome = coll.JobEnded, coll.JobFailed
	if logErr := r.logJob(j.Job); logErr != nil {
		return logErr
	}
	return err
}

// submitted writes the ID of a job and follows it.
func (r *run) submitted(ctx context.Context, j job, known bool, release func()) error {
	r.m.accepted.Store(true)
	j.State = coll.JobSubmitted
	if err := r.logJob(j.Job); err != nil {
		return r.abandon(j, err)
	}
	return r.follow(ctx, j, known, release)
}

// abandon ends a job that must not outlive this process and returns why.
func (r *run) abandon(j job, cause error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if !r.m.attached(ctx) {
		return cause
	}
	if err := r.m.opt.Scheduler.Cancel(ctx, j.ID, r.m.submission(j)); err != nil {
		return fmt.Errorf("%w; job %s could not be ended: %w", cause, j.Name, err)
	}
	return cause
}

// follow waits for the end of a job. When another job has claimed its folder, a
// submission that was thought lost, that one is the job.
func (r *run) follow(ctx context.Context, j job, known bool, release func()) error {
	v, err := r.m.watcher.watch(ctx, j.ID, r.m.submission(j), known)
	if err != nil {
		return r.abandon(j, err)
	}
	claimed := owner(r.m.jobDir(j.Name))
	if claimed != "" && claimed != j.ID {
		_ = r.m.opt.Scheduler.Cancel(ctx, j.ID, r.m.submission(j)) // it would measure nothing
		j.ID = claimed
		if !v.byFile {
			return r.submitted(ctx, j, true, release)
		}
	}
	if !v.byFile && (v.status.Hopeless || v.status.Outcome == coll.JobLost) {
		r.forget(ctx, j)
	}
	if v.byFile {
		r.quiet(ctx, j)
	}
	if started := v.byFile || claimed != "" || v.status.Outcome != coll.JobCancelled; started && !v.status.Hopeless {
		r.m.await(j, func(d time.Duration) bool { return sleep(ctx, d) })
	}
	if err := ctx.Err(); err != nil {
		return r.abandon(j, err)
	}
	if _, whole := readFields(filepath.Join(r.m.jobDir(j.Name), "end")); !whole {
		r.forget(ctx, j) // a site may be about to run it again
	}
	return r.end(ctx, j, v, release)
}

// quiet waits until the last process of a job is gone where the next one would run
// beside it: milliseconds.
func (r *run) quiet(ctx context.Context, j job) {
	if !r.m.attached(ctx) {
		return
	}
	jobs := map[string]benchrunner.Submission{j.ID: r.m.submission(j)}
	for began := time.Now(); time.Since(began) < 5*time.Second; {
		answer, err := r.m.opt.Scheduler.Status(ctx, jobs)
		if s, ok := answer[j.ID]; err != nil || !ok || s.Phase == benchrunner.JobOver || !sleep(ctx, r.m.opt.Poll.Min) {
			return
		}
	}
}

// forget makes sure that a job that is not waited for any more does nothing: it may
// wait for ever, or run where nobody can ask. What cannot be done here does no harm:
// a second job of a name measures nothing.
func (r *run) forget(ctx context.Context, j job) {
	_ = writeStop(r.m.jobDir(j.Name))
	_ = r.m.opt.Scheduler.Cancel(ctx, j.ID, r.m.submission(j))
}

// end reads a job that is over, writes its trials and its end, and begins again
// what it did not reach.
func (r *run) end(ctx context.Context, j job, v verdict, release func()) error {
	res, err := r.result(j, v)
	if err != nil {
		return err
	}
	var rest []int
	for _, c := range r.known(j.Carries) {
		t, ok := res.Trials[c]
		if !ok {
			rest = append(rest, c)
			continue
		}
		if err := r.logTrial(c, t); err != nil {
			return err
		}
	}
	j.State, j.Outcome, j.Spent, j.Environment = coll.JobEnded, res.Outcome, res.Spent, res.Environment
	if err := r.logJob(j.Job); err != nil {
		return err
	}
	r.mu.Lock()
	r.account(j.Job, len(res.Trials) > 0)
	rest = slices.DeleteFunc(rest, func(c int) bool { return r.settled[c] })
	r.mu.Unlock()
	release()
	return r.measure(ctx, rest)
}

// result returns what an earlier run made of the job, or makes it and keeps it.
func (r *run) result(j job, v verdict) (result, error) {
	path := filepath.Join(r.m.jobDir(j.Name), "result.json")
	var res result
	if readJSON(path, &res) && res.Trials != nil {
		return res, nil
	}
	s, err := r.m.see(j, v)
	if err != nil {
		return res, err
	}
	r.mu.Lock()
	owed := 0.0
	for _, c := range r.known(j.Carries) {
		owed += r.owed[c]
	}
	res = s.result(r.batch.Requests, func(c int) int { return r.cut[c] }, owed)
	r.mu.Unlock()
	if err := writeJSON(path, res); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return res, fmt.Errorf("job %s: %w", j.Name, err)
	}
	return res, nil
}

// takeUp goes on with a job that an earlier run began.
func (r *run) takeUp(ctx context.Context, logged coll.Job) error {
	dir := r.m.jobDir(logged.Name)
	j := job{Job: logged, starts: readPlan(dir)}
	if res := (result{}); readJSON(filepath.Join(dir, "result.json"), &res) && res.Trials != nil {
		return r.end(ctx, j, verdict{}, func() {})
	}
	release := sync.OnceFunc(r.m.slots.release)
	defer release()
	if j.State == coll.JobSubmitted {
		r.m.slots.take()
		r.m.accepted.Store(true)
		return r.follow(ctx, j, true, release)
	}
	if err := r.m.slots.acquire(ctx); err != nil {
		return err
	}
	return r.takeUpIntended(ctx, j, release)
}

// takeUpIntended finds out whether a job without an ID was submitted, by asking the
// scheduler and by the claim of its folder. If not, it is submitted now.
func (r *run) takeUpIntended(ctx context.Context, j job, release func()) error {
	sub := r.m.submission(j)
	var found bool
	err := r.m.patiently(ctx, func() (err error) {
		j.ID, found, err = r.m.opt.Scheduler.Find(ctx, sub)
		return err
	})
	if err != nil {
		return err
	}
	claimed := owner(sub.Dir)
	switch {
	case claimed != "":
		j.ID = claimed
	case found:
	case len(j.starts) == 0: // its folder is gone
		return r.end(ctx, j, verdict{status: benchrunner.Status{Outcome: coll.JobLost}}, release)
	default:
		return r.submit(ctx, j, release)
	}
	return r.submitted(ctx, j, true, release)
}
