package fault_test

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
	"tutti/internal/test/fault"
	"tutti/internal/test/patience"
)

func scheduler(t testing.TB, opt fault.Options) *fault.Scheduler {
	t.Helper()
	inner, err := local.New(local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := fault.New(inner, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func submission(t *testing.T, lines string) benchrunner.Submission {
	t.Helper()
	s := benchrunner.Submission{Name: "job", Dir: t.TempDir(), Limit: time.Minute}
	s.Script = filepath.Join(s.Dir, "job.sh")
	if err := os.WriteFile(s.Script, []byte("cd '"+s.Dir+"'\n"+lines+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRates(t *testing.T) {
	s := scheduler(t, fault.Options{Seed: 7, Rate: 0.5, Kinds: fault.Kinds()})
	counts := map[fault.Kind]int{}
	for i := range 2400 {
		name := fmt.Sprint("job-", i)
		k := s.Of(name)
		counts[k]++
		if again := s.Of(name); again != k {
			t.Errorf("%s: %q, then %q", name, k, again)
		}
	}
	if n := counts[""]; n < 1100 || n > 1300 {
		t.Errorf("nothing happens to %d of 2400 jobs, want about half", n)
	}
	for _, k := range fault.Kinds() {
		if n := counts[k]; n < 60 || n > 140 {
			t.Errorf("%s happens to %d jobs, want about 100", k, n)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, opt := range []fault.Options{{Rate: 2}, {Rate: 0.5}, {Kinds: []fault.Kind{"fire"}}} {
		if _, err := fault.New(nil, opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
}

// Each process begins its IDs at 1, but not again in a folder that has seen them.
func TestIDsBeginAgain(t *testing.T) {
	ctx := context.Background()
	sub := submission(t, "true")
	for _, want := range []string{"1", "2"} {
		s := scheduler(t, fault.Options{})
		id, err := s.Submit(ctx, sub)
		if err != nil || id != want {
			t.Errorf("Submit = %s, %v, want %s", id, err, want)
		}
		for st := (benchrunner.Status{}); st.Phase != benchrunner.JobOver; time.Sleep(time.Millisecond) {
			answer, err := s.Status(ctx, map[string]benchrunner.Submission{id: sub})
			if err != nil {
				t.Fatal(err)
			}
			st = answer[id]
		}
	}
}

// What happens to a job is what the kind says.
func TestFates(t *testing.T) {
	ctx := context.Background()
	for _, tc := range []struct {
		kind    fault.Kind
		want    coll.JobOutcome // "" for a job that is not known any more
		first   error           // of Submit
		answers int             // without the job
	}{
		{kind: fault.Cancelled, want: coll.JobCancelled},
		{kind: fault.NodeFailure, want: coll.JobNodeFail},
		{kind: fault.OutOfTime, want: coll.JobTimeout},
		{kind: fault.OutOfMemory, want: coll.JobOutOfMemory},
		{kind: fault.Lost, answers: 3},
		{kind: fault.Requeue, want: coll.JobCompleted},
		{kind: fault.Silence, want: coll.JobCompleted, answers: 2},
		{kind: fault.SubmitFails, want: coll.JobCompleted, first: benchrunner.ErrUnavailable},
		{kind: fault.SubmitLost, want: coll.JobCompleted, first: benchrunner.ErrUnavailable},
	} {
		t.Run(string(tc.kind), func(t *testing.T) {
			t.Parallel()
			s := scheduler(t, fault.Options{Seed: 1, Rate: 1, Kinds: []fault.Kind{tc.kind}, Within: 100 * time.Millisecond})
			sub := submission(t, "echo $TUTTI_JOB_ID $TUTTI_RESTART_COUNT >>runs; sleep 0.5")
			id, err := s.Submit(ctx, sub)
			if !errors.Is(err, tc.first) {
				t.Fatalf("Submit = %v, want %v", err, tc.first)
			}
			if err != nil {
				var found bool
				if id, found, err = s.Find(ctx, sub); err != nil || found != (tc.kind == fault.SubmitLost) {
					t.Fatalf("Find = %q, %t, %v", id, found, err)
				}
				if !found {
					if id, err = s.Submit(ctx, sub); err != nil {
						t.Fatal(err)
					}
				}
			}
			time.Sleep(110 * time.Millisecond) // what happens has happened
			silent := 0
			var st benchrunner.Status
			for began := time.Now(); st.Phase != benchrunner.JobOver && time.Since(began) < patience.Long; time.Sleep(5 * time.Millisecond) {
				answer, err := s.Status(ctx, map[string]benchrunner.Submission{id: sub})
				if err != nil {
					t.Fatal(err)
				}
				known := false
				if st, known = answer[id]; !known {
					if silent++; tc.want == "" && silent == tc.answers {
						break
					}
				}
			}
			if st.Outcome != tc.want || silent != tc.answers {
				t.Errorf("outcome %q after %d answers without the job, want %q after %d", st.Outcome, silent, tc.want, tc.answers)
			}
			// What strikes at once strikes before the script said anything.
			text, err := os.ReadFile(filepath.Join(sub.Dir, "runs"))
			struck := tc.want != coll.JobCompleted || tc.kind == fault.Requeue
			want := "1 0\n"
			if tc.kind == fault.Requeue {
				want = "1 1\n"
			}
			if got := string(text); !strings.HasSuffix(got, want) && (tc.want == coll.JobCompleted || got != "") || strings.Count(got, "\n") > 2 || !struck && err != nil {
				t.Errorf("runs %q, %v: want it to end in %q", got, err, want)
			}
		})
	}
}
