package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// Machine measures batches with real jobs. It implements benchrunner.Runner. Several tuning problems on one
// machine share its Machine. The Machine respects the scheduler's limit of concurrent jobs and asks for the
// status of all jobs together. It is safe for concurrent use.
type Machine struct {
	opt             Options
	slots           slots
	watcher         *watcher
	lastCapacity    atomic.Pointer[benchrunner.Capacity] // the scheduler's last answer
	accepted        atomic.Bool                          // the scheduler accepted a job, so its options are valid
	fits            atomic.Bool                          // at least one launch fits the machine
	nodes           atomic.Int64                         // largest number of nodes that a job could have so far
	patience        time.Duration                        // how long the scheduler may be unavailable
	records         records                              // trials of each algorithm
	needsFirstStart atomic.Bool                          // no program has started yet; see RequireFirstStart

	wired struct { // the scheduler's answer about switches, requested only once
		sync.Mutex
		known    bool
		switches [][]string
	}
}

var _ benchrunner.Runner = (*Machine)(nil)

// patience is how long a scheduler may be unavailable before Run gives up. This is long enough to restart
// or replace Slurm's controller.
const patience = 15 * time.Minute

// New returns a machine. The error lists every fault of the options. New lets bash check the syntax of the
// set-up lines, without running them.
func New(opt Options) (*Machine, error) {
	opt = opt.withDefaults()
	if err := opt.validate(); err != nil {
		return nil, err
	}
	m := &Machine{opt: opt, patience: patience}
	m.watcher = newWatcher(opt.Scheduler, opt.Poll, opt.Settle, patience)
	return m, nil
}

// capacity asks the scheduler for its limits and stores the answer.
func (m *Machine) capacity(ctx context.Context) (benchrunner.Capacity, error) {
	var c benchrunner.Capacity
	err := m.retry(ctx, func() (err error) {
		c, err = m.opt.Scheduler.Capacity(ctx)
		return err
	})
	if err != nil {
		return c, err
	}
	c.Bytes = cmp.Or(m.opt.NodeBytes, c.Bytes)
	m.lastCapacity.Store(&c)
	m.slots.setLimit(m.jobsAtOnce(c))
	return c, nil
}

// capacityFor returns the capacity for jobs of up to the given number of nodes. If nodes that existed
// earlier are down, it waits for them, but not longer than patience.
func (m *Machine) capacityFor(ctx context.Context, nodes int) (benchrunner.Capacity, error) {
	w := m.newWait()
	for {
		c, err := m.capacity(ctx)
		most := int(m.nodes.Load())
		switch {
		case err != nil:
			return c, err
		case c.Nodes == 0 || c.Nodes >= min(nodes, most):
			m.nodes.Store(int64(max(c.Nodes, most)))
			return c, nil
		case w.over():
			m.nodes.Store(int64(c.Nodes))
			return c, nil
		}
		m.opt.Notice(fmt.Errorf("%d nodes are up, waiting for %d", c.Nodes, min(nodes, most)))
		if !w.pause(ctx) {
			return c, ctx.Err()
		}
	}
}

// wait produces the pauses between attempts while a scheduler is unavailable. The pauses grow from a second
// to a minute. Their sum is at most patience.
type wait struct {
	began    time.Time
	next     time.Duration
	patience time.Duration
}

func (m *Machine) newWait() *wait {
	return &wait{time.Now(), min(time.Second, m.opt.Poll.Max), m.patience}
}

func (w *wait) over() bool { return time.Since(w.began) >= w.patience }

// pause waits before the next attempt. It returns false if ctx is cancelled during the pause.
func (w *wait) pause(ctx context.Context) bool {
	d := min(w.next/2+rand.N(w.next), w.patience-time.Since(w.began))
	w.next = min(2*w.next, time.Minute)
	return sleep(ctx, d)
}

// knownCapacity returns the last capacity of the scheduler, and asks for it if there is none. If the scheduler
// does not answer, it returns the zero value: a scheduler that can be unreachable is remote, and its jobs
// continue without tutti.
func (m *Machine) knownCapacity(ctx context.Context) benchrunner.Capacity {
	if c := m.lastCapacity.Load(); c != nil {
		return *c
	}
	c, err := m.opt.Scheduler.Capacity(ctx)
	if err != nil {
		return benchrunner.Capacity{}
	}
	m.lastCapacity.Store(&c)
	return c
}

// retry calls f until it succeeds, its error is not temporary or patience has passed. Two errors are temporary:
// benchrunner.ErrUnavailable and a lack of file descriptors.
func (m *Machine) retry(ctx context.Context, f func() error) error {
	w := m.newWait()
	for {
		err := f()
		temporary := errors.Is(err, benchrunner.ErrUnavailable) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
		if !temporary || w.over() {
			return err
		}
		m.opt.Notice(err)
		if !w.pause(ctx) {
			return ctx.Err()
		}
	}
}

// sleep waits for d. It returns false if ctx is cancelled before that time has passed.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (m *Machine) planner(c benchrunner.Capacity, s sharing) planner {
	return planner{
		program:    m.opt.Program,
		bounds:     boundsOf(c, m.opt.JobTime, time.Now()),
		launchTime: m.opt.LaunchTime,
		rankTime:   m.opt.RankTime,
		dir:        m.jobDir("check"),
		order:      m.opt.Order,
		sharing:    s,
	}
}

// Cancel cancels those of the jobs that have not ended. A resumed campaign reads what these jobs measured
// before.
func (m *Machine) Cancel(ctx context.Context, jobs []coll.Job) error {
	var faults []error
	for _, j := range jobs {
		if j.State == coll.JobEnded {
			continue
		}
		if err := m.cancel(ctx, j); err != nil {
			faults = append(faults, fmt.Errorf("cancel job %s: %w", j.Name, err))
		}
	}
	return errors.Join(faults...)
}

// cancel cancels a job that the scheduler knows. It also writes a stop file, which keeps the job's script
// from starting a launch.
func (m *Machine) cancel(ctx context.Context, j coll.Job) error {
	sub := m.submission(job{Job: j})
	stopErr := writeStop(sub.Dir)
	if j.ID == "" {
		id, found, err := m.opt.Scheduler.Find(ctx, sub)
		if err != nil || !found {
			return errors.Join(stopErr, err)
		}
		j.ID = id
	}
	return errors.Join(stopErr, m.opt.Scheduler.Cancel(ctx, j.ID, sub))
}
