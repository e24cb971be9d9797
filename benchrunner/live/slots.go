package live

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"tutti/benchrunner"
	"tutti/coll"
)

// slots counts the jobs at the scheduler. The zero value has no limit.
type slots struct {
	mu    sync.Mutex
	limit int // zero for none
	used  int
	freed chan struct{} // closed when a slot is released or the limit changes
}

func (s *slots) setLimit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = n
	s.wake()
}

// wake wakes all waiting goroutines. It needs the lock.
func (s *slots) wake() {
	if s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}

// acquire waits for a free slot. It takes none if it returns an error.
func (s *slots) acquire(ctx context.Context) error {
	for ctx.Err() == nil {
		s.mu.Lock()
		if s.limit == 0 || s.used < s.limit {
			s.used++
			s.mu.Unlock()
			return nil
		}
		if s.freed == nil {
			s.freed = make(chan struct{})
		}
		freed := s.freed
		s.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// take counts a job that is already at the scheduler, even if the limit is exceeded.
func (s *slots) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used++
}

func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	s.wake()
}

// RequireFirstStart makes the machine careful until a first program has started. Before
// that, the program or its library may be missing, or the nodes may not see the folder.
// Only one job at a time goes to the scheduler until one has started a program. A job that
// started none ends Run with an error matching benchrunner.ErrNoStart. Its requests have no
// trial and can be requested again. The machine then takes no further job; cancel other
// calls of Run.
func (m *Machine) RequireFirstStart() { m.needsFirstStart.Store(true) }

// confirmStart lifts the one-job limit after the first successful start.
func (m *Machine) confirmStart() {
	if m.needsFirstStart.CompareAndSwap(true, false) {
		if c := m.lastCapacity.Load(); c != nil {
			m.slots.setLimit(c.Jobs)
		}
	}
}

// jobsAtOnce returns the limit of jobs at the scheduler, zero for none.
func (m *Machine) jobsAtOnce(c benchrunner.Capacity) int {
	if m.needsFirstStart.Load() {
		return 1
	}
	return c.Jobs
}

// noStartReason returns why no program of a job started. It returns "" if a program started,
// if no case is decided, or if the job was cancelled, failed with its node or never ran.
func (s jobOutput) noStartReason(outcomes [][]benchrunner.Outcome, r result) string {
	switch {
	case s.ending.status.NeverStarts, r.Outcome == coll.JobCancelled, r.Outcome == coll.JobNodeFail:
		return ""
	}
	first, why := -1, ""
	for i, cases := range outcomes {
		for _, o := range cases {
			switch {
			case o.State == benchrunner.OutcomeFailed && o.Phase == benchrunner.PhaseLaunch:
				why = cmp.Or(why, o.Error)
			case o.State == benchrunner.OutcomeNotReached && r.Outcome == coll.JobLost && !s.launches[i].begun:
				why = cmp.Or(why, s.failure(i, r)+"; do the nodes see its folder?")
			default:
				return ""
			}
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return ""
	}
	if words := tail([]byte(s.launches[first].FirstMessage()), 1); words != "" && !strings.Contains(why, words) {
		why += fmt.Sprintf("; its first message: %s", words)
	}
	return why
}
