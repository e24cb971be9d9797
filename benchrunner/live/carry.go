package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// state is how far a job has come. A goroutine of its own carries it from one to the
// next:
//
//	state      what is done with the job              followed by
//	drafted    waits for a slot, gets a folder        intended; done when the nodes go away too soon for it
//	recalled   is what an earlier run began           silent when it has a result, submitted when the journal
//	                                                  has its ID, else sought
//	sought     is looked for at the scheduler and     accepted when it is found; silent when its folder is
//	           by the claim of its folder             gone; else intended
//	intended   is handed to the scheduler             accepted; silent when it is rejected
//	accepted   has its ID written into the journal    submitted
//	submitted  is waited for                          ended; accepted when another job has claimed its folder
//	ended      has its last files waited for          silent
//	silent     is read; the journal gets its trials   done
//	           and its end
//	done       what it did not reach goes into
//	           further jobs
type state int

const (
	drafted state = iota
	recalled
	sought
	intended
	accepted
	submitted
	ended
	silent
	done
)

// steps are what is done in each state; a step returns the state that follows. After an
// error none does.
var steps = [done]func(*run, context.Context, *carried) (state, error){
	drafted:   (*run).intend,
	recalled:  (*run).takeUp,
	sought:    (*run).seek,
	intended:  (*run).submit,
	accepted:  (*run).note,
	submitted: (*run).follow,
	ended:     (*run).settle,
	silent:    (*run).conclude,
}

// carried is a job on its way.
type carried struct {
	job
	at      state
	draft   draft   // of a job that is drafted
	slot    bool    // it counts as one of the jobs that the scheduler takes
	earlier bool    // an earlier run began it
	known   bool    // it was submitted a while ago: an answer is wanted at once
	claimed bool    // a script has claimed its folder
	ending  ending  // why it is not waited for any more
	made    *result // by an earlier run
	rest    []int   // requests for further jobs
}

// begun returns a job that an earlier run began. One that was submitted has its slot.
func (r *run) begun(j coll.Job) *carried {
	c := &carried{job: job{Job: j}, at: recalled, earlier: true, slot: j.State == coll.JobSubmitted}
	if c.slot {
		r.m.slots.take()
	}
	return c
}

// carry takes a job to its end.
func (r *run) carry(ctx context.Context, c *carried) error {
	err := r.walk(ctx, c)
	if c.slot && !errors.Is(err, benchrunner.ErrNoStart) { // nobody tries the same before all are told
		r.m.slots.release()
	}
	if err != nil {
		return err
	}
	return r.measure(ctx, c.rest)
}

func (r *run) walk(ctx context.Context, c *carried) error {
	for c.at != done {
		next, err := steps[c.at](r, ctx, c)
		if err != nil {
			return r.abandon(c, err)
		}
		c.at = next
	}
	return nil
}

// abandon ends a job that must not outlive this process and returns why.
func (r *run) abandon(c *carried, cause error) error {
	if c.ID == "" || c.at == silent { // it does not run
		return cause
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if !r.m.attached(ctx) {
		return cause
	}
	if err := r.m.opt.Scheduler.Cancel(ctx, c.ID, r.m.submission(c.job)); err != nil {
		return fmt.Errorf("%w; job %s could not be ended: %w", cause, c.Name, err)
	}
	return cause
}

// hold waits until the scheduler takes one more job.
func (r *run) hold(ctx context.Context, c *carried) error {
	err := r.m.slots.acquire(ctx)
	c.slot = err == nil
	return err
}
