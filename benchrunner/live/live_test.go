package live_test

import (
	"context"
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

// TestEverythingGoesWrong measures a batch in which every kind of failure occurs. Each request must get one trial,
// and the costs of the trials must add up to the duration of the jobs.
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
		13: "refused: 99x1 needs 99 nodes, a job has at most 8",
	}
	checkDone(t, log, len(b.Requests), 5)
	for _, tr := range log.trials {
		got := strings.ReplaceAll(tr.Phase+": "+tr.Error, "job "+tr.Job+":", "job test-name:")
		if fault := want[tr.MsgBytes]; fault != "" && got != fault {
			t.Errorf("%v: %q, want %q", tr.Candidate, got, fault)
		}
	}
	allocated := 0.0
	for _, j := range log.last() {
		allocated += j.Spent.Allocated()
		if j.Outcome != coll.JobCompleted || j.Environment == nil || len(j.Environment.Program) != 64 || len(j.Environment.Nodes) != 1 || j.Environment.Library != "fake 1.0" && j.Spent.Measure > 0 {
			t.Errorf("job %+v, environment %+v: want it completed on one node", j, j.Environment)
		}
	}
	if allocated < 1 {
		t.Errorf("jobs had nodes for %g s, of which a second hung", allocated)
	}
	checkMeasuredOnce(t, dir, 1, 3, 5, 7, 8)
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
