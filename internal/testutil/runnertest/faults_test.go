package runnertest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/local"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/runnertest"
)

func faultyScheduler(t testing.TB, opt runnertest.FaultOptions) *runnertest.FaultyScheduler {
	t.Helper()
	inner := testutil.Must(local.New(local.Options{}))(t)
	s := testutil.Must(runnertest.NewFaultyScheduler(inner, opt))(t)
	return s
}

func submission(t *testing.T, lines string) benchrunner.Submission {
	t.Helper()
	s := benchrunner.Submission{Name: "job", Dir: t.TempDir(), Limit: time.Minute}
	s.Script = filepath.Join(s.Dir, "job.sh")
	testutil.NoError(t, os.WriteFile(s.Script, []byte("cd '"+s.Dir+"'\n"+lines+"\n"), 0o666))
	return s
}

func TestFaultRate(t *testing.T) {
	s := faultyScheduler(t, runnertest.FaultOptions{Seed: 7, Rate: 0.5, Kinds: runnertest.FaultKinds()})
	counts := map[runnertest.Fault]int{}
	for i := range 2400 {
		name := fmt.Sprint("job-", i)
		k := s.FaultOf(name)
		counts[k]++
		if second := s.FaultOf(name); second != k {
			t.Errorf("%s: %q, then %q", name, k, second)
		}
	}
	if n := counts[""]; n < 1100 || n > 1300 {
		t.Errorf("%d of 2400 jobs have no fault, want 1100 to 1300", n)
	}
	for _, k := range runnertest.FaultKinds() {
		if n := counts[k]; n < 60 || n > 140 {
			t.Errorf("%d jobs have the fault %s, want 60 to 140", n, k)
		}
	}
}

func TestFaultOptionsInvalid(t *testing.T) {
	for _, opt := range []runnertest.FaultOptions{{Rate: 2}, {Rate: 0.5}, {Kinds: []runnertest.Fault{"fire"}}} {
		if _, err := runnertest.NewFaultyScheduler(nil, opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
}

// TestFaultyIDs checks that no two jobs in one folder get the same ID, although each process numbers its
// jobs from 1.
func TestFaultyIDs(t *testing.T) {
	ctx := context.Background()
	sub := submission(t, "true")
	for _, want := range []string{"1", "2"} {
		s := faultyScheduler(t, runnertest.FaultOptions{})
		id, err := s.Submit(ctx, sub)
		if err != nil || id != want {
			t.Errorf("Submit = %s, %v, want %s", id, err, want)
		}
		for st := (benchrunner.Status{}); st.Phase != benchrunner.JobOver; time.Sleep(time.Millisecond) {
			answer := testutil.Must(s.Status(ctx, map[string]benchrunner.Submission{id: sub}))(t)
			st = answer[id]
		}
	}
}

// TestFaults checks that each fault leads to the expected outcome of the job.
func TestFaults(t *testing.T) {
	ctx := context.Background()
	for _, tc := range []struct {
		kind    runnertest.Fault
		want    coll.JobOutcome // "" for a job that the scheduler has forgotten
		first   error           // of Submit
		answers int             // of Status that omit the job
	}{
		{kind: runnertest.JobCancelled, want: coll.JobCancelled},
		{kind: runnertest.NodeFailure, want: coll.JobNodeFail},
		{kind: runnertest.OutOfTime, want: coll.JobTimeout},
		{kind: runnertest.OutOfMemory, want: coll.JobOutOfMemory},
		{kind: runnertest.JobLost, answers: 3},
		{kind: runnertest.JobRequeued, want: coll.JobCompleted},
		{kind: runnertest.StatusOmitted, want: coll.JobCompleted, answers: 2},
		{kind: runnertest.SubmitFails, want: coll.JobCompleted, first: benchrunner.ErrUnavailable},
		{kind: runnertest.SubmitLost, want: coll.JobCompleted, first: benchrunner.ErrUnavailable},
	} {
		t.Run(string(tc.kind), func(t *testing.T) {
			t.Parallel()
			s := faultyScheduler(t, runnertest.FaultOptions{Seed: 1, Rate: 1, Kinds: []runnertest.Fault{tc.kind}, Within: 100 * time.Millisecond})
			sub := submission(t, "echo $TUTTI_JOB_ID $TUTTI_RESTART_COUNT >>runs; sleep 0.5")
			id, err := s.Submit(ctx, sub)
			if !errors.Is(err, tc.first) {
				t.Fatalf("Submit = %v, want %v", err, tc.first)
			}
			if err != nil {
				var found bool
				if id, found, err = s.Find(ctx, sub); err != nil || found != (tc.kind == runnertest.SubmitLost) {
					t.Fatalf("Find = %q, %t, %v", id, found, err)
				}
				if !found {
					if id, err = s.Submit(ctx, sub); err != nil {
						t.Fatal(err)
					}
				}
			}
			time.Sleep(110 * time.Millisecond) // the fault has occurred
			omitted := 0
			var st benchrunner.Status
			for began := time.Now(); st.Phase != benchrunner.JobOver && time.Since(began) < testutil.HangTimeout; time.Sleep(5 * time.Millisecond) {
				answer := testutil.Must(s.Status(ctx, map[string]benchrunner.Submission{id: sub}))(t)
				known := false
				if st, known = answer[id]; !known {
					if omitted++; tc.want == "" && omitted == tc.answers {
						break
					}
				}
			}
			if st.Outcome != tc.want || omitted != tc.answers {
				t.Errorf("outcome %q after %d answers without the job, want %q after %d", st.Outcome, omitted, tc.want, tc.answers)
			}
			// The script may not have written its file if the fault ended the job at once.
			text, err := os.ReadFile(filepath.Join(sub.Dir, "runs"))
			ended := tc.want != coll.JobCompleted || tc.kind == runnertest.JobRequeued
			want := "1 0\n"
			if tc.kind == runnertest.JobRequeued {
				want = "1 1\n"
			}
			if got := string(text); !strings.HasSuffix(got, want) && (tc.want == coll.JobCompleted || got != "") || strings.Count(got, "\n") > 2 || !ended && err != nil {
				t.Errorf("runs %q, %v: want it to end in %q", got, err, want)
			}
		})
	}
}
