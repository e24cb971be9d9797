package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// intend makes a job of a draft.
func (r *run) intend(ctx context.Context, c *carried) (state, error) {
	if err := r.hold(ctx, c); err != nil {
		return done, err
	}
	if known := r.m.said.Load(); !known.Ends.IsZero() && time.Now().Add(c.draft.limit).After(known.Ends) {
		c.rest = c.draft.carries()
		return done, nil
	}
	var err error
	if c.job, err = r.make(c.draft); err != nil {
		return done, err
	}
	return intended, r.logJob(c.Job)
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

// takeUp reads what an earlier run left of a job.
func (r *run) takeUp(ctx context.Context, c *carried) (state, error) {
	var made result
	err := r.m.read(ctx, c.Name, func(f *folder) {
		c.starts, c.made, made = f.plan(), nil, result{}
		if f.json(resultFile, &made) && made.Trials != nil {
			c.made = &made
		}
	})
	switch {
	case err != nil:
		return done, err
	case c.made != nil:
		return silent, nil
	case c.State == coll.JobSubmitted:
		r.m.accepted.Store(true)
		c.known = true
		return submitted, nil
	}
	return sought, nil
}

// seek finds out whether a job without an ID was submitted.
func (r *run) seek(ctx context.Context, c *carried) (state, error) {
	if err := r.hold(ctx, c); err != nil {
		return done, err
	}
	sub := r.m.submission(c.job)
	var found bool
	err := r.m.patiently(ctx, func() (err error) {
		c.ID, found, err = r.m.opt.Scheduler.Find(ctx, sub)
		return err
	})
	if err != nil {
		return done, err
	}
	owner, err := r.owner(ctx, c.job)
	switch {
	case err != nil:
		return done, err
	case owner != "":
		c.ID = owner
	case found:
	case len(c.starts) == 0: // its folder is gone
		c.ending = ending{status: benchrunner.Status{Outcome: coll.JobLost}}
		return silent, nil
	default:
		return intended, nil
	}
	c.known = true
	return accepted, nil
}

// owner returns the ID of the job that claimed the folder, "" for none.
func (r *run) owner(ctx context.Context, j job) (id string, err error) {
	err = r.m.read(ctx, j.Name, func(f *folder) { id = f.owner() })
	return id, err
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

// submit hands a job to the scheduler. One that can never be accepted fails its trials;
// when no job ever was, the options are wrong.
func (r *run) submit(ctx context.Context, c *carried) (state, error) {
	sub := r.m.submission(c.job)
	tried := false
	err := r.m.patiently(ctx, func() (err error) {
		if tried { // an earlier attempt may have arrived
			id, found, err := r.m.opt.Scheduler.Find(ctx, sub)
			if err != nil || found {
				c.ID = id
				return err
			}
		}
		tried = true
		c.ID, err = r.m.opt.Scheduler.Submit(ctx, sub)
		return err
	})
	switch {
	case err == nil:
		return accepted, nil
	case !errors.Is(err, benchrunner.ErrRejected):
		return done, err
	case r.m.accepted.Load():
		c.ending = ending{status: benchrunner.Status{Phase: benchrunner.JobOver, Outcome: coll.JobFailed, Reason: err.Error()}}
		return silent, nil
	}
	c.State, c.Outcome = coll.JobEnded, coll.JobFailed
	if logErr := r.logJob(c.Job); logErr != nil {
		return done, logErr
	}
	return done, err
}

// note writes the ID of a job.
func (r *run) note(_ context.Context, c *carried) (state, error) {
	r.m.accepted.Store(true)
	c.State = coll.JobSubmitted
	return submitted, r.logJob(c.Job)
}

// follow waits for the end of a job. When another job has claimed its folder, a
// submission that was thought lost, that one is the job.
func (r *run) follow(ctx context.Context, c *carried) (state, error) {
	sub := r.m.submission(c.job)
	e, err := r.m.watcher.watch(ctx, c.ID, sub, c.known)
	if err != nil {
		return done, err
	}
	owner, err := r.owner(ctx, c.job)
	if err != nil {
		return done, err
	}
	if owner != "" && owner != c.ID {
		_ = r.m.opt.Scheduler.Cancel(ctx, c.ID, sub) // it would measure nothing
		c.ID = owner
		if !e.byFile {
			c.known = true
			return accepted, nil
		}
	}
	c.claimed, c.ending = owner != "", e
	return ended, nil
}

// settle waits for what a job wrote last, and makes sure that it writes nothing more.
func (r *run) settle(ctx context.Context, c *carried) (state, error) {
	status := c.ending.status
	began := c.ending.byFile || !status.NeverStarts && (c.claimed || status.Outcome != coll.JobCancelled)
	switch {
	case c.ending.byFile:
		r.quiet(ctx, c.job)
	case status.Outcome == coll.JobLost:
		if err := r.forget(ctx, c.job); err != nil {
			return done, err
		}
	}
	if began {
		r.m.await(ctx, func() bool { return whole(r.m.jobDir(c.Name), c.starts) })
	}
	if err := ctx.Err(); err != nil {
		return done, err
	}
	over := false
	err := r.m.read(ctx, c.Name, func(f *folder) { _, over = f.fields("end") })
	if err == nil && !over { // a site may be about to run it again
		err = r.forget(ctx, c.job)
	}
	return silent, err
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
// wait for ever, or run where nobody can ask. That it is not cancelled does no harm: it
// starts nothing more.
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

// conclude reads a job that is over and writes its trials and its end.
func (r *run) conclude(ctx context.Context, c *carried) (state, error) {
	if c.made == nil {
		made, err := r.result(ctx, c)
		if err != nil {
			return done, err
		}
		c.made = &made
	}
	var rest []int
	for _, request := range r.known(c.Carries) {
		t, ok := c.made.Trials[request]
		if !ok {
			rest = append(rest, request)
			continue
		}
		if err := r.logTrial(request, t); err != nil {
			return done, err
		}
	}
	c.State, c.Outcome, c.Spent, c.Environment = coll.JobEnded, c.made.Outcome, c.made.Spent, c.made.Environment
	c.NoStartReason = c.made.Stillborn
	if err := r.logJob(c.Job); err != nil {
		return done, err
	}
	switch {
	case c.NoStartReason == "" && len(c.made.Trials) > 0:
		r.m.trust()
	case c.NoStartReason != "" && !c.earlier: // what an earlier run began may have been mended since
		return done, fmt.Errorf("%w: job %s, %d benchmarks: %s", benchrunner.ErrNoStart, c.Name, len(c.Carries), c.NoStartReason)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.account(c.Job, len(c.made.Trials) > 0)
	c.rest = slices.DeleteFunc(rest, func(request int) bool { return r.decided[request] })
	return done, nil
}

// result makes the result of a job and keeps it.
func (r *run) result(ctx context.Context, c *carried) (result, error) {
	s, err := r.m.see(ctx, c.job, c.ending)
	if err != nil {
		return result{}, err
	}
	r.mu.Lock()
	owed := 0.0
	for _, request := range r.known(c.Carries) {
		owed += r.owed[request]
	}
	res := s.result(r.batch.Requests, func(request int) int { return r.cut[request] }, owed)
	if res.Stillborn != "" {
		if r.m.doubt.Load() {
			res.Trials = map[int]coll.Trial{}
		} else {
			res.Stillborn = ""
		}
	}
	r.mu.Unlock()
	if err := writeJSON(filepath.Join(r.m.jobDir(c.Name), resultFile), res); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return res, fmt.Errorf("job %s: %w", c.Name, err)
	}
	return res, nil
}
