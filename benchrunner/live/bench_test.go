package live_test

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"time"

	"tutti/benchrunner/live"
	"tutti/coll"
	"tutti/internal/testutil"
)

// BenchmarkSmallJobs runs jobs one after another, each with one launch of 0.3 s. It reports own-%, the part
// of the wall time in which the program does not run. It reports unallocated-%, the part in which no nodes
// are allocated, and cpu-ms/job, the CPU time of this process.
func BenchmarkSmallJobs(b *testing.B) {
	const jobs = 20
	for b.Loop() {
		dir := b.TempDir()
		o := options(b, dir, localScheduler(b))
		program := oneCaseProgram(o)
		o.Program = program
		o.LaunchTime, o.Poll = 2*time.Second, live.Poll{} // the default intervals
		o.JobTime = program.allowance + 2*o.LaunchTime + 10*time.Second
		var cases []coll.Candidate
		for i := range jobs {
			cases = append(cases, at(1, int64(i+1), "slow"))
		}
		log := &memory{}
		began, used := time.Now(), cpuSeconds(b)
		testutil.NoError(b, machine(b, o).Run(context.Background(), batchOf(cases...), log))
		wall := time.Since(began).Seconds()
		allocated, program300 := 0.0, 0.3*jobs
		last := slices.DeleteFunc(log.jobs, func(j coll.Job) bool { return j.State != coll.JobEnded })
		if len(last) != jobs {
			b.Fatalf("%d jobs, want %d", len(last), jobs)
		}
		for _, j := range last {
			allocated += j.Spent.Allocated()
		}
		b.ReportMetric(100*(wall-program300)/wall, "own-%")
		b.ReportMetric(100*(wall-allocated)/wall, "unallocated-%")
		b.ReportMetric(1000*(wall-allocated)/jobs, "unallocated-ms/job")
		b.ReportMetric(1000*(cpuSeconds(b)-used)/jobs, "cpu-ms/job")
	}
}

// cpuSeconds returns the CPU time that this process has used, without its children.
func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	testutil.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
