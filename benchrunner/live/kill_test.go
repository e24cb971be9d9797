package live_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
)

var errKilled = errors.New("killed")

// life ends before or after the step that is counted down to; nothing has an
// effect from then on.
type life struct {
	mu    sync.Mutex
	steps int // until death, negative: for ever
	after bool
	dead  bool
}

func (l *life) step(do func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return errKilled
	}
	l.steps--
	if l.dead = l.steps == 0; l.dead {
		if l.after {
			_ = do() // nobody hears of it
		}
		return errKilled
	}
	return do()
}

// alive is for calls that are not counted: how many there are is a matter of time.
func (l *life) alive() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.dead
}

type mortalLog struct {
	*memory
	life *life
}

func (m mortalLog) Job(j coll.Job) error { return m.life.step(func() error { return m.memory.Job(j) }) }
func (m mortalLog) Trial(t coll.Trial) error {
	return m.life.step(func() error { return m.memory.Trial(t) })
}

type mortalScheduler struct {
	benchrunner.Scheduler
	life *life
}

func (m mortalScheduler) Capacity(ctx context.Context) (c benchrunner.Capacity, err error) {
	err = m.life.step(func() error { c, err = m.Scheduler.Capacity(ctx); return err })
	return c, err
}

func (m mortalScheduler) Submit(ctx context.Context, s benchrunner.Submission) (id string, err error) {
	err = m.life.step(func() error { id, err = m.Scheduler.Submit(ctx, s); return err })
	return id, err
}

func (m mortalScheduler) Find(ctx context.Context, s benchrunner.Submission) (id string, found bool, err error) {
	err = m.life.step(func() error { id, found, err = m.Scheduler.Find(ctx, s); return err })
	return id, found, err
}

func (m mortalScheduler) Status(ctx context.Context, jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	if !m.life.alive() {
		return nil, errKilled
	}
	return m.Scheduler.Status(ctx, jobs)
}

func (m mortalScheduler) Cancel(ctx context.Context, id string, s benchrunner.Submission) error {
	if !m.life.alive() {
		return errKilled
	}
	return m.Scheduler.Cancel(ctx, id, s)
}

// again is the batch as a campaign asks for it after log was read back.
func again(b benchrunner.Batch, log *memory) benchrunner.Batch {
	b.Requests = slices.Clone(b.Requests)
	b.Jobs = log.last()
	for i := range b.Requests {
		b.Requests[i].Ended = slices.ContainsFunc(log.trials, func(t coll.Trial) bool { return t.Candidate == b.Requests[i].Candidate })
	}
	return b
}

// Killed before or after any step, and once more at any step of the second life: in
// the end each request has one trial, each case was measured once, and each job went
// through its states in order.
func TestKilledAtEveryStep(t *testing.T) {
	for _, after := range []bool{false, true} {
		for steps := 1; ; steps++ {
			dir := t.TempDir()
			b := batchOf(at(1, 1, "a"), at(1, 2, "crash"), at(1, 3, "a"), at(2, 4, "a"))
			log := &memory{}
			finished := false
			for lives, n := 0, steps; !finished; lives++ {
				l := &life{steps: n, after: after}
				m := machine(t, options(t, dir, mortalScheduler{localScheduler(t), l}))
				err := m.Run(context.Background(), again(b, log), mortalLog{log, l})
				if finished = err == nil; !finished && !errors.Is(err, errKilled) {
					t.Fatalf("killed at step %d (after it: %t), life %d: %v", steps, after, lives, err)
				}
				if finished && lives == 0 {
					if steps < 12 {
						t.Errorf("a batch has %d steps, want more", steps)
					}
					goto next
				}
				n = 3 + lives // a later life always gets further in the end
			}
			t.Run(fmt.Sprintf("%d/%t", steps, after), func(t *testing.T) {
				if done := checkTrials(t, log, 4); done != 3 {
					t.Errorf("%d measured, want 3: %+v", done, log.trials)
				}
				ledger(t, dir, 1, 3, 4)
				checkOrder(t, log.jobs)
			})
		}
	next:
	}
}

// checkOrder checks that no job goes back, skips its intention or ends twice.
func checkOrder(t *testing.T, jobs []coll.Job) {
	t.Helper()
	state := map[string]coll.JobState{}
	for _, j := range jobs {
		from, to := state[j.Name], j.State
		state[j.Name] = to
		switch {
		case from == "" && to == coll.JobIntended:
		case from == coll.JobIntended && to == coll.JobSubmitted:
		case from == coll.JobSubmitted && to == coll.JobEnded:
		default:
			t.Errorf("job %s goes from %q to %q", j.Name, from, to)
		}
	}
}
