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
	"tutti/internal/testutil"
)

var errKilled = errors.New("killed")

// life simulates one run of tutti that is killed before or after a given step. Later steps do nothing and
// return errKilled.
type life struct {
	mu    sync.Mutex
	steps int // steps until the kill; negative: never killed
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
			_ = do() // the killed process gets no answer
		}
		return errKilled
	}
	return do()
}

// alive returns false after the simulated kill. A use of it is no step. It is for calls that happen a random number
// of times, so that the number of steps is always the same.
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

// resumedBatch returns the batch as a resumed campaign passes it. It has the jobs of the log, and requests with
// a trial are marked as ended.
func resumedBatch(b benchrunner.Batch, log *memory) benchrunner.Batch {
	b.Requests = slices.Clone(b.Requests)
	b.Jobs = log.last()
	for i := range b.Requests {
		b.Requests[i].Ended = slices.ContainsFunc(log.trials, func(t coll.Trial) bool { return t.Candidate == b.Requests[i].Candidate })
	}
	return b
}

// TestKilledAtEveryStep kills tutti before or after each step, and again in each resumed run. Each request
// must have one trial, each case must be measured once, and no job may skip a state.
func TestKilledAtEveryStep(t *testing.T) {
	testutil.SkipShort(t)
	t.Parallel() // the test mostly waits for jobs
	ways, stride := []bool{false, true}, 1
	if testing.Short() || !testutil.AllCases() {
		ways, stride = ways[1:], 8
	}
	for _, after := range ways {
		for steps, killed := 1, true; killed; steps += stride {
			t.Run(fmt.Sprintf("%d/%t", steps, after), func(t *testing.T) {
				dir := t.TempDir()
				log := &memory{}
				lives := runThroughKills(t, dir, log, steps, after)
				if killed = lives > 1; !killed && steps < 12 {
					t.Errorf("a batch has %d steps, want more", steps)
				}
				if done := checkTrials(t, log, 4); done != 3 {
					t.Errorf("%d measured, want 3: %s", done, trialsText(log))
				}
				checkMeasuredOnce(t, dir, 1, 3, 4)
				checkOrder(t, log.jobs)
			})
		}
	}
}

// runThroughKills runs a batch until it completes, although each run is killed after some steps. It returns
// the number of runs. The first run is killed after the given number of steps. Each later run has one step
// more than the run before.
func runThroughKills(t *testing.T, dir string, log *memory, steps int, after bool) (lives int) {
	b := batchOf(at(1, 1, "a"), at(1, 2, "crash"), at(1, 3, "a"), at(2, 4, "a"))
	for {
		l := &life{steps: steps, after: after}
		m := machine(t, options(t, dir, mortalScheduler{localScheduler(t), l}))
		err := m.Run(context.Background(), resumedBatch(b, log), mortalLog{log, l})
		lives++
		if err == nil {
			return lives
		}
		if !errors.Is(err, errKilled) {
			t.Fatalf("life %d: %v", lives, err)
		}
		steps = 2 + lives
	}
}

// checkOrder checks that each job has the states intended, submitted and ended in this order, each of them
// once.
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
