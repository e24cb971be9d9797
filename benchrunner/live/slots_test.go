package live_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

// TestRequireFirstStart checks that the machine submits only one job if no program starts. Once the cause
// is fixed, a second run measures everything. The costs of its trials include the time of the first job.
func TestRequireFirstStart(t *testing.T) {
	dir := t.TempDir()
	o := options(t, dir, &limitedScheduler{Scheduler: localScheduler(t), accepts: 99, capacity: benchrunner.Capacity{Nodes: 8, PPN: 2}})
	b := batchOf(at(1, 1, "nolaunch"), at(1, 2, "nolaunch"), at(2, 3, "nolaunch"), at(4, 4, "nolaunch"))
	m := machine(t, o)
	m.RequireFirstStart()
	log := &memory{}
	err := m.Run(context.Background(), b, log)
	if !errors.Is(err, benchrunner.ErrNoStart) || !strings.Contains(err.Error(), "exit code 7") || !strings.Contains(err.Error(), "no such fabric") {
		t.Errorf("Run = %v, want %v, the exit code and what the program said", err, benchrunner.ErrNoStart)
	}
	jobs := log.last()
	if len(log.trials) != 0 || len(jobs) != 1 || jobs[0].State != coll.JobEnded || !strings.Contains(err.Error(), jobs[0].NoStartReason) {
		t.Fatalf("trials %+v, jobs %+v: want no trial, and one job that ended without a start", log.trials, jobs)
	}

	program := o.Program.(fakeProgram).path
	testutil.NoError(t, testutil.WriteExecutable(program, strings.Replace(fakeText, "exit 7", ":", 1)))
	b.Jobs = jobs
	m = machine(t, o)
	m.RequireFirstStart()
	log = runBatch(t, m, b)
	log.jobs = append(log.jobs, jobs[0]) // the trials pay for this job as well
	checkDone(t, log, 4, 4)
}

// TestRequireFirstStartEnds checks that a program that cannot be started fails only its own trial, once another
// program has started.
func TestRequireFirstStartEnds(t *testing.T) {
	m := machine(t, options(t, t.TempDir(), localScheduler(t)))
	m.RequireFirstStart()
	log := runBatch(t, m, batchOf(at(1, 1, "a")))
	again := batchOf(at(1, 2, "nolaunch"))
	again.Round = 2
	testutil.NoError(t, m.Run(context.Background(), again, log))
	if done := checkTrials(t, log, 2); done != 1 || !failed(log, "launch", "no such fabric") {
		t.Errorf("trials %+v, want one measured and one that did not start", log.trials)
	}
}

// vanishing is a scheduler whose jobs end with the given outcome and leave no files.
type vanishing struct {
	benchrunner.Scheduler
	outcome coll.JobOutcome
}

func (v vanishing) Submit(context.Context, benchrunner.Submission) (string, error) { return "7", nil }

func (v vanishing) Status(context.Context, map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	return map[string]benchrunner.Status{"7": {Phase: benchrunner.JobOver, Outcome: v.outcome, Reason: "in Slurm's words"}}, nil
}

func (v vanishing) Cancel(context.Context, string, benchrunner.Submission) error { return nil }

// TestRequireFirstStartNoFiles checks that a job without any file counts as a job that started no program,
// because the nodes may not see its folder. This does not apply to jobs that an operator cancelled or that a
// node failure ended.
func TestRequireFirstStartNoFiles(t *testing.T) {
	for outcome, want := range map[coll.JobOutcome]string{
		coll.JobFailed: "failed, in Slurm's words", coll.JobCompleted: "do the nodes see its folder?",
		coll.JobCancelled: "", coll.JobNodeFail: "",
	} {
		t.Run(string(outcome), func(t *testing.T) {
			m := machine(t, options(t, t.TempDir(), vanishing{localScheduler(t), outcome}))
			m.RequireFirstStart()
			log := &memory{}
			err := m.Run(context.Background(), batchOf(at(1, 1, "a"), at(1, 2, "a")), log)
			if want == "" {
				if !errors.Is(err, benchrunner.ErrUnavailable) || len(log.trials) > 0 {
					t.Errorf("Run = %v, trials %+v, want %v and no trial", err, log.trials, benchrunner.ErrUnavailable)
				}
				return
			}
			if !errors.Is(err, benchrunner.ErrNoStart) || !strings.Contains(err.Error(), want) || len(log.trials) > 0 {
				t.Errorf("Run = %v, %d trials, want %v: ... %s", err, len(log.trials), benchrunner.ErrNoStart, want)
			}
		})
	}
}
