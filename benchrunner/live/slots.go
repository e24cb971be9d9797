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

// slots count the jobs at the scheduler. The zero value has no limit.
type slots struct {
	mu    sync.Mutex
	limit int // zero: none
	used  int
	freed chan struct{} // closed when a slot may have become free
}

func (s *slots) setLimit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = n
	s.wake()
}

// wake is called with the lock held.
func (s *slots) wake() {
	if s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}

// acquire waits for a free slot. After an error none was taken.
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

// take is for a job that is there already.
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

// Doubt is for a machine that has measured nothing yet: its program may be missing, its
// library another one, its folder not seen by the nodes. Jobs go to the scheduler one at
// a time until one has started a program. A job that started none ends Run with an error
// matching benchrunner.ErrNoStart: none of its requests has a trial then, so that they
// are asked for again as if they had never been tried. The machine takes no job
// afterwards; other calls of Run have to be cancelled.
func (m *Machine) RequireFirstStart() { m.needsFirstStart.Store(true) }

// confirmStart ends the doubt.
func (m *Machine) confirmStart() {
	if m.needsFirstStart.CompareAndSwap(true, false) {
		if c := m.lastCapacity.Load(); c != nil {
			m.slots.setLimit(c.Jobs)
		}
	}
}

// jobsAtOnce is the limit of jobs at the scheduler, zero for none.
func (m *Machine) jobsAtOnce(c benchrunner.Capacity) int {
	if m.needsFirstStart.Load() {
		return 1
	}
	return c.Jobs
}

// noStartReason says why no program of a job started, "" when one did, when nothing is
// decided, and when the job was ended by others or never ran.
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
		why += fmt.Sprintf("; first it said: %s", words)
	}
	return why
}
