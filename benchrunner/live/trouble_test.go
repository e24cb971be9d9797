package live_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/coll"
	"tutti/internal/testutil"
)

// makeUnreadable replaces a file by a symbolic link to itself. The file then exists, but reading it fails,
// as in a short failure of a network file system.
func makeUnreadable(t *testing.T, path string) (restore func()) {
	t.Helper()
	err := errors.Join(os.Rename(path, path+".away"), os.Symlink(path, path))
	if _, readErr := os.ReadFile(path); err != nil || !errors.Is(readErr, syscall.ELOOP) {
		t.Fatal(err, readErr)
	}
	return func() {
		if err := os.Rename(path+".away", path); err != nil {
			t.Error(err)
		}
	}
}

// detached is a scheduler whose jobs continue without tutti. If `forgetful` is set, Find
// finds no job.
type detached struct {
	benchrunner.Scheduler
	forgetful bool
}

func (d detached) Capacity(context.Context) (benchrunner.Capacity, error) {
	return benchrunner.Capacity{Jobs: 1}, nil
}

func (d detached) Find(ctx context.Context, s benchrunner.Submission) (string, bool, error) {
	if d.forgetful {
		return "", false, nil
	}
	return d.Scheduler.Find(ctx, s)
}

var errFull = errors.New("no space for a record")

// failingLog is a log that returns errors after a given number of records.
type failingLog struct {
	*memory
	records int
}

func (l *failingLog) Job(j coll.Job) error {
	if l.records--; l.records < 0 {
		return errFull
	}
	return l.memory.Job(j)
}

func (l *failingLog) Trial(coll.Trial) error { return errFull }

// runUntilLogFails runs a batch until its log fails after the given number of records. Then it waits until
// the job has ended by itself.
func runUntilLogFails(t *testing.T, o live.Options, b benchrunner.Batch, records int) *memory {
	t.Helper()
	log := &memory{}
	if err := machine(t, o).Run(t.Context(), b, &failingLog{log, records}); !errors.Is(err, errFull) {
		t.Fatalf("Run = %v, want %v", err, errFull)
	}
	waitFor(t, filepath.Join(o.Dir, "jobs", "*-1", "end"), "whole")
	return log
}

// TestTroubleWithFiles checks that a file that cannot be read does not count as missing. Reading is
// repeated until Options.Settle has passed, then Run returns the error. The next run continues, loses
// nothing and measures nothing twice.
func TestTroubleWithFiles(t *testing.T) {
	testutil.SkipShort(t)
	for _, file := range []string{
		"plan.json", "claim/job", "end", "environment", "job.log", "1/begin", "1/end", "1/stdout", "1/stderr", "result.json",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			if !slices.Contains([]string{"claim/job", "job.log", "1/stdout", "result.json"}, file) {
				testutil.NeedAllCases(t)
			}
			o := options(t, t.TempDir(), detached{localScheduler(t), file == "claim/job"})
			o.Settle = time.Minute
			b := batchOf(at(1, 1, "a"), at(1, 2, "a"), at(1, 3, "a"))
			records := 1 // the log fails before the job's ID is recorded
			if file == "result.json" {
				records = 2 // the log fails before the job's end is recorded
			}
			log := runUntilLogFails(t, o, b, records)
			restore := makeUnreadable(t, filepath.Join(o.Dir, "jobs", log.jobs[0].Name, file))
			before := len(log.jobs)

			short := o
			short.Settle = 20 * time.Millisecond
			if err := machine(t, short).Run(t.Context(), resumedBatch(b, log), log); !errors.Is(err, syscall.ELOOP) {
				t.Errorf("Run = %v, want what the system says", err)
			}
			if len(log.trials) > 0 || log.last()[0].State == coll.JobEnded || len(log.last()) > 1 {
				t.Errorf("%d trials, %+v: want the job open", len(log.trials), log.jobs[before:])
			}
			restored := make(chan struct{})
			time.AfterFunc(200*time.Millisecond, func() {
				defer close(restored)
				restore()
			})
			err := machine(t, o).Run(t.Context(), resumedBatch(b, log), log)
			if <-restored; err != nil {
				t.Fatal(err)
			}
			if done := checkTrials(t, log, 3); done != 3 || len(log.last()) != 1 || log.last()[0].Outcome != coll.JobCompleted {
				t.Errorf("%d of 3 measured by %+v, want one job", done, log.last())
			}
			checkMeasuredOnce(t, o.Dir, 1, 2, 3)
		})
	}
}

// TestTroubleWithStop checks a job whose output is read before its script has ended. If its stop file cannot be
// written, Run must return the error, and the next run must continue.
func TestTroubleWithStop(t *testing.T) {
	testutil.SkipShort(t)
	o := options(t, t.TempDir(), localScheduler(t))
	o.Settle = 50 * time.Millisecond
	b := batchOf(at(1, 1, "a"), at(1, 2, "held"), at(1, 3, "a"))
	stop := filepath.Join(o.Dir, "jobs", "tutti-test-mpich-bcast-r1-1", "stop")
	denied := make(chan error, 1)
	go func() {
		waitForCase(t, o.Dir)
		denied <- os.Symlink(stop, stop)
		killFirst(t, o.Dir)
	}()
	log := &memory{}
	err := machine(t, o).Run(t.Context(), b, log)
	if denyErr := <-denied; denyErr != nil {
		t.Fatal(denyErr)
	}
	if !errors.Is(err, syscall.ELOOP) || len(log.trials) > 0 {
		t.Errorf("Run = %v, %d trials; want what the system says, and none", err, len(log.trials))
	}
	testutil.NoError(t, os.Remove(stop))
	resume(t, o, b, log)
	checkDone(t, log, 3, 3)
	checkMeasuredOnce(t, o.Dir, 1, 2, 3)
}

// stopping is a scheduler that writes a stop file for the first job.
type stopping struct {
	benchrunner.Scheduler
	once sync.Once
}

func (s *stopping) Submit(ctx context.Context, sub benchrunner.Submission) (id string, err error) {
	s.once.Do(func() { err = os.WriteFile(filepath.Join(sub.Dir, "stop"), nil, 0o666) })
	if err != nil {
		return "", err
	}
	return s.Scheduler.Submit(ctx, sub)
}

// TestStoppedBeforeItStarted checks a job that is cancelled before its first launch. None of its cases may
// fail.
func TestStoppedBeforeItStarted(t *testing.T) {
	o := options(t, t.TempDir(), &stopping{Scheduler: localScheduler(t)})
	log := &memory{}
	testutil.NoError(t, machine(t, o).Run(t.Context(), batchOf(at(1, 1, "a"), at(1, 2, "b")), log))
	if done := checkTrials(t, log, 2); done != 2 || log.last()[0].Outcome != coll.JobCancelled {
		t.Errorf("%d of 2 measured by %+v, want the first job cancelled", done, log.last())
	}
}
