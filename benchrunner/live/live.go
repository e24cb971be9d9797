package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"

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
	accepted        atomic.Bool                          // a job was not refused, so the options of the scheduler are valid
	refused         sync.Map                             // layouts that the scheduler never runs, each with the reason
	fits            atomic.Bool                          // at least one launch fits the machine
	nodes           atomic.Int64                         // largest number of nodes that a job could have so far
	nodesDown       atomic.Bool                          // fewer are up, and waiting for them has ended
	patience        time.Duration                        // how long the scheduler may be unavailable
	records         records                              // trials of each algorithm
	needsFirstStart atomic.Bool                          // no program has started yet; see RequireFirstStart
	reading         sync.Mutex                           // held while the outputs of a launch are in memory

	wired struct { // the scheduler's answer about switches, requested only once
		sync.Mutex
		known    bool
		switches [][]string
	}
}

var _ benchrunner.Runner = (*Machine)(nil)

// patience is how long Run waits for an unavailable scheduler before it gives up. This is long enough to
// restart or replace Slurm's controller.
const patience = 15 * time.Minute

// New returns a Machine. The error lists every fault of the options. New lets bash check the syntax of the
// set-up lines, without running them.
func New(opt Options) (*Machine, error) {
	opt = opt.withDefaults()
	if err := opt.validate(); err != nil {
		return nil, err
	}
	m := &Machine{opt: opt, patience: patience}
	m.slots.freed.L = &m.slots.mu
	m.watcher = newWatcher(opt.Scheduler, opt.Poll, unknownTimes*opt.Settle, patience, opt.Notice)
	return m, nil
}

var errNodesDown = fmt.Errorf("%w: nodes are down", benchrunner.ErrUnavailable)

// capacityFor asks the scheduler for its limits and stores the answer. If fewer nodes than requested are up,
// but enough were up earlier, it waits for them, at most for the constant `patience`.
func (m *Machine) capacityFor(ctx context.Context, nodes int) (benchrunner.Capacity, error) {
	var c benchrunner.Capacity
	err := m.retry(ctx, func() (err error) {
		c, err = m.opt.Scheduler.Capacity(ctx)
		if want := min(nodes, int(m.nodes.Load())); err == nil && c.Nodes > 0 && c.Nodes < want && !m.nodesDown.Load() {
			err = fmt.Errorf("%w: %d are up, waiting for %d", errNodesDown, c.Nodes, want)
		}
		return err
	})
	switch {
	case errors.Is(err, errNodesDown): // launches that need more nodes must wait for a later run
		m.nodesDown.Store(true)
	case err != nil:
		return c, err
	case int64(c.Nodes) >= m.nodes.Load():
		m.nodes.Store(int64(c.Nodes))
		m.nodesDown.Store(false)
	}
	c.Bytes = cmp.Or(m.opt.NodeBytes, c.Bytes)
	m.lastCapacity.Store(&c)
	m.slots.setLimit(m.jobsAtOnce(c))
	return c, nil
}

// knownCapacity returns the last known capacity of the scheduler, and asks for it if there is none. If the scheduler
// does not answer, it returns the zero value. This stands for a scheduler whose jobs continue when tutti ends.
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

// retry calls the function `f` until it succeeds, until its error is not temporary, or until patience has
// passed. Two errors are temporary: benchrunner.ErrUnavailable and a lack of file descriptors.
func (m *Machine) retry(ctx context.Context, f func() error) error {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.Multiplier, pauses.MaxInterval = min(time.Second, m.opt.Poll.Max), 2, time.Minute
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := f()
		if err != nil && !errors.Is(err, benchrunner.ErrUnavailable) && !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(m.patience), backoff.WithNotify(func(err error, _ time.Duration) { m.opt.Notice(err) }))
	return err
}

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

func (m *Machine) plannerFor(ctx context.Context, c benchrunner.Capacity, nodes int) (planner, error) {
	s, err := m.sharingFor(ctx, c, nodes)
	var leaving bool
	c.Limit, leaving = limitOf(c, m.opt.JobTime, time.Now())
	return planner{
		program:    m.opt.Program,
		capacity:   c,
		usual:      int(m.nodes.Load()),
		leaving:    leaving,
		launchTime: m.opt.LaunchTime,
		rankTime:   m.opt.RankTime,
		dir:        m.jobDir("check"),
		order:      m.opt.Order,
		sharing:    s,
	}, err
}

// Cancel cancels the given jobs that have not ended. A resumed campaign reads what they have measured until
// then.
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
	err := m.retry(ctx, func() error {
		if j.ID == "" {
			id, found, err := m.opt.Scheduler.Find(ctx, sub)
			if err != nil || !found {
				return err
			}
			j.ID = id
		}
		return m.opt.Scheduler.Cancel(ctx, j.ID, sub)
	})
	return errors.Join(stopErr, err)
}
