package live_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

// fullScheduler is a cluster that has no free nodes: its jobs wait until they are cancelled.
type fullScheduler struct {
	benchrunner.Scheduler
	mu        sync.Mutex
	cancelled bool
}

func (s *fullScheduler) Capacity(ctx context.Context) (benchrunner.Capacity, error) {
	c, err := s.Scheduler.Capacity(ctx)
	c.Attached, c.Jobs = false, 1
	return c, err
}

func (s *fullScheduler) Submit(context.Context, benchrunner.Submission) (string, error) {
	return "7", nil
}

func (s *fullScheduler) Find(context.Context, benchrunner.Submission) (string, bool, error) {
	return "7", true, nil
}

func (s *fullScheduler) Status(_ context.Context, jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]benchrunner.Status{}
	for id := range jobs {
		out[id] = benchrunner.Status{Phase: benchrunner.JobWaiting, Reason: "Resources"}
		if s.cancelled {
			out[id] = benchrunner.Status{Phase: benchrunner.JobOver, Outcome: coll.JobCancelled}
		}
	}
	return out, nil
}

func (s *fullScheduler) Cancel(context.Context, string, benchrunner.Submission) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelled = true
	return nil
}

// TestTimeLimitEndsWaiting checks a batch whose jobs do not begin before its time limit. The waiting job must be
// cancelled, the other one must not be submitted, and no candidate may have a trial.
func TestTimeLimitEndsWaiting(t *testing.T) {
	s := &fullScheduler{Scheduler: localScheduler(t)}
	o := options(t, t.TempDir(), s)
	o.JobTime = 40 * time.Second // a job for each layout
	batch := batchOf(at(1, 1, "a"), at(2, 1, "a"))
	batch.Until = time.Now().Add(500 * time.Millisecond)
	log := &memory{}
	err := machine(t, o).Run(t.Context(), batch, log)
	if !errors.Is(err, benchrunner.ErrTimeUp) || !strings.Contains(err.Error(), "1 pending: Resources") && !strings.Contains(err.Error(), "had not begun") {
		t.Errorf("error %v, want the time limit and the reason", err)
	}
	if len(log.trials) != 0 || !s.cancelled {
		t.Errorf("trials %v, cancelled %t", log.trials, s.cancelled)
	}
}

// TestTimeLimitKeepsRunning checks that a job that runs on this machine is measured to its end.
func TestTimeLimitKeepsRunning(t *testing.T) {
	o := options(t, t.TempDir(), localScheduler(t))
	batch := batchOf(at(1, 1, "a"), at(1, 2, "b"))
	batch.Until = time.Now()
	log := &memory{}
	testutil.NoError(t, machine(t, o).Run(t.Context(), batch, log))
	if checkTrials(t, log, 2) != 2 {
		t.Errorf("trials %v", log.trials)
	}
}
