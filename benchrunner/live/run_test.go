package live_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/coll"
	"tutti/internal/testutil"
)

// limitedScheduler accepts a limited number of jobs and rejects all others.
type limitedScheduler struct {
	benchrunner.Scheduler
	accepts     int64 // number of jobs that are accepted before all others are rejected
	ppn         int   // jobs with more ranks on a node are rejected; 0: none
	neverStarts bool
	capacity    benchrunner.Capacity
}

func (r *limitedScheduler) Submit(ctx context.Context, s benchrunner.Submission) (string, error) {
	if r.ppn > 0 && s.PPN > r.ppn {
		return "", fmt.Errorf("CPU count per node can not be satisfied: %w", benchrunner.ErrRejected)
	}
	if atomic.AddInt64(&r.accepts, -1) < 0 {
		return "", fmt.Errorf("invalid partition specified: %w", benchrunner.ErrRejected)
	}
	if r.neverStarts {
		return "77", nil
	}
	return r.Scheduler.Submit(ctx, s)
}

func (r *limitedScheduler) Capacity(ctx context.Context) (benchrunner.Capacity, error) {
	if r.capacity != (benchrunner.Capacity{}) {
		return r.capacity, nil
	}
	return r.Scheduler.Capacity(ctx)
}

func (r *limitedScheduler) Status(ctx context.Context, jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	if r.neverStarts {
		return map[string]benchrunner.Status{"77": {Phase: benchrunner.JobWaiting, NeverStarts: true, Reason: "PartitionNodeLimit"}}, nil
	}
	return r.Scheduler.Status(ctx, jobs)
}

// TestRejected checks jobs that the scheduler rejects. If it runs no job, Run must return an error that names the layout
// and log no trial, because the user must fix the cause. If it runs another job, the layout of the rejected job must
// end, also for later batches. A rejected job with several layouts must be split.
func TestRejected(t *testing.T) {
	o := options(t, t.TempDir(), &limitedScheduler{Scheduler: localScheduler(t)})
	log := &memory{}
	err := machine(t, o).Run(context.Background(), batchOf(at(1, 1, "a")), log)
	if !errors.Is(err, benchrunner.ErrRejected) || !strings.Contains(fmt.Sprint(err), "layout 1x1: ") || len(log.trials) != 0 || log.last()[0].State != coll.JobEnded {
		t.Errorf("Run = %v, trials %v, jobs %+v: want it rejected, no trial, the job ended", err, log.trials, log.last())
	}
	s := &limitedScheduler{Scheduler: localScheduler(t), accepts: 9, ppn: 1}
	o = options(t, t.TempDir(), s)
	wide, wider := at(1, 2, "a"), at(1, 4, "a")
	wide.PPN, wider.PPN = 2, 2
	m := machine(t, o)
	log = runBatch(t, m, batchOf(at(1, 1, "a"), wide))
	if done := checkTrials(t, log, 2); done != 1 || !failed(log, benchrunner.PhaseRefused, "layout 1x2: ") {
		t.Errorf("trials %+v, want one measured, one rejected", log.trials)
	}
	accepts := s.accepts
	log = runBatch(t, m, batchOf(wider))
	if checkTrials(t, log, 1); !failed(log, benchrunner.PhaseRefused, "layout 1x2: ") || s.accepts != accepts {
		t.Errorf("trials %+v, want one rejected without a submission", log.trials)
	}
}

// failed reports whether the log has a trial that failed in the given phase with an error that contains
// text.
func failed(log *memory, phase, text string) bool {
	for _, tr := range log.trials {
		if tr.State == coll.TrialFailed && tr.Phase == phase && strings.Contains(tr.Error, text) {
			return true
		}
	}
	return false
}

func TestJobThatNeverStarts(t *testing.T) {
	o := options(t, t.TempDir(), &limitedScheduler{Scheduler: localScheduler(t), accepts: 1, neverStarts: true})
	log := &memory{}
	err := machine(t, o).Run(t.Context(), batchOf(at(1, 1, "a")), log)
	if !errors.Is(err, benchrunner.ErrRejected) || !strings.Contains(fmt.Sprint(err), "it can never start: PartitionNodeLimit") || len(log.last()) != 1 {
		t.Errorf("Run = %v, jobs %+v: want it rejected by a job that never starts", err, log.last())
	}
}

func TestNothingFits(t *testing.T) {
	o := options(t, t.TempDir(), localScheduler(t))
	err := machine(t, o).Run(context.Background(), batchOf(at(9, 1, "a"), at(10, 1, "a")), &memory{})
	testutil.GoldenErrors(t)("two layouts", err)
	// If an allocation ends too early for a case, the case does not fail. The other cases are measured, and
	// Run returns ErrUnavailable.
	o.Scheduler = &limitedScheduler{Scheduler: localScheduler(t), accepts: 9, capacity: benchrunner.Capacity{Jobs: 1, Attached: true, Ends: time.Now().Add(50 * time.Second)}}
	o.Program = varied{oneCaseProgram(o)}
	log := &memory{}
	err = machine(t, o).Run(context.Background(), batchOf(at(1, 1, "a"), at(1, 2, "long")), log)
	if !errors.Is(err, benchrunner.ErrUnavailable) || len(log.trials) != 1 || log.trials[0].State != coll.TrialDone {
		t.Errorf("Run = %v, trials %+v: want one measured and the other left for new nodes", err, log.trials)
	}
}

// varied is a program in which cases of the behaviour "long" have a longer allowance.
type varied struct{ fakeProgram }

func (v varied) Allowance(s benchrunner.Launch) time.Duration {
	if s.Cases[0].Algorithm.Name == "long" {
		return time.Minute
	}
	return v.fakeProgram.Allowance(s)
}

// TestCancelledAndResumed cancels a run. The jobs of an attached scheduler must end, and the jobs of other
// schedulers must continue. A second run must measure the remaining cases.
func TestCancelledAndResumed(t *testing.T) {
	for _, attached := range []bool{true, false} {
		t.Run(fmt.Sprintf("attached %t", attached), func(t *testing.T) {
			dir := t.TempDir()
			o := options(t, dir, &limitedScheduler{Scheduler: localScheduler(t), accepts: 99, capacity: benchrunner.Capacity{Jobs: 1, Attached: attached}})
			b := batchOf(at(1, 1, "a"), at(1, 2, "slower"), at(1, 3, "slow"), at(1, 4, "a"))
			log := runUntilFirstCase(t, o, b)
			if running := processes(t, dir); (running == 0) != attached {
				t.Errorf("%d processes run after a cancel, attached %t", running, attached)
			}
			began := time.Now()
			o.Settle = time.Minute // for the files of jobs on other machines
			resume(t, o, b, log)
			if took := time.Since(began); attached && took >= o.Settle {
				t.Errorf("resuming took %v: the files of a job on this machine are there when it ends", took)
			}
			checkDone(t, log, 4, 4)
			checkMeasuredOnce(t, dir, 1, 2, 3, 4)
			if first := log.last()[0]; attached != (first.Outcome == coll.JobCancelled) || (len(log.last()) == 1) == attached {
				t.Errorf("jobs %+v: want the first cancelled just when it is attached", log.last())
			}
		})
	}
}

func runUntilFirstCase(t *testing.T, o live.Options, b benchrunner.Batch) *memory {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		waitForCase(t, o.Dir)
		cancel()
	}()
	log := &memory{}
	if err := machine(t, o).Run(ctx, b, log); !errors.Is(err, context.Canceled) {
		t.Fatalf("Run = %v, want it cancelled", err)
	}
	return log
}

// resume runs a batch again. It continues the log of the earlier run.
func resume(t *testing.T, o live.Options, b benchrunner.Batch, log *memory) {
	t.Helper()
	testutil.NoError(t, machine(t, o).Run(t.Context(), resumedBatch(b, log), log))
}

func waitForCase(t *testing.T, dir string) {
	waitFor(t, filepath.Join(dir, "jobs", "*-1", "1", "stdout"), "end")
}

func waitFor(t *testing.T, pattern, text string) {
	for began := time.Now(); time.Since(began) < testutil.HangTimeout; time.Sleep(time.Millisecond) {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) != 1 {
			continue
		}
		if got, err := os.ReadFile(paths[0]); err == nil && strings.Contains(string(got), text) {
			return
		}
	}
	t.Errorf("%s does not come to hold %q", pattern, text)
}

// processes counts the processes whose arguments contain the folder's path.
func processes(t testing.TB, dir string) int {
	t.Helper()
	paths := testutil.Must(filepath.Glob("/proc/[0-9]*/cmdline"))(t)
	n := 0
	for _, p := range paths {
		if text, err := os.ReadFile(p); err == nil && strings.Contains(string(text), dir) {
			n++
		}
	}
	return n
}

// processesInside counts the processes whose working folder is below a folder. Their arguments need not name it.
func processesInside(t testing.TB, dir string) int {
	t.Helper()
	n := 0
	for _, link := range testutil.Must(filepath.Glob("/proc/[0-9]*/cwd"))(t) {
		if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, dir+"/") {
			n++
		}
	}
	return n
}

// TestCancelJobs checks that Cancel ends jobs, and that a resumed campaign reads what these
// jobs measured.
func TestCancelJobs(t *testing.T) {
	dir := t.TempDir()
	o := options(t, dir, &limitedScheduler{Scheduler: localScheduler(t), accepts: 99, capacity: benchrunner.Capacity{Jobs: 1}})
	b := batchOf(at(1, 1, "a"), at(1, 2, "hang"))
	log := runUntilFirstCase(t, o, b)
	jobs := append(log.last(), coll.Job{Name: "tutti-test-none", State: coll.JobIntended, Requests: []int{0}}, coll.Job{Name: "tutti-test-over", State: coll.JobEnded})
	testutil.NoError(t, machine(t, o).Cancel(context.Background(), jobs))
	if n := processes(t, dir); n != 0 {
		t.Errorf("%d processes run after Cancel", n)
	}
	resume(t, o, b, log)
	if done := checkTrials(t, log, 2); done != 1 || !failed(log, "run", "hung") || log.last()[0].Outcome != coll.JobCancelled {
		t.Errorf("trials %+v of jobs %+v, want one measured, one hung, the first job cancelled", log.trials, log.last())
	}
	checkMeasuredOnce(t, dir, 1)
}

// interrupted runs a batch and checks that Run leaves `left` of its requests to a later run, after at least three jobs
// without a result, because of the machine. No trial may be logged for these.
func interrupted(t *testing.T, m *live.Machine, b benchrunner.Batch, left int, reason string) *memory {
	t.Helper()
	log := &memory{}
	err := m.Run(t.Context(), b, log)
	if !errors.Is(err, benchrunner.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), reason) || len(log.trials) != len(b.Requests)-left || len(log.last()) < 3 {
		t.Errorf("Run = %v, trials %s of %d jobs: want it interrupted by %q, %d requests left", err, trialsText(log), len(log.last()), reason, left)
	}
	return log
}

// TestSetupFails checks a set-up that ends the script. It must interrupt the run, with an error that contains the last
// message of the set-up.
func TestSetupFails(t *testing.T) {
	testutil.SkipShort(t)
	o := options(t, t.TempDir(), localScheduler(t))
	o.Setup = []string{"echo no licence >&2", "exit 3"}
	interrupted(t, machine(t, o), batchOf(at(1, 1, "a"), at(1, 2, "b")), 2, "failed, exit code 3; the program was not started; no licence")
}

// TestDiskFull checks that a job on a full disk never succeeds. Its cases are measured again in further jobs, until the
// run is interrupted. A limit of the file size simulates the full disk.
func TestDiskFull(t *testing.T) {
	testutil.SkipShort(t)
	dir := t.TempDir()
	o := options(t, dir, localScheduler(t))
	o.Setup = []string{"trap '' XFSZ", "ulimit -f 0"}
	log := interrupted(t, machine(t, o), batchOf(at(1, 1, "a")), 1, "its script did not end normally")
	for _, j := range log.last() {
		if j.Outcome != coll.JobLost {
			t.Errorf("job %s is %s, want it lost", j.Name, j.Outcome)
		}
	}
}

// TestLeftoversAreEnded checks that no process of a killed launch (run of the program) is alive during the
// next launch.
func TestLeftoversAreEnded(t *testing.T) {
	testutil.SkipShort(t)
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Fatalf("%v: needs apt-get install util-linux", err)
	}
	dir := t.TempDir()
	o := options(t, dir, localScheduler(t))
	p := oneCaseProgram(o)
	o.Program = p
	text := "#!/bin/bash\nsetsid -f sleep 1111 " + "</dev/null >/dev/null 2>&1\nexec sleep 1000\n"
	testutil.NoError(t, testutil.WriteExecutable(p.path, text))
	runBatch(t, machine(t, o), batchOf(at(1, 1, "hang")))
	paths := testutil.Must(filepath.Glob("/proc/[0-9]*/environ"))(t)
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), "TUTTI_LAUNCH="+dir) {
			t.Errorf("%s is left of a killed start", path)
		}
	}
}

// killFirst kills the processes of the first job while one of its cases waits.
func killFirst(t *testing.T, dir string) {
	waitFor(t, filepath.Join(dir, "ledger.held"), "held")
	cards, err := filepath.Glob(filepath.Join(dir, "jobs", "*-1", "process", "id"))
	if err != nil || len(cards) != 1 {
		t.Errorf("%v, %v: want one process", cards, err)
		return
	}
	text, err := os.ReadFile(cards[0])
	var pid int
	if _, scanErr := fmt.Sscanf(string(text), "%d-", &pid); err != nil || scanErr != nil {
		t.Error(err, scanErr)
		return
	}
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// TestKilledScriptIsLost checks that a job whose processes are killed has the outcome lost,
// and that its results are used.
func TestKilledScriptIsLost(t *testing.T) {
	dir := t.TempDir()
	o := options(t, dir, localScheduler(t))
	go killFirst(t, dir)
	log := runBatch(t, machine(t, o), batchOf(at(1, 1, "a"), at(1, 2, "held"), at(1, 3, "a")))
	checkDone(t, log, 3, 3)
	if first := log.last()[0]; first.Outcome != coll.JobLost {
		t.Errorf("first job %+v, want it lost", first)
	}
}

// failing is a scheduler that reports lost jobs as failed, as Slurm does shortly before it
// requeues a job.
type failing struct{ benchrunner.Scheduler }

func (f failing) Status(ctx context.Context, jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	out, err := f.Scheduler.Status(ctx, jobs)
	for id, st := range out {
		if st.Outcome == coll.JobLost {
			st.Outcome = coll.JobFailed
			out[id] = st
		}
	}
	return out, err
}

// TestRunAgainAfterItsEnd checks a job that the scheduler runs again after tutti has read the job's output.
// The job must do nothing, because another job measures the remaining cases.
func TestRunAgainAfterItsEnd(t *testing.T) {
	testutil.SkipShort(t)
	dir := t.TempDir()
	o := options(t, dir, failing{localScheduler(t)})
	p := oneCaseProgram(o)
	o.Program = p
	go killFirst(t, dir)
	log := runBatch(t, machine(t, o), batchOf(at(1, 1, "a"), at(1, 2, "held"), at(1, 3, "a"), at(1, 4, "a")))
	if done := checkTrials(t, log, 4); done != 4 || log.last()[0].Outcome != coll.JobFailed {
		t.Errorf("%d of 4 measured, jobs %+v: want the first one failed", done, log.last())
	}
	checkMeasuredOnce(t, dir, 1, 2, 3, 4)
	before := testutil.Must(os.ReadFile(p.ledger))(t)
	first := log.last()[0]
	cmd := exec.Command("bash", filepath.Join(dir, "jobs", first.Name, "job.sh"))
	cmd.Env = append(os.Environ(), "TUTTI_JOB_ID="+first.ID, "TUTTI_RESTART_COUNT=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if after, err := os.ReadFile(p.ledger); err != nil || string(after) != string(before) {
		t.Errorf("the job run again has measured: %v\n%s\nbefore:\n%s", err, after, before)
	}
}

// TestProgramEndedBeforeScript checks a scheduler that ends a job's program shortly before the job's script.
// This must not count as a failure of the program.
func TestProgramEndedBeforeScript(t *testing.T) {
	testutil.SkipShort(t)
	for _, how := range []string{"ended", "shot"} {
		interrupted(t, machine(t, options(t, t.TempDir(), localScheduler(t))), batchOf(at(1, 1, how)), 1, "in a row")
	}
}

// TestProgramReturns checks a program that is missing for some jobs. No attempt may be used up, the run must wait for it
// and measure everything once it is back. Before any program has started, its absence must end the run at once.
func TestProgramReturns(t *testing.T) {
	testutil.SkipShort(t)
	o := options(t, t.TempDir(), localScheduler(t))
	p := o.Program.(fakeProgram)
	o.Program = unstarted{p}
	away := p.path + ".away"
	testutil.NoError(t, os.Rename(p.path, away))
	first := machine(t, o)
	first.RequireFirstStart()
	log := &memory{}
	if err := first.Run(t.Context(), batchOf(at(1, 1, "a")), log); !errors.Is(err, benchrunner.ErrNoStart) || !strings.Contains(fmt.Sprint(err), "exit code 127") || len(log.trials) > 0 {
		t.Errorf("Run = %v, trials %s: want no start with exit code 127", err, trialsText(log))
	}
	jobs := make(chan struct{}, 1)
	o.Notice = func(err error) {
		if !errors.Is(err, benchrunner.ErrNoResults) {
			t.Errorf("notice %v, want one of a job without results", err)
		}
		select {
		case jobs <- struct{}{}:
		default:
		}
	}
	m := machine(t, o)
	m.SetPatience(testutil.HangTimeout)
	go func() {
		<-jobs
		if err := os.Rename(away, p.path); err != nil {
			t.Error(err)
		}
	}()
	b := batchOf(at(1, 2, "a"), at(1, 3, "b"))
	b.Label = "later"
	log = runBatch(t, m, b)
	if checkDone(t, log, 2, 2); len(log.last()) < 2 || log.trials[0].Attempt != 1 {
		t.Errorf("trials %s of %d jobs, want the first attempts, measured by a later job", trialsText(log), len(log.last()))
	}
}

// unstarted is a program whose output is read as that of the suites, by benchrunner.Outcomes.
type unstarted struct{ fakeProgram }

func (u unstarted) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	return benchrunner.Reading{Outcomes: benchrunner.Outcomes(s, out, strings.Contains(string(out.Stderr), "# started"), func(c benchrunner.Case) (benchrunner.Outcome, bool) {
		o := found(out, c)
		return o, o.State == benchrunner.OutcomeDone
	})}
}
