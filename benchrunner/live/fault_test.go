package live_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/runnertest"
)

// TestSuiteWithFaults runs the tests that all runners share while the scheduler has faults. The runner must recover
// from each of these faults.
func TestSuiteWithFaults(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if seed > 0 {
				testutil.NeedAllCases(t)
			}
			runnertest.Run(t, runnertest.Case{
				New: func(t *testing.T) benchrunner.Runner {
					return machine(t, options(t, t.TempDir(), faulty(t, seed, 0.9, 60*time.Millisecond, submitFails, submitLost, statusOmitted, jobRequeued, outputLate)))
				},
				Good: []coll.Candidate{at(1, 1, "slow"), at(1, 2, "a"), at(2, 3, "b"), at(2, 4, "b")},
				Bad:  at(1, 9, "crash"),
			})
		})
	}
}

// endings has, for each fault that ends jobs early, the outcome that these jobs must have.
var endings = map[fault]coll.JobOutcome{
	jobCancelled: coll.JobCancelled, nodeFailure: coll.JobNodeFail, jobLost: coll.JobLost,
	outOfTime: coll.JobTimeout, outOfMemory: coll.JobOutOfMemory,
}

// costly lists the faults that leave cases unmeasured if they affect every job.
var costly = []fault{
	outputMissing, outputTruncated, outputInterleaved, outputPrefixed,
	jobCancelled, nodeFailure, outOfTime, outOfMemory, jobLost,
}

// external lists the faults of the machine. If they affect every job, Run may leave cases to a later run, but no case may
// fail.
var external = []fault{jobCancelled, nodeFailure, jobLost, outputMissing, outputTruncated}

// limits lists the faults of jobs that use up their time or memory, also before a program has started.
var limits = []fault{outOfTime, outOfMemory}

// TestEachFault checks batches in which one kind of fault affects every job. Unless the machine interrupts the run, each
// request must get one trial, and the costs of the trials must add up to the duration of the jobs. A case whose output
// is damaged must not be measured again.
func TestEachFault(t *testing.T) {
	for i, kind := range faultKinds {
		if !testutil.AllCases() && testing.Short() != (i%3 == 0) {
			continue // the race detector runs every third fault, other runs the rest
		}
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			o := options(t, dir, faulty(t, 1, 1, 250*time.Millisecond, kind))
			if kind == outputLate {
				o.Settle = time.Minute // the output arrives late, and later still on a busy machine
			}
			cases := []coll.Candidate{at(1, 1, "a"), at(1, 2, "slower"), at(2, 3, "a"), at(1, 4, "a"), at(2, 5, "slower"), at(1, 6, "slower"), at(1, 7, "a")}
			if !testutil.AllCases() {
				cases = cases[:4]
			}
			log := &memory{}
			if err := machine(t, o).Run(t.Context(), batchOf(cases...), log); errors.Is(err, benchrunner.ErrUnavailable) && slices.Contains(slices.Concat(external, limits), kind) {
				if len(log.trials) == len(cases) {
					t.Errorf("Run = %v, but each request has a trial", err)
				}
				for _, tr := range log.trials {
					if tr.State == coll.TrialFailed && slices.Contains(external, kind) {
						t.Errorf("%v failed because of %s: %s", tr.Candidate, kind, tr.Error)
					}
				}
				return
			} else if err != nil {
				t.Fatal(err)
			}
			done := checkTrials(t, log, len(cases))
			if !slices.Contains(costly, kind) && done != len(cases) {
				t.Errorf("%d of %d cases measured, want all: %+v", done, len(cases), log.trials)
			}
			if kind == submitLost {
				for _, c := range cases {
					checkMeasuredOnce(t, dir, int(c.MsgBytes))
				}
			}
			outcomes := map[coll.JobOutcome]int{}
			for _, j := range log.last() {
				outcomes[j.Outcome]++
			}
			if o, ok := endings[kind]; ok && outcomes[o] == 0 {
				t.Errorf("jobs ended %v, want some %s", outcomes, o)
			}
		})
	}
}

// checkTrials checks that each request has one trial, and that the costs of the trials add up to the
// duration of the jobs. It returns the number of measured cases.
func checkTrials(t *testing.T, log *memory, requests int) (done int) {
	t.Helper()
	tried := map[coll.Candidate]bool{}
	costs, allocated := 0.0, 0.0
	for _, tr := range log.trials {
		if tried[tr.Candidate] {
			t.Errorf("%v has two trials", tr.Candidate)
		}
		tried[tr.Candidate] = true
		costs += tr.CostSeconds
		if tr.State == coll.TrialDone {
			done++
			if want := float64(microseconds(tr.Candidate)) * 1e-6; tr.Seconds != want {
				t.Errorf("%v took %g s, want %g", tr.Candidate, tr.Seconds, want)
			}
		} else if tr.Phase == "" || tr.Error == "" {
			t.Errorf("%v failed without a reason: %+v", tr.Candidate, tr)
		}
	}
	if len(tried) != requests {
		t.Errorf("%d requests have a trial, want %d", len(tried), requests)
	}
	for _, j := range log.last() {
		allocated += j.Spent.Allocated()
		if j.State != coll.JobEnded || j.Outcome == "" {
			t.Errorf("job %s is %s, outcome %q: want it ended", j.Name, j.State, j.Outcome)
		}
	}
	if math.Abs(costs-allocated) > 1e-9 {
		t.Errorf("trials cost %.9f s, jobs had nodes for %.9f s", costs, allocated)
	}
	return done
}

// checkDone calls checkTrials and also checks the number of measured cases.
func checkDone(t *testing.T, log *memory, requests, want int) {
	t.Helper()
	if done := checkTrials(t, log, requests); done != want {
		t.Errorf("%d of %d measured, want %d: %s", done, requests, want, trialsText(log))
	}
}

// TestDoubledSubmission checks two jobs with the same name. Only one of them may measure, and the runner must
// wait for this job.
func TestDoubledSubmission(t *testing.T) {
	dir := t.TempDir()
	s := &doubler{Scheduler: faulty(t, 0, 0, 0)}
	log := runBatch(t, machine(t, options(t, dir, s)), batchOf(at(1, 1, "slow"), at(1, 2, "slow"), at(1, 3, "a")))
	checkDone(t, log, 3, 3)
	checkMeasuredOnce(t, dir, 1, 2, 3)
	if j := log.last()[0]; j.ID != "1" {
		t.Errorf("job %+v, want the ID of the first submission", j)
	}
	waitFor(t, filepath.Join(dir, "jobs", "*", "fault-2", "local.log"), "job 2 measures nothing")
	checkMeasuredOnce(t, dir, 1, 2, 3)
}

// doubler submits each job twice and returns the ID of the second submission. Its Cancel does nothing.
type doubler struct{ benchrunner.Scheduler }

func (d *doubler) Submit(ctx context.Context, s benchrunner.Submission) (string, error) {
	if _, err := d.Scheduler.Submit(ctx, s); err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(s.Dir, "claim")); err == nil {
			return d.Scheduler.Submit(ctx, s)
		}
		time.Sleep(time.Millisecond)
	}
}

func (d *doubler) Cancel(context.Context, string, benchrunner.Submission) error { return nil }
