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

// TestLimitEndsLaunches checks jobs that run on this machine when a limit is reached. The launch that runs must
// be measured to its end, no other may begin, and a later run must measure what is missing. A batch that begins after the
// limit still has its first launch.
func TestLimitEndsLaunches(t *testing.T) {
	for name, limit := range map[string]func(*benchrunner.Batch){
		"wall time":    func(b *benchrunner.Batch) { b.Until = time.Now().Add(time.Second) },
		"no wall time": func(b *benchrunner.Batch) { b.Until = time.Now() },
		"machine time": func(b *benchrunner.Batch) { b.Budget.MachineSeconds = 1 },
		"node time":    func(b *benchrunner.Batch) { b.Budget.NodeSeconds = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, t.TempDir(), localScheduler(t))
			o.Program = oneCaseProgram(o)
			cases := []coll.Candidate{at(1, 1, "slower"), at(1, 2, "a"), at(1, 3, "a")}
			batch := batchOf(cases...)
			limit(&batch)
			log := &memory{}
			err := machine(t, o).Run(t.Context(), batch, log)
			if !errors.Is(err, benchrunner.ErrTimeUp) || !strings.Contains(err.Error(), "further launches were not begun") || len(log.trials) != 1 {
				t.Errorf("error %v, %d trials, want the time limit and one", err, len(log.trials))
			}
			resume(t, o, batchOf(cases...), log)
			checkDone(t, log, 3, 3)
			checkMeasuredOnce(t, o.Dir, 1, 2, 3)
		})
	}
}
