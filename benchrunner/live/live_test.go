package live_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/runnertest"
)

func TestSuite(t *testing.T) {
	runnertest.Run(t, runnertest.Case{
		New: func(t *testing.T) benchrunner.Runner {
			return machine(t, options(t, t.TempDir(), localScheduler(t)))
		},
		Good: []coll.Candidate{at(1, 1, "a"), at(1, 2, "a"), at(2, 3, "b"), at(2, 4, "b")},
		Bad:  at(1, 9, "crash"),
	})
}

// memory is a benchrunner.Log that keeps its records in memory.
type memory struct {
	jobs   []coll.Job // every record, in order
	trials []coll.Trial
}

func (m *memory) Job(j coll.Job) error {
	m.jobs = append(m.jobs, j)
	return j.Validate()
}

func (m *memory) Trial(t coll.Trial) error {
	m.trials = append(m.trials, t)
	return nil
}

// last returns the latest record of each job.
func (m *memory) last() []coll.Job {
	var out []coll.Job
	for _, j := range m.jobs {
		known := false
		for i := range out {
			if out[i].Name == j.Name {
				out[i], known = j, true
			}
		}
		if !known {
			out = append(out, j)
		}
	}
	return out
}

func batchOf(cands ...coll.Candidate) benchrunner.Batch {
	b := benchrunner.Batch{Label: "mpich-bcast", Round: 1}
	for _, c := range cands {
		b.Requests = append(b.Requests, benchrunner.Request{Candidate: c, Attempt: 1})
	}
	return b
}

func runBatch(t *testing.T, m *live.Machine, b benchrunner.Batch) *memory {
	t.Helper()
	log := &memory{}
	testutil.NoError(t, m.Run(context.Background(), b, log))
	return log
}

// TestEverythingGoesWrong measures a batch in which every kind of failure occurs. Each request gets one
// trial, and the costs of the trials add up to the time of the jobs.
func TestEverythingGoesWrong(t *testing.T) {
	dir := t.TempDir()
	o := options(t, dir, localScheduler(t))
	b := batchOf(
		at(1, 1, "a"), at(1, 2, "hang"), at(1, 3, "a"), at(1, 4, "crash"), at(1, 5, "a"), at(1, 6, "half"), at(1, 7, "a"), at(1, 8, "a"),
		at(2, 9, "nolaunch"), at(2, 10, "impossible"), at(2, 11, "unknown"), at(2, 12, "a"), at(99, 13, "a"),
	)
	log := runBatch(t, machine(t, o), b)
	want := map[int64]string{
		2: "run: hung", 4: "run: exit 139", 6: "parse: half a line",
		9:  "launch: job test-name: completed; the program ended with exit code 7 before it measured anything; # started in 1 | no such fabric",
		10: "launch: bcast 2x1 10B impossible cannot be asked for",
		11: "launch: bcast 2x1 11B unknown: the library does not have it",
		13: "launch: 99x1 needs 99 nodes, a job has at most 8",
	}
	costs := 0.0
	tried := map[int64]bool{}
	for _, tr := range log.trials {
		if tried[tr.MsgBytes] {
			t.Errorf("%v has two trials", tr.Candidate)
		}
		tried[tr.MsgBytes] = true
		costs += tr.CostSeconds
		if tr.MsgBytes == 12 {
			continue // shares the launch of case 9, which fails as a whole
		}
		if got := trialFault(tr); got != want[tr.MsgBytes] {
			t.Errorf("%v: %q, want %q", tr.Candidate, got, want[tr.MsgBytes])
		}
	}
	if len(tried) != len(b.Requests) {
		t.Errorf("%d requests have a trial, want %d", len(tried), len(b.Requests))
	}
	allocated := 0.0
	for _, j := range log.last() {
		allocated += j.Spent.Allocated()
		if j.State != coll.JobEnded || j.Outcome != coll.JobCompleted || j.Environment == nil || len(j.Environment.Nodes) != 1 || j.Environment.Library != "fake 1.0" && j.Spent.Measure > 0 {
			t.Errorf("job %+v, environment %+v: want it ended, completed, on one node", j, j.Environment)
		}
	}
	if math.Abs(costs-allocated) > 1e-9 || allocated < 1 {
		t.Errorf("trials cost %g s, jobs had nodes for %g s (a second of it hung)", costs, allocated)
	}
	checkMeasuredOnce(t, dir, 1, 3, 5, 7, 8)
}

// trialFault returns why a trial failed, or how its time differs from the expected one. It returns
// "" for a correct trial.
func trialFault(tr coll.Trial) string {
	switch want := float64(microseconds(tr.Candidate)) * 1e-6; {
	case tr.State == coll.TrialFailed:
		return tr.Phase + ": " + strings.ReplaceAll(tr.Error, "job "+tr.Job+":", "job test-name:")
	case tr.Seconds != want:
		return fmt.Sprintf("took %g s, want %g", tr.Seconds, want)
	}
	return ""
}

// checkMeasuredOnce checks that each of the given cases was measured once.
func checkMeasuredOnce(t *testing.T, dir string, want ...int) {
	t.Helper()
	text := testutil.Must(os.ReadFile(filepath.Join(dir, "ledger")))(t)
	for _, n := range want {
		if got := strings.Count(string(text), " "+itoa(n)+"\n"); got != 1 {
			t.Errorf("case %d was measured %d times, want once", n, got)
		}
	}
}
