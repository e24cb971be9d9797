package live_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

func fill(t *testing.T, dir string) {
	t.Helper()
	f := testutil.Must(os.Create(filepath.Join(dir, "filler")))(t)
	defer f.Close()
	for size := 4096; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

func unfill(t *testing.T, dir string) {
	t.Helper()
	testutil.NoError(t, os.Remove(filepath.Join(dir, "filler")))
}

// TestFullDiskForJob checks a disk that has no space for the folder of a job. Nothing must be submitted, and no
// trial may fail. Once there is space, the same batch must be measured.
func TestFullDiskForJob(t *testing.T) {
	testutil.SkipShort(t)
	dir := testutil.MountSmallDisk(t, "256k")
	if dir == "" {
		return // MountSmallDisk ran this test in a child process
	}
	o := options(t, dir, localScheduler(t))
	b := batchOf(at(1, 1, "a"), at(2, 2, "a"))
	fill(t, dir)
	log := &memory{}
	if err := machine(t, o).Run(context.Background(), b, log); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Run = %v, want %v", err, syscall.ENOSPC)
	}
	if len(log.trials) != 0 || len(log.jobs) != 0 {
		t.Errorf("trials %+v, jobs %+v: want none", log.trials, log.jobs)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "jobs")); err == nil && len(left) > 0 {
		t.Errorf("%v are left of what could not be written", left)
	}
	unfill(t, dir)
	resume(t, o, b, log)
	checkDone(t, log, 2, 2)
}

// filling is a program that fills the disk when its output is read.
type filling struct {
	fakeProgram
	fill func()
}

func (f filling) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	f.fill()
	return f.fakeProgram.Read(s, out)
}

// TestFullDiskForResult checks a disk that has no space for the result of a job. The job must keep the state
// submitted. Once there is space, its output must be read, and nothing may be measured again.
func TestFullDiskForResult(t *testing.T) {
	dir := testutil.MountSmallDisk(t, "256k")
	if dir == "" {
		return // MountSmallDisk ran this test in a child process
	}
	o := options(t, dir, localScheduler(t))
	o.Program = filling{o.Program.(fakeProgram), func() { fill(t, dir) }}
	b := batchOf(at(1, 1, "a"), at(1, 2, "a"))
	log := &memory{}
	if err := machine(t, o).Run(context.Background(), b, log); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Run = %v, want %v", err, syscall.ENOSPC)
	}
	if jobs := log.last(); len(log.trials) != 0 || len(jobs) != 1 || jobs[0].State != coll.JobSubmitted {
		t.Errorf("trials %+v, jobs %+v: want one submitted", log.trials, jobs)
	}
	unfill(t, dir)
	o.Program = o.Program.(filling).fakeProgram
	resume(t, o, b, log)
	if done := checkTrials(t, log, 2); done != 2 || len(log.last()) != 1 {
		t.Errorf("%d of 2 measured by %d jobs: %+v", done, len(log.last()), log.trials)
	}
	checkMeasuredOnce(t, dir, 1, 2)
}
