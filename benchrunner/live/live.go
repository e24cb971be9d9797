package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// Machine measures batches. Problems that share a machine share its Machine: it
// keeps to the number of jobs that the scheduler takes and asks for all of them
// tryPack. It is safe for concurrent use.
type Machine struct {
	opt             Options
	slots           slots
	watcher         *watcher
	lastCapacity    atomic.Pointer[benchrunner.Capacity] // what the scheduler said last
	accepted        atomic.Bool                          // the scheduler took a job, so its options are right
	fits            atomic.Bool                          // some start does, so the grid is not beyond the machine
	nodes           atomic.Int64                         // most that a job could have
	patience        time.Duration                        // with a scheduler that is unavailable
	needsFirstStart atomic.Bool                          // no program has started yet, see Doubt

	wired struct { // what the scheduler says of its switches, asked once
		sync.Mutex
		known    bool
		switches [][]string
	}
}

var _ benchrunner.Runner = (*Machine)(nil)

// patience is how long a scheduler may be unavailable before a batch is given up:
// a controller that is restarted or replaced.
const patience = 15 * time.Minute

// New returns a machine. The error tells every fault of the options; bash reads the
// set-up lines for that, without running them.
func New(opt Options) (*Machine, error) {
	opt = opt.withDefaults()
	if err := opt.validate(); err != nil {
		return nil, err
	}
	m := &Machine{opt: opt, patience: patience}
	m.watcher = newWatcher(opt.Scheduler, opt.Poll, opt.Settle, patience)
	return m, nil
}

// capacity asks the scheduler and keeps to what it says.
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

// capacityFor is capacity for jobs of up to so many nodes. When there were enough
// once, those that are down are waited for; when they stay away, only this time.
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
		m.opt.Notice(fmt.Errorf("%d nodes are up, %d were", c.Nodes, most))
		if !w.pause(ctx) {
			return c, ctx.Err()
		}
	}
}

// wait is what Machine waits for a scheduler: pauses that grow from a second to a
// minute, never longer together than its patience.
type wait struct {
	began    time.Time
	next     time.Duration
	patience time.Duration
}

func (m *Machine) newWait() *wait {
	return &wait{time.Now(), min(time.Second, m.opt.Poll.Max), m.patience}
}

func (w *wait) over() bool { return time.Since(w.began) >= w.patience }

// pause returns false when ctx is cancelled first.
func (w *wait) pause(ctx context.Context) bool {
	d := min(w.next/2+rand.N(w.next), w.patience-time.Since(w.began))
	w.next = min(2*w.next, time.Minute)
	return sleep(ctx, d)
}

// attached reports whether jobs must not outlive this process. A scheduler that does
// not answer now has jobs elsewhere.
func (m *Machine) attached(ctx context.Context) bool {
	if c := m.lastCapacity.Load(); c != nil {
		return c.Attached
	}
	c, err := m.opt.Scheduler.Capacity(ctx)
	if err != nil {
		return false
	}
	m.lastCapacity.Store(&c)
	return c.Attached
}

// retry repeats f while it says that the scheduler is unavailable.
func (m *Machine) retry(ctx context.Context, f func() error) error {
	w := m.newWait()
	for {
		err := f()
		if err == nil || !errors.Is(err, benchrunner.ErrUnavailable) || w.over() {
			return err
		}
		m.opt.Notice(err)
		if !w.pause(ctx) {
			return ctx.Err()
		}
	}
}

// sleep returns false when ctx is cancelled first.
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

// Cancel ends the jobs that have not ended. Running the campaign again reads what
// they measured.
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

// cancel ends a job and keeps one that nobody knows from starting anything more.
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
