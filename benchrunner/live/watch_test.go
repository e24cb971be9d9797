package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

type statusScheduler struct {
	benchrunner.Scheduler
	mu     sync.Mutex
	asked  []time.Time
	answer func(jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error)
}

func (o *statusScheduler) Status(_ context.Context, jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, time.Now())
	return o.answer(jobs)
}

func statusOfAll(jobs map[string]benchrunner.Submission, status benchrunner.Status) map[string]benchrunner.Status {
	out := map[string]benchrunner.Status{}
	for id := range jobs {
		out[id] = status
	}
	return out
}

func waiting(jobs map[string]benchrunner.Submission) map[string]benchrunner.Status {
	return statusOfAll(jobs, benchrunner.Status{Phase: benchrunner.JobWaiting})
}

var poll = Poll{Min: 10 * time.Millisecond, Max: 30 * time.Second}

// TestThousandJobsWait watches a thousand waiting jobs. It checks that at most one status request is sent in
// five seconds, even if jobs change often. The end of a job must be noticed.
func TestThousandJobsWait(t *testing.T) {
	testutil.SkipShort(t)
	for lasts, busy := range map[time.Duration]bool{30 * time.Minute: false, 3 * time.Minute: true} {
		t.Run(fmt.Sprintf("busy %t", busy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				o := &statusScheduler{}
				o.answer = func(jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
					if time.Since(began) > lasts {
						return statusOfAll(jobs, benchrunner.Status{Phase: benchrunner.JobOver, Outcome: coll.JobTimeout}), nil
					}
					out := waiting(jobs)
					if busy && len(o.asked)%2 == 1 { // one job changes with every second answer
						for id := range out {
							out[id] = benchrunner.Status{Phase: benchrunner.JobRunning}
							break
						}
					}
					return out, nil
				}
				w := newWatcher(o, poll, time.Minute, time.Hour, func(error) {})
				none := filepath.Join(t.TempDir(), "none")
				var group sync.WaitGroup
				for i := range 1000 {
					group.Go(func() {
						e, err := w.watch(t.Context(), fmt.Sprint(i), benchrunner.Submission{Dir: none})
						if err != nil || e.status.Outcome != coll.JobTimeout {
							t.Errorf("watch = %+v, %v, want a time-out", e, err)
						}
					})
				}
				group.Wait()
				if late := time.Since(began) - lasts; late > 40*time.Second {
					t.Errorf("the end was noticed after %v", late)
				}
				checkRequests(t, o.asked, began, lasts)
			})
		})
	}
}

func checkRequests(t *testing.T, asked []time.Time, began time.Time, lasts time.Duration) {
	t.Helper()
	if first := asked[0].Sub(began); first > 2*time.Second {
		t.Errorf("the first question came after %v", first)
	}
	if most := int(lasts/askPeriod) + 10; len(asked) > most {
		t.Errorf("%d questions in %v, want at most %d", len(asked), lasts, most)
	}
	for i := 1; i < len(asked); i++ {
		if gap := asked[i].Sub(asked[i-1]); gap < askPeriod-time.Microsecond {
			t.Fatalf("question %d came %v after the one before", i+1, gap)
		}
	}
	t.Logf("%d questions in %v", len(asked), lasts)
}

// TestEndFileIsNoticed checks that the watcher notices an end file without a status request, within a fiftieth
// of the job's duration. It must also notice the end of a job that the scheduler last reported as waiting.
func TestEndFileIsNoticed(t *testing.T) {
	for _, tc := range []struct {
		lasts, late time.Duration
		hangs, away bool // the scheduler hangs, or is away, after its first answer
	}{
		{lasts: 100 * time.Millisecond, late: 100*time.Millisecond/40 + 2*poll.Min},
		{lasts: 10 * time.Second, late: 10*time.Second/40 + 2*poll.Min},
		{lasts: 10 * time.Minute, late: 10*time.Minute/40 + 2*poll.Min},
		{lasts: time.Minute, late: 5 * time.Second, away: true},
		{lasts: time.Minute, late: 5 * time.Second, hangs: true},
	} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			over := make(chan struct{})
			o := &statusScheduler{}
			o.answer = func(jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
				switch {
				case !tc.hangs && !tc.away:
					return statusOfAll(jobs, benchrunner.Status{Phase: benchrunner.JobRunning}), nil
				case len(o.asked) == 1:
					return waiting(jobs), nil
				case tc.hangs:
					<-over
				}
				return nil, fmt.Errorf("connection refused: %w", benchrunner.ErrUnavailable)
			}
			go func() {
				time.Sleep(tc.lasts)
				if err := os.WriteFile(filepath.Join(dir, "end"), nil, 0o666); err != nil {
					t.Error(err)
				}
			}()
			w := newWatcher(o, poll, time.Minute, time.Hour, func(error) {})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
			defer cancel()
			began := time.Now()
			v, err := w.watch(ctx, "1", benchrunner.Submission{Dir: dir})
			if took := time.Since(began); err != nil || !v.byFile || took > tc.lasts+tc.late {
				t.Errorf("%+v: %+v, %v after %v", tc, v, err, took)
			}
			close(over)
		})
	}
}

// TestLostJobs checks that a job counts as lost only after several answers without this job. It also checks
// that the watcher waits for a scheduler that is unavailable for a minute, but not for a day.
func TestLostJobs(t *testing.T) {
	for _, tc := range []struct {
		name    string
		unknown int           // number of first answers that omit the job
		partly  bool          // these answers come with an error
		away    time.Duration // how long the scheduler is unavailable
		lost    bool
		wantErr error
	}{
		{name: "omitted twice", unknown: 2},
		{name: "always omitted", unknown: 1 << 30, lost: true},
		{name: "omitted by a part of the scheduler", unknown: 10, partly: true},
		{name: "always omitted by a part of the scheduler", unknown: 1 << 30, partly: true, lost: true},
		{name: "away for a minute", away: time.Minute},
		{name: "away for a day", away: 24 * time.Hour, wantErr: benchrunner.ErrUnavailable},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			o := &statusScheduler{}
			o.answer = func(map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
				switch {
				case time.Since(began) < tc.away:
					return nil, fmt.Errorf("connection refused: %w", benchrunner.ErrUnavailable)
				case len(o.asked) <= tc.unknown && tc.partly:
					return map[string]benchrunner.Status{}, fmt.Errorf("no accounts: %w", benchrunner.ErrUnavailable)
				case len(o.asked) <= tc.unknown:
					return nil, nil
				}
				return map[string]benchrunner.Status{"1": {Phase: benchrunner.JobOver, Outcome: coll.JobCompleted}}, nil
			}
			notices := 0
			w := newWatcher(o, poll, 30*time.Second, patience, func(error) { notices++ })
			v, err := w.watch(t.Context(), "1", benchrunner.Submission{Dir: t.TempDir()})
			if lost := v.status.Outcome == coll.JobLost; !errors.Is(err, tc.wantErr) || lost != tc.lost || lost && time.Since(began) < 30*time.Second {
				t.Errorf("%s: %+v, %v after %v", tc.name, v, err, time.Since(began))
			}
			if (notices > 0) != (tc.away > 0 || tc.partly) {
				t.Errorf("%s: %d notices", tc.name, notices)
			}
		})
	}
}

type upAndDown struct {
	benchrunner.Scheduler
	nodes func() int
}

func (u upAndDown) Capacity(context.Context) (benchrunner.Capacity, error) {
	return benchrunner.Capacity{Nodes: u.nodes()}, nil
}

// TestNodesComeBack checks that a job waits for nodes that are down. If these nodes remain down, later jobs
// do not wait for them again.
func TestNodesComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		notices := 0
		m := &Machine{opt: Options{Poll: poll, Notice: func(error) { notices++ }}, patience: patience}
		m.opt.Scheduler = upAndDown{nodes: func() int {
			switch at := time.Since(began); {
			case at < time.Minute, at >= 5*time.Minute && at < time.Hour:
				return 4
			}
			return 2
		}}
		ask := func(nodes, want int, atLeast, atMost time.Duration) {
			t.Helper()
			asked := time.Now()
			c, err := m.capacityFor(t.Context(), nodes)
			if took := time.Since(asked); err != nil || c.Nodes != want || took < atLeast || took > atMost {
				t.Errorf("%v on, %d nodes wanted: %d, %v after %v; want %d after %v to %v", asked.Sub(began), nodes, c.Nodes, err, took, want, atLeast, atMost)
			}
		}
		ask(8, 4, 0, 0) // the machine never had more nodes
		ask(2, 4, 0, 0)
		time.Sleep(2 * time.Minute)
		ask(2, 2, 0, 0)
		ask(4, 4, 3*time.Minute, 5*time.Minute)
		time.Sleep(time.Hour)
		ask(4, 2, patience-2*time.Minute, patience)
		ask(4, 2, 0, 0)
		if notices < 10 {
			t.Errorf("%d notices while waiting for nodes, want at least 10", notices)
		}
	})
}

// TestPendingReasons checks that the watcher reports why jobs are pending, and that a held job waits until it is
// released.
func TestPendingReasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		o := &statusScheduler{answer: func(map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
			if time.Since(began) < time.Hour {
				return map[string]benchrunner.Status{"1": {Phase: benchrunner.JobWaiting, Reason: "JobHeldAdmin"}}, nil
			}
			return map[string]benchrunner.Status{"1": {Phase: benchrunner.JobOver, Outcome: coll.JobCompleted}}, nil
		}}
		said := map[string]int{}
		w := newWatcher(o, poll, 30*time.Second, patience, func(err error) { said[err.Error()]++ })
		e, err := w.watch(t.Context(), "1", benchrunner.Submission{Dir: t.TempDir()})
		if err != nil || e.status.Outcome != coll.JobCompleted || said["1 pending: JobHeldAdmin"] == 0 || len(said) != 1 {
			t.Errorf("%+v, %v, notices %v: want it completed after an hour, and why it was pending", e, err, said)
		}
	})
}
