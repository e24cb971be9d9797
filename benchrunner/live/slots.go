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

// slots counts the jobs that the scheduler has, and limits how many there are at a time.
type slots struct {
	mu    sync.Mutex
	freed sync.Cond // signals that a slot is released or the limit changes; its lock is mu
	limit int       // zero for none
	used  int
}

func (s *slots) setLimit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = n
	s.freed.Broadcast()
}

// acquire waits until the scheduler can take another job, and counts this job. If ctx ends first, it returns an error
// and does not count the job.
func (s *slots) acquire(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.freed.Broadcast()
	})
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for ctx.Err() == nil && s.limit > 0 && s.used >= s.limit {
		s.freed.Wait()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.used++
	return nil
}

// take counts a job that the scheduler already has, even if this exceeds the limit.
func (s *slots) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used++
}

func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	s.freed.Broadcast()
}

// RequireFirstStart limits the machine to one job at a time until a program has started for the first time.
// Before that, the program or its library may be missing, or the nodes may not see the folder.
//
// If a job starts no program, Run returns an error matching benchrunner.ErrNoStart. The requests of this job
// have no trial and can be requested again. The machine then takes no further job. The caller should cancel
// its other calls of Run.
func (m *Machine) RequireFirstStart() { m.needsFirstStart.Store(true) }

func (m *Machine) confirmStart() {
	if m.needsFirstStart.CompareAndSwap(true, false) {
		if c := m.lastCapacity.Load(); c != nil {
			m.slots.setLimit(c.Jobs)
		}
	}
}

func (m *Machine) jobsAtOnce(c benchrunner.Capacity) int {
	if m.needsFirstStart.Load() {
		return 1
	}
	return c.Jobs
}

// noStartReason returns why a job started no program: all its cases failed at the launch, the program is missing, the
// launcher failed, or the job broke before it launched a case. It returns "" if a program may have started. It also returns "" if the job
// was cancelled, lost a node or never ran.
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
			case o.State == benchrunner.OutcomeNotReached && (o.Cause == benchrunner.NoProgram || o.Cause == benchrunner.LauncherFailed):
				why = cmp.Or(why, o.Error)
			case o.State == benchrunner.OutcomeNotReached && r.Outcome == coll.JobLost && !s.launches[i].begun:
				why = cmp.Or(why, s.failure(i, r)+"; do the nodes see its folder?")
			case o.State == benchrunner.OutcomeNotReached && r.Outcome != coll.JobCompleted && s.last() == nil:
				why = cmp.Or(why, s.failure(i, r))
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
	why = strings.TrimPrefix(why, "job "+s.job.Name+": ") // the error names the job
	if words := tail([]byte(s.launches[first].first), 1); words != "" && !strings.Contains(why, words) {
		why += fmt.Sprintf("; its first message: %s", words)
	}
	return why
}
