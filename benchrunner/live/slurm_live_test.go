package live_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/benchrunner/slurm"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/runnertest"
)

// long is the test flag -long. It enables the cases that take minutes.

// clusterText is a variant of fakeText for several processes. The first process measures. The others answer its
// messages until it ends. The program waits before it crashes, because srun may drop output that it has not
// read when a process dies.
const clusterText = `#!/bin/bash
ledger=$1; shift
mark=$TUTTI_LAUNCH/.$SLURM_STEP_ID.${SLURM_RESTART_COUNT:-0}
uname -n >"$TUTTI_LAUNCH/ran.$SLURM_PROCID"
if [ "$SLURM_PROCID" != 0 ]; then
	while [ ! -e "$mark.over" ]; do
		if [ -e "$mark.ask" ]; then : >"$mark.answer.$SLURM_PROCID"; fi
		sleep 0.05
	done
	exit 0
fi
trap ': >"$mark.over"' EXIT
echo "# began"
for case in "$@"; do
	IFS=: read -r number behaviour time <<<"$case"
	case $behaviour in
	hang) sleep 1002.5; exit 1 ;;
	crash) echo "crashed in $number" >&2; sleep 0.5; kill -SEGV $$ ;;
	gatecrash)
		until [ -e "$ledger.gate" ]; do sleep 0.05; done
		echo "crashed in $number" >&2; sleep 0.5; kill -SEGV $$
		;;
	long) sleep 1.5 ;;
	gate) until [ -e "$ledger.gate" ]; do sleep 0.05; done ;;
	meet)
		until [ -e "$ledger.gate" ]; do sleep 0.05; done
		: >"$mark.ask"
		until [ -e "$mark.answer.1" ]; do sleep 0.05; done
		;;
	esac
	echo "$TUTTI_LAUNCH $number" >>"$ledger"
	echo "case $number $time end"
done
`

type clusterProgram struct{ fakeProgram }

func (p clusterProgram) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	lines := slices.Collect(out.Lines())
	return benchrunner.Reading{Outcomes: benchrunner.Outcomes(s, out, len(lines) > 0, func(c benchrunner.Case) (benchrunner.Outcome, bool) {
		us := microseconds(c.Candidate)
		if !slices.Contains(lines, fmt.Sprintf("case %d %d end", c.MsgBytes, us)) {
			return benchrunner.Outcome{}, false
		}
		return benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: float64(us) * 1e-6}, true
	})}
}

type cluster struct{ *testutil.SlurmCluster }

func startCluster(t *testing.T, nodes int, conf string) cluster {
	t.Helper()
	c := testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: nodes, Conf: "KillWait=1\n" + conf})
	t.Setenv("SLURM_CONF", c.Conf)
	return cluster{c}
}

// hasty configures a cluster whose daemons and commands soon give up waiting for each other, for tests that stop daemons.
const hasty = "MessageTimeout=2\nTCPTimeout=1"

func (c cluster) up(t *testing.T) {
	t.Helper()
	state := ""
	for began := time.Now(); time.Since(began) < testutil.HangTimeout; time.Sleep(100 * time.Millisecond) {
		if state = c.Shell("sinfo -h -p main -o %t | sort -u"); state == "idle" {
			return
		}
	}
	t.Fatalf("nodes are %q", strings.Fields(state))
}

type bench struct {
	cluster
	t   *testing.T
	dir string
	opt live.Options
}

// benches counts the calls of newBench. Job names contain the number, so that several benches can use one
// cluster.
var benches atomic.Int32

func newBench(t *testing.T, c cluster) bench {
	t.Helper()
	s := testutil.Must(slurm.New(slurm.Options{Partition: "main"}))(t)
	dir := t.TempDir()
	b := bench{cluster: c, t: t, dir: dir, opt: options(t, dir, s)}
	p := b.opt.Program.(fakeProgram)
	p.allowance = 5 * time.Second
	p.path = filepath.Join(dir, "bench") // proctrack/linuxproc finds no process whose name contains a space
	testutil.NoError(t, testutil.WriteExecutable(p.path, clusterText))
	b.opt.Program, b.opt.Launcher, b.opt.LaunchTime = clusterProgram{p}, srun(t, "pmi2"), 4*time.Second
	b.opt.Poll.Max = 300 * time.Millisecond
	b.opt.Campaign = "test" + itoa(int(benches.Add(1)))
	return b
}

func (b *bench) setMost(cases int) {
	p := b.opt.Program.(clusterProgram)
	p.most = cases
	b.opt.Program = p
}

func srun(t *testing.T, mpi string) benchrunner.Launcher {
	t.Helper()
	return testutil.Must(benchrunner.NewLauncher(benchrunner.Srun, benchrunner.LauncherOptions{MPI: mpi}))(t)
}

// patientMachine returns a machine that waits for Slurm's controller as long as a busy computer needs to start it.
func patientMachine(t testing.TB, o live.Options) *live.Machine {
	m := machine(t, o)
	m.SetPatience(testutil.HangTimeout)
	return m
}

// run measures a batch. If `disturb` is not nil, it is called as soon as the first case is measured, with the
// ID of the first job.
func (b bench) run(batch benchrunner.Batch, disturb func(id string)) *memory {
	b.t.Helper()
	log := &memory{}
	disturbed := make(chan struct{})
	go func() {
		defer close(disturbed)
		if disturb != nil {
			waitForCase(b.t, b.dir)
			disturb(b.claimOwner(1))
		}
	}()
	if err := patientMachine(b.t, b.opt).Run(b.t.Context(), batch, log); err != nil {
		b.t.Errorf("Run: %v", err)
	}
	<-disturbed
	return log
}

// claimOwner returns the ID of the Slurm job that claimed the folder of the job with the given number.
func (b bench) claimOwner(number int) string {
	path := filepath.Join(b.dir, "jobs", b.name(number), "claim", "job")
	waitFor(b.t, path, "\n")
	text, err := os.ReadFile(path)
	if err != nil {
		b.t.Error(err)
	}
	return strings.TrimSpace(string(text))
}

func (b bench) name(number int) string {
	return "tutti-" + b.opt.Campaign + "-mpich-bcast-r1-" + itoa(number)
}

// openGate ends the wait of cases with the behaviours "gate" and "meet".
func (b bench) openGate() {
	if err := os.WriteFile(filepath.Join(b.dir, "ledger.gate"), nil, 0o666); err != nil {
		b.t.Error(err)
	}
}

// queued waits until the job with the given number is in the queue and returns its ID.
func (b bench) queued(number int) string {
	for began := time.Now(); time.Since(began) < testutil.HangTimeout; time.Sleep(50 * time.Millisecond) {
		if id := b.Run("squeue", "-h", "-n", b.name(number), "-o%i"); id != "" {
			return id
		}
	}
	b.t.Errorf("job %d does not come", number)
	return "0"
}

// other returns the second node of a Slurm job, on which the job's script does not run.
func (b bench) other(id string) string {
	return strings.Fields(b.Shell("scontrol show hostnames $(squeue -h -j " + id + " -o%N)"))[1]
}

// submissions returns the number of Slurm's jobs, including ended ones, that have the name of a job in the log.
func (b bench) submissions(log *memory) int {
	n := 0
	for _, j := range log.last() {
		n += len(strings.Fields(b.Run("squeue", "-h", "-tall", "-n", j.Name, "-o%i")))
	}
	return n
}

// check compares the number of measured requests and the outcomes of the jobs with the given ones. It also
// checks that no case was measured twice.
func (b bench) check(log *memory, requests, done int, outcomes string) {
	b.t.Helper()
	if got := checkTrials(b.t, log, requests); got != done {
		b.t.Errorf("%d of %d measured, want %d: %s", got, requests, done, trialsText(log))
	}
	for _, tr := range log.trials {
		if tr.State == coll.TrialDone {
			checkMeasuredOnce(b.t, b.dir, int(tr.MsgBytes))
		}
	}
	var got []string
	for _, j := range log.last() {
		got = append(got, string(j.Outcome))
	}
	if text := strings.Join(got, ", "); text != outcomes {
		b.t.Errorf("jobs ended %s, want %s", text, outcomes)
	}
	if n := b.submissions(log); n != len(log.last()) {
		b.t.Errorf("Slurm has %d jobs, the log %d", n, len(log.last()))
	}
	if cut := testutil.Must(filepath.Glob(filepath.Join(b.dir, "jobs", "*", "*", "std*.last")))(b.t); len(cut) != 0 {
		b.t.Errorf("%q: short outputs were cut: what keeps them was ended", cut)
	}
}

// trialsText returns the trials of a log as one line.
func trialsText(log *memory) string {
	var out []string
	for _, tr := range log.trials {
		out = append(out, fmt.Sprintf("%d %s %s %s", tr.MsgBytes, tr.State, tr.Phase, tr.Error))
	}
	return strings.Join(out, "; ")
}

// TestSlurmSuite checks that a runner on a Slurm cluster passes the tests that all runners share.
func TestSlurmSuite(t *testing.T) {
	testutil.SkipShort(t)
	c := startCluster(t, 2, "")
	runnertest.Run(t, runnertest.Case{
		New:  func(t *testing.T) benchrunner.Runner { return patientMachine(t, newBench(t, c).opt) },
		Good: []coll.Candidate{at(1, 1, "a"), at(1, 2, "a"), at(2, 3, "b"), at(2, 4, "b")},
		Bad:  at(1, 9, "crash"),
	})
}

// six returns a batch of six requests, which become one job. The second case waits for openGate.
func six() benchrunner.Batch {
	return batchOf(at(2, 1, "a"), at(2, 2, "gate"), at(2, 3, "a"), at(2, 4, "a"), at(2, 5, "a"), at(2, 6, "a"))
}

// TestSlurmFaults disturbs a job after its first case. This case must not be measured again, and no case
// may fail. A second job must measure the other cases, and no job may be submitted twice.
func TestSlurmFaults(t *testing.T) {
	testutil.SkipShort(t)
	c := startCluster(t, 3, hasty)
	for _, tc := range []struct {
		name    string
		most    int // largest number of cases in a launch
		disturb func(b bench, id string)
		want    string // outcomes of the jobs
	}{
		{"cancelled by an operator", 4, func(b bench, id string) {
			b.Run("scancel", id)
			time.Sleep(500 * time.Millisecond)
		}, "cancelled, completed"},
		{"node set down", 4, func(b bench, id string) {
			b.SetNodeDown(b.other(id))
			time.Sleep(500 * time.Millisecond)
		}, "node failed, completed"},
		// An srun that began during the restart would wait for more than a minute. TestSlurmSlow covers
		// this.
		{"controller restarted", 6, func(b bench, _ string) {
			b.StopController()
			b.StartController()
		}, "completed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.name != "node set down" {
				testutil.NeedAllCases(t)
			}
			b := newBench(t, c)
			b.setMost(tc.most)
			log := b.run(six(), func(id string) {
				tc.disturb(b, id)
				b.openGate()
			})
			b.check(log, 6, 6, tc.want)
			c.up(t)
		})
	}
}

// TestSlurmLeftProcesses checks that what a launch leaves on the second node of its job has ended before the next launch
// begins. The cluster has no control groups.
func TestSlurmLeftProcesses(t *testing.T) {
	testutil.NeedAllCases(t)
	c := startCluster(t, 2, hasty)
	for _, name := range []string{"empty environment", "session", "keeps its output", "deaf"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c)
			b.setMost(1)
			pids, alive := filepath.Join(b.dir, "pids"), filepath.Join(b.dir, "alive")
			second := "if [ \"$SLURM_PROCID\" != 0 ]; then\n"
			text := strings.Replace(clusterText, second, second+lookAndLeave(pids, alive, stray[name]), 1)
			testutil.NoError(t, testutil.WriteExecutable(b.opt.Program.(clusterProgram).path, text))
			b.check(b.run(batchOf(at(2, 1, "a"), at(2, 2, "b"), at(2, 3, "c")), nil), 3, 3, "completed")
			if text, err := os.ReadFile(alive); err == nil {
				t.Errorf("processes %q ran during a later launch", strings.Fields(string(text)))
			}
			if began := strings.Fields(string(testutil.Must(os.ReadFile(pids))(t))); len(began) != 3 {
				t.Errorf("%q began, want 3", began)
			}
		})
	}
}

// TestSlurmRequeued checks a job that Slurm requeues after a node failure. The job must keep its ID and run
// only the launches that have not ended.
func TestSlurmRequeued(t *testing.T) {
	testutil.NeedAllCases(t)
	b := newBench(t, startCluster(t, 2, hasty))
	b.setMost(2)
	batch := batchOf(at(2, 1, "a"), at(2, 2, "a"), at(2, 3, "gate"), at(2, 4, "a"))
	log := b.run(batch, func(id string) {
		waitFor(t, filepath.Join(b.dir, "jobs", "*-1", "1", "end"), "whole")
		b.Run("scontrol", "update", "jobid="+id, "requeue=1")
		b.Run("scontrol", "requeue", id)
		b.WaitState(id, "PENDING")
		b.openGate()
		b.Run("scontrol", "update", "jobid="+id, "starttime=now")
	})
	checkDone(t, log, 4, 4)
	checkMeasuredOnce(t, b.dir, 1, 2, 3, 4)
	jobs := log.last()
	if len(jobs) == 2 {
		return // Slurm reported the job as failed for a moment, so another job measured the remaining cases
	}
	if len(jobs) != 1 || jobs[0].Outcome != coll.JobCompleted {
		t.Errorf("jobs %+v, want one that completed", jobs)
	}
	if got := b.Shell("scontrol -o show job " + jobs[0].ID); !strings.Contains(got, " Restarts=1 ") {
		t.Errorf("Slurm says %s", got)
	}
}

// TestSlurmStepFails checks that a crash and a hang are found, although the state of the job in Slurm is
// COMPLETED.
func TestSlurmStepFails(t *testing.T) {
	testutil.NeedAllCases(t)
	b := newBench(t, startCluster(t, 2, hasty))
	p := b.opt.Program.(clusterProgram)
	p.allowance = time.Second
	b.opt.Program, b.opt.LaunchTime = p, 6*time.Second
	log := b.run(batchOf(at(2, 1, "a"), at(2, 2, "crash"), at(2, 3, "a"), at(2, 4, "a"), at(2, 5, "hang"), at(2, 6, "a")), nil)
	b.check(log, 6, 4, "completed, completed")
	if !failed(log, "run", "crashed in 2") || !failed(log, "run", "not done after") {
		t.Errorf("trials %s, want one crashed, one hung", trialsText(log))
	}
	if got := b.Run("squeue", "-h", "-tall", "-j", log.last()[0].ID, "-o%T"); got != "COMPLETED" {
		t.Errorf("Slurm says that the job with the crash is %s", got)
	}
	if left := b.Shell("pgrep -fx 'sleep 1002.5' || true"); left != "" {
		t.Errorf("processes %q are left of what hung", left)
	}
}

// four returns a batch of four requests, which become two jobs. Each job has a case that waits for openGate.
func four() benchrunner.Batch {
	return batchOf(at(2, 1, "a"), at(2, 2, "gate"), at(1, 3, "a"), at(1, 4, "gate"))
}

// TestSlurmSubmission disturbs Slurm's controller or the nodes while the second job is being submitted or is
// waiting. Every request must get one trial, and no job may be submitted twice.
func TestSlurmSubmission(t *testing.T) {
	testutil.NeedAllCases(t)
	c := startCluster(t, 7, hasty) // after an outage Slurm needs a minute to release a node
	for _, tc := range []struct {
		name    string
		disturb func(b bench)
		want    string
	}{
		{"nodes drained, then not", func(b bench) {
			b.Drain("n[1-7]")
			b.openGate()
			id := b.queued(2)
			time.Sleep(time.Second)
			if got := b.Run("squeue", "-h", "-j", id, "-o%T"); got != "PENDING" {
				b.t.Errorf("job 2 is %s", got)
			}
			b.Resume("n[1-7]")
		}, "completed, completed"},
		{"held, then released", func(b bench) {
			b.Drain("n[1-7]")
			b.openGate()
			id := b.queued(2)
			b.Run("scontrol", "hold", id)
			b.Resume("n[1-7]")
			time.Sleep(time.Second)
			if got := b.Run("squeue", "-h", "-j", id, "-o%T %r"); got != "PENDING JobHeldAdmin" {
				b.t.Errorf("job 2 is %s", got)
			}
			b.Run("scontrol", "release", id)
		}, "completed, completed"},
		{"controller frozen", func(b bench) { // the job is accepted although sbatch reports an error
			b.Freeze()
			b.openGate()
			waitFor(b.t, filepath.Join(b.dir, "jobs", "*-2", "plan.json"), "}")
			time.Sleep(4 * time.Second)
			b.Thaw()
		}, "completed, completed"},
		{"controller down", func(b bench) {
			b.StopController()
			b.openGate()
			waitFor(b.t, filepath.Join(b.dir, "jobs", "*-2", "plan.json"), "}")
			time.Sleep(time.Second)
			b.StartController()
		}, "completed, completed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c.up(t) // the previous test case drained nodes
			b := newBench(t, c)
			log := b.run(four(), func(string) { tc.disturb(b) })
			b.check(log, 4, 4, tc.want)
		})
	}
}

// TestSlurmRebootUnnoticed checks that a launch ends at its own time limit if a node reboots and Slurm does
// not notice. Otherwise the job would run until its limit.
func TestSlurmRebootUnnoticed(t *testing.T) {
	testutil.NeedAllCases(t)
	b := newBench(t, startCluster(t, 2, hasty))
	log := b.run(batchOf(at(2, 1, "a"), at(2, 2, "meet"), at(2, 3, "a")), func(id string) {
		node := b.other(id)
		b.StopNode(node)
		b.StartNode(node)
		b.openGate()
	})
	if done := checkTrials(t, log, 3); done != 2 || !failed(log, "run", "not done after") {
		t.Errorf("trials %s, want the case that met nobody to have hung", trialsText(log))
	}
	for _, j := range log.last() {
		if allocated, limit := j.Spent.Allocated(), j.LimitSeconds; allocated > limit {
			t.Errorf("job %s had nodes for %g s, its limit is %g s", j.Name, allocated, limit)
		}
	}
}

// TestSlurmTwoCampaigns checks that two campaigns on one cluster do not affect each other's
// jobs.
func TestSlurmTwoCampaigns(t *testing.T) {
	testutil.NeedAllCases(t)
	c := startCluster(t, 2, "")
	var group sync.WaitGroup
	for _, name := range []string{"one", "two"} {
		b := newBench(t, c)
		b.opt.Campaign = name
		group.Go(func() {
			log := b.run(batchOf(at(2, 1, "a"), at(2, 2, "a"), at(1, 3, "a"), at(1, 4, "crash")), nil)
			b.check(log, 4, 3, "completed, completed")
			for _, j := range log.last() {
				if !strings.HasPrefix(j.Name, "tutti-"+name+"-") {
					t.Errorf("job %s is of campaign %s", j.Name, name)
				}
			}
		})
	}
	group.Wait()
}

// TestSlurmResumed checks that a job continues after tutti stops, and that the next run reads its output.
func TestSlurmResumed(t *testing.T) {
	testutil.SkipShort(t)
	b := newBench(t, startCluster(t, 2, ""))
	log := runUntilFirstCase(t, b.opt, six())
	id := b.claimOwner(1)
	b.WaitState(id, "RUNNING")
	b.openGate()
	resume(t, b.opt, six(), log)
	b.check(log, 6, 6, "completed")
	if got := log.last()[0].ID; got != id {
		t.Errorf("job %s, want %s again", got, id)
	}
}

// TestSlurmSlow checks that a batch is measured completely after events that take minutes: a time limit, a lost
// node, a stopped controller, and job IDs that begin again.
func TestSlurmSlow(t *testing.T) {
	testutil.NeedAllCases(t) // six minutes
	for _, tc := range []struct {
		name    string
		disturb func(b bench, id string)
		want    string // outcomes of the jobs
	}{
		{"at its time limit", func(b bench, id string) {
			b.Run("scontrol", "update", "jobid="+id, "timelimit=1")
			b.gone(id)
		}, "timeout, completed"},
		{"node without power", func(b bench, id string) {
			node := b.other(id)
			b.StopNode(node)
			b.gone(id)
			b.StartNode(node)
		}, "node failed, completed"},
		{"controller down for a minute", func(b bench, _ string) {
			b.StopController()
			b.openGate()
			time.Sleep(time.Minute)
			b.StartController()
		}, "completed, completed"},
		{"IDs begin again", func(b bench, id string) {
			b.StopController()
			b.StartEmptyController()
			b.Run("sbatch", "--hold", "-N2", "-o/dev/null", "--wrap", "sleep 5") // another user's job under the ID of the first job
			if got := b.Run("squeue", "-h", "-j", id, "-o%j"); got != "wrap" {
				b.t.Errorf("job %s is now %q", id, got)
			}
			time.Sleep(2 * time.Second)
		}, "completed, completed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := startCluster(t, 2, hasty)
			b := newBench(t, c)
			p := b.opt.Program.(clusterProgram)
			p.allowance = 3 * time.Minute
			b.opt.Program = p
			b.opt.Settle = time.Minute // a job that runs is not lost while Slurm does not know it
			log := b.run(six(), func(id string) {
				tc.disturb(b, id)
				b.openGate()
			})
			checkDone(t, log, 6, 6)
			checkMeasuredOnce(t, b.dir, 1, 2, 3, 4, 5, 6)
			if got := c.Run("squeue", "-h", "-tall", "-n", "wrap", "-o%T"); strings.Contains(got, "CANCELLED") {
				t.Error("somebody else's job is cancelled")
			}
			var got []string
			for _, j := range log.last() {
				got = append(got, string(j.Outcome))
			}
			if text := strings.Join(got, ", "); text != tc.want {
				t.Errorf("jobs ended %s, want %s", text, tc.want)
			}
		})
	}
}

func (b bench) gone(id string) {
	state := ""
	for began := time.Now(); time.Since(began) < testutil.HangTimeout; time.Sleep(200 * time.Millisecond) {
		if state = b.Run("squeue", "-h", "-tall", "-j", id, "-o%T"); state != "RUNNING" && state != "COMPLETING" {
			return
		}
	}
	b.t.Errorf("job %s is %s", id, state)
}
