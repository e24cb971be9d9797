package local_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/local"
	"tutti/coll"
	"tutti/internal/testutil"
)

var ctx = context.Background()

func scheduler(t *testing.T) *local.Scheduler {
	t.Helper()
	return testutil.Must(local.New(local.Options{Nodes: 2, PPN: 4}))(t)
}

func submission(t *testing.T, lines string) benchrunner.Submission {
	t.Helper()
	s := benchrunner.Submission{Name: "job", Dir: t.TempDir(), Nodes: 1, PPN: 1, Limit: time.Minute}
	s.Script = filepath.Join(s.Dir, "a job.sh")
	testutil.NoError(t, os.WriteFile(s.Script, []byte("#!/bin/bash\n"+lines+"\n"), 0o666))
	return s
}

func submit(t *testing.T, s *local.Scheduler, sub benchrunner.Submission) string {
	t.Helper()
	return testutil.Must(s.Submit(ctx, sub))(t)
}

func status(t *testing.T, s *local.Scheduler, id string, sub benchrunner.Submission) benchrunner.Status {
	t.Helper()
	answer := testutil.Must(s.Status(ctx, map[string]benchrunner.Submission{id: sub}))(t)
	return answer[id]
}

func over(t *testing.T, s *local.Scheduler, id string, sub benchrunner.Submission) benchrunner.Status {
	t.Helper()
	for began := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		st := status(t, s, id, sub)
		if st.Phase == benchrunner.JobOver {
			return st
		}
		if time.Since(began) > testutil.HangTimeout {
			t.Fatalf("job %s does not end: %+v", id, st)
		}
	}
}

func TestOutcomes(t *testing.T) {
	t.Setenv("SLURM_JOB_ID", "77")
	for _, tc := range []struct {
		name, lines, reason string
		limit               time.Duration
		want                coll.JobOutcome
	}{
		{name: "ends", lines: "true", want: coll.JobCompleted},
		{name: "fails", lines: "exit 3", want: coll.JobFailed, reason: "exit code 3"},
		{name: "hangs", lines: "sleep 1000", limit: 50 * time.Millisecond, want: coll.JobTimeout, reason: "its time limit"},
		{name: "knows its ID", lines: `[ "$TUTTI_JOB_ID" = "$(head -n 1 process/id)" ]`, want: coll.JobCompleted},
		{name: "is not inside another job", lines: `[ -z "${SLURM_JOB_ID+x}" ]`, want: coll.JobCompleted},
		{name: "has no input", lines: `! read -r`, want: coll.JobCompleted},
		{name: "kills its parents", lines: `kill -KILL "${TUTTI_JOB_ID%%-*}" $PPID`, want: coll.JobLost, reason: "gone without an exit code"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, sub := scheduler(t), submission(t, tc.lines)
			if tc.limit > 0 {
				sub.Limit = tc.limit
			}
			id := submit(t, s, sub)
			st := over(t, s, id, sub)
			if st.Outcome != tc.want || !strings.Contains(st.Reason, tc.reason) || st.Started.IsZero() || st.Ended.Before(st.Started) != st.Ended.IsZero() {
				t.Errorf("status %+v, want %s because of %q", st, tc.want, tc.reason)
			}
		})
	}
}

// TestFind checks that another scheduler finds a job by its folder, and that a second Submit of the job
// returns the same ID.
func TestFind(t *testing.T) {
	s, sub := scheduler(t), submission(t, "echo >>ran; until [ -e go ]; do sleep 0.05; done")
	if id, found, err := s.Find(ctx, sub); found || err != nil {
		t.Errorf("Find before Submit = %q, %t, %v", id, found, err)
	}
	var ids [4]string
	var group sync.WaitGroup
	for i := range ids {
		group.Go(func() { ids[i] = submit(t, scheduler(t), sub) })
	}
	group.Wait()
	id, found, err := scheduler(t).Find(ctx, sub)
	if !found || err != nil {
		t.Fatalf("Find = %t, %v", found, err)
	}
	for _, other := range ids {
		if other != id {
			t.Errorf("Submit = %s, Find = %s: want one job", other, id)
		}
	}
	if st := status(t, s, id, sub); st.Phase != benchrunner.JobRunning {
		t.Errorf("status %+v, want it running", st)
	}
	testutil.NoError(t, os.WriteFile(filepath.Join(sub.Dir, "go"), nil, 0o644))
	over(t, s, id, sub)
	if ran, err := os.ReadFile(filepath.Join(sub.Dir, "ran")); err != nil || len(ran) != 1 {
		t.Errorf("the script ran %d times, %v, want once", len(ran), err)
	}
	if answer, err := s.Status(ctx, map[string]benchrunner.Submission{"1-2-3": sub}); err != nil || len(answer) != 0 {
		t.Errorf("Status of another ID = %v, %v, want nothing", answer, err)
	}
}

// TestOneAtATime checks that jobs of one campaign run one after another, even if several
// schedulers submit them.
func TestOneAtATime(t *testing.T) {
	jobs := t.TempDir()
	var ids [3]string
	var subs [3]benchrunner.Submission
	for i := range ids {
		dir := filepath.Join(jobs, fmt.Sprint(i))
		subs[i] = benchrunner.Submission{Name: fmt.Sprint(i), Dir: dir, Script: filepath.Join(dir, "job.sh"), Limit: time.Minute}
		text := "mkdir ../alone || exit 9; sleep 0.1; rmdir ../alone"
		testutil.NoError(t, errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(subs[i].Script, []byte(text), 0o666)))
		ids[i] = submit(t, scheduler(t), subs[i])
	}
	for i, id := range ids {
		if st := over(t, scheduler(t), id, subs[i]); st.Outcome != coll.JobCompleted {
			t.Errorf("job %d: %+v, want it to run alone", i, st)
		}
	}
}

// TestReusedProcessID checks that a process counts as the job only if its start time and boot ID also
// agree, not only its process ID.
func TestReusedProcessID(t *testing.T) {
	s, sub := scheduler(t), submission(t, "sleep 1000")
	id := submit(t, s, sub)
	t.Cleanup(func() {
		write(t, sub, id)
		if err := s.Cancel(ctx, id, sub); err != nil {
			t.Error(err)
		}
	})
	parts := strings.SplitN(id, "-", 3)
	for _, other := range []string{parts[0] + "-1-" + parts[2], parts[0] + "-" + parts[1] + "-another-boot"} {
		write(t, sub, other)
		if st := status(t, s, other, sub); st.Phase != benchrunner.JobOver || st.Outcome != coll.JobLost {
			t.Errorf("status of %s = %+v, want it lost", other, st)
		}
		if err := s.Cancel(ctx, other, sub); err != nil {
			t.Error(err)
		}
		write(t, sub, id)
		if st := status(t, s, id, sub); st.Phase != benchrunner.JobRunning {
			t.Fatalf("cancelling %s ended %s", other, id)
		}
	}
}

func write(t *testing.T, sub benchrunner.Submission, id string) {
	t.Helper()
	host := testutil.Must(os.Hostname())(t)
	testutil.NoError(t, os.WriteFile(filepath.Join(sub.Dir, "process", "id"), []byte(id+"\n"+host+"\n\n"), 0o666))
}

// TestCancel checks that Cancel ends child processes that have their own sessions or ignore TERM.
func TestCancel(t *testing.T) {
	testutil.SkipShort(t)
	s, sub := scheduler(t), submission(t, `setsid -f bash -c 'trap "" TERM; echo $$ >>pids; while :; do sleep 0.1; done'
bash -c 'echo $$ >>pids; exec sleep 1000' &
env -i setsid -f sleep 0.01
timeout 1000 bash -c 'echo $$ >>pids; sleep 1000'`)
	id := submit(t, s, sub)
	pids := func() []string {
		text, _ := os.ReadFile(filepath.Join(sub.Dir, "pids"))
		return strings.Fields(string(text))
	}
	for began := time.Now(); len(pids()) < 3; time.Sleep(time.Millisecond) {
		if time.Since(began) > testutil.HangTimeout {
			t.Fatalf("only %v began", pids())
		}
	}
	testutil.NoError(t, s.Cancel(ctx, id, sub))
	for _, pid := range pids() {
		if text, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && !strings.Contains(string(text), ") Z") {
			t.Errorf("process %s runs after Cancel: %s", pid, text)
		}
	}
	if st := status(t, s, id, sub); st.Outcome != coll.JobCancelled {
		t.Errorf("status %+v, want it cancelled", st)
	}
	if err := s.Cancel(ctx, id, sub); err != nil {
		t.Errorf("Cancel of a job that is over: %v", err)
	}
	if err := s.Cancel(ctx, "1-2-3", submission(t, "")); err != nil {
		t.Errorf("Cancel of a job that never was: %v", err)
	}
}

// TestStartsAnother checks that Cancel leaves a process alone that another job is about to become. Between fork and exec
// it runs this program, with this program's environment.
func TestStartsAnother(t *testing.T) {
	s, sub := scheduler(t), submission(t, "sleep 1000")
	id := submit(t, s, sub)
	child := exec.Command("/proc/self/exe", "-test.run=^TestReadsInput$")
	child.Env = []string{"TUTTI_TEST_INPUT=1"}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	input := testutil.Must(child.StdinPipe())(t)
	testutil.NoError(t, child.Start())
	testutil.NoError(t, s.Cancel(ctx, id, sub))
	input.Close()
	if err := child.Wait(); err != nil {
		t.Errorf("Cancel ended the process: %v", err)
	}
}

// TestReadsInput is the program of TestStartsAnother.
func TestReadsInput(t *testing.T) {
	if os.Getenv("TUTTI_TEST_INPUT") == "" {
		return
	}
	_, err := io.ReadAll(os.Stdin)
	testutil.NoError(t, err)
}

// TestUnreadableFiles checks that Status returns ErrUnavailable if a file of the job cannot be read. The
// job must not count as ended.
func TestUnreadableFiles(t *testing.T) {
	for _, name := range []string{"process/id", "exit", "cancelled"} {
		t.Run(name, func(t *testing.T) {
			s, sub := scheduler(t), submission(t, "true")
			id := submit(t, s, sub)
			over(t, s, id, sub)
			if name == "cancelled" {
				testutil.NoError(t, os.Remove(filepath.Join(sub.Dir, "exit")))
				over(t, s, id, sub) // the process ends a moment after the job is reported over
			}
			path := filepath.Join(sub.Dir, name)
			_ = os.Remove(path) // the file may be missing
			testutil.NoError(t, os.Symlink(path, path))
			if answer, err := s.Status(ctx, map[string]benchrunner.Submission{id: sub}); !errors.Is(err, benchrunner.ErrUnavailable) || !errors.Is(err, syscall.ELOOP) {
				t.Errorf("Status = %+v, %v; want that it is not known", answer, err)
			}
		})
	}
}

func TestJobOfAnotherMachine(t *testing.T) {
	s, sub := scheduler(t), submission(t, "true")
	id := submit(t, s, sub)
	over(t, s, id, sub)
	testutil.NoError(t, os.Remove(filepath.Join(sub.Dir, "exit")))
	testutil.NoError(t, os.WriteFile(filepath.Join(sub.Dir, "process", "id"), []byte(id+"\nanother\n\n"), 0o666))
	if _, err := s.Status(ctx, map[string]benchrunner.Submission{id: sub}); err == nil || !strings.Contains(err.Error(), "runs on another") {
		t.Errorf("Status = %v, want the name of the other machine", err)
	}
}

func TestAllocation(t *testing.T) {
	environ := []string{"SLURM_JOB_ID=12", "SLURM_JOB_NUM_NODES=4", "SLURM_JOB_CPUS_PER_NODE=32(x3),16", "SLURM_JOB_END_TIME=2000000000", "PATH=" + os.Getenv("PATH")}
	s := testutil.Must(local.NewAllocation(environ))(t)
	got, err := s.Capacity(ctx)
	want := benchrunner.Capacity{Nodes: 4, PPN: 16, Jobs: 1, SeparateNodes: true, Attached: true, Ends: time.Unix(2000000000, 0)}
	if err != nil || got != want {
		t.Errorf("Capacity = %+v, %v, want %+v", got, err, want)
	}
	sub := submission(t, `[ "$SLURM_JOB_ID" = 12 ]`)
	id := submit(t, s, sub)
	if st := over(t, s, id, sub); st.Outcome != coll.JobCompleted {
		t.Errorf("status %+v: want the job to see the allocation", st)
	}
	// A job of an allocation that has ended is over, even if it ran on an unknown machine.
	testutil.NoError(t, os.Remove(filepath.Join(sub.Dir, "exit")))
	testutil.NoError(t, os.WriteFile(filepath.Join(sub.Dir, "process", "id"), []byte(id+"\nanother\n11\n"), 0o666))
	if st := status(t, s, id, sub); st.Outcome != coll.JobLost {
		t.Errorf("status %+v, want it lost", st)
	}
	golden := testutil.GoldenErrors(t)
	for _, change := range []string{"SLURM_JOB_ID=", "SLURM_JOB_NUM_NODES=", "SLURM_JOB_CPUS_PER_NODE=many", "SLURM_JOB_END_TIME=soon", "SLURM_HET_SIZE=2"} {
		_, err := local.NewAllocation(append(append([]string(nil), environ...), change))
		golden(change, err)
	}
	_, err = local.NewAllocation(nil)
	golden("outside", err, benchrunner.ErrOutside)
}

// TestAllocationAsksScontrol checks that scontrol reports the end of an allocation if the
// environment does not contain it.
func TestAllocationAsksScontrol(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, tc := range []struct {
		script string
		want   time.Time
		fails  bool
	}{
		{script: `[ "$TZ" = UTC0 ] && echo "JobId=12 StartTime=2026-01-31T10:00:00 EndTime=2026-01-31T12:00:00 Deadline=N/A"`, want: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)},
		{script: "echo JobId=12 EndTime=Unknown"},
		{script: "echo slurm_load_jobs error: Unable to contact slurm controller >&2; exit 1", fails: true},
		{script: "echo JobId=12 EndTime=tomorrow", fails: true},
		{script: "echo", fails: true},
	} {
		bin := t.TempDir()
		testutil.NoError(t, os.WriteFile(filepath.Join(bin, "scontrol"), []byte("#!/bin/bash\n"+tc.script+"\n"), 0o777))
		t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
		s := testutil.Must(local.NewAllocation([]string{"SLURM_JOB_ID=12", "SLURM_JOB_NUM_NODES=4", "PATH=" + os.Getenv("PATH")}))(t)
		got, err := s.Capacity(ctx)
		if tc.fails {
			golden(tc.script, err)
		} else if err != nil || !got.Ends.Equal(tc.want) {
			t.Errorf("%s: ends %v, %v; want %v", tc.script, got.Ends, err, tc.want)
		}
	}
}
