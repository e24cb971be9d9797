package live_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/benchrunner/local"
	"tutti/coll"
	"tutti/internal/testutil"
)

// concurrentBench returns a bench whose launches measure one case each and run concurrently. Each case may take as
// long as the test waits for a step.
func concurrentBench(t *testing.T, c cluster, mode live.Parallel) bench {
	t.Helper()
	b := newBench(t, c)
	p := b.opt.Program.(clusterProgram)
	p.most, p.allowance = 1, testutil.HangTimeout
	b.opt.Program = p
	b.opt.Parallel, b.opt.ParallelNodes = mode, 8
	return b
}

// runGated measures a batch. Its cases with the behaviour "gate" wait until the given number of launches have begun.
func (b bench) runGated(batch benchrunner.Batch, launches int) *memory {
	b.t.Helper()
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		defer b.openGate()
		begun := 0
		for began := time.Now(); begun < launches && time.Since(began) < testutil.HangTimeout; time.Sleep(50 * time.Millisecond) {
			files, _ := filepath.Glob(filepath.Join(b.dir, "jobs", "*", "*", "begin"))
			begun = len(files)
		}
		if begun < launches {
			b.t.Errorf("%d launches began, want %d at a time", begun, launches)
		}
	}()
	log := b.run(batch, nil)
	<-opened
	return log
}

type ran struct {
	begin, end float64
	hosts      []string
}

// rans returns when and where the launches of a job ran, in the order of the launches.
func (b bench) rans(job string) []ran {
	b.t.Helper()
	var out []ran
	for n := 1; ; n++ {
		dir := filepath.Join(b.dir, "jobs", job, itoa(n))
		text, err := os.ReadFile(filepath.Join(dir, "end"))
		if err != nil {
			return out
		}
		var r ran
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			switch f[0] {
			case "begin":
				r.begin, err = strconv.ParseFloat(f[1], 64)
			case "end":
				r.end, err = strconv.ParseFloat(f[1], 64)
			}
			if err != nil {
				b.t.Fatal(err)
			}
		}
		files, err := filepath.Glob(filepath.Join(dir, "ran.*"))
		if err != nil {
			b.t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				b.t.Fatal(err)
			}
			r.hosts = append(r.hosts, strings.TrimSpace(string(text)))
		}
		slices.Sort(r.hosts)
		out = append(out, r)
	}
}

// most returns the largest number of launches that ran at the same time. It also checks that concurrent
// launches had no common node.
func (b bench) most(all []ran) int {
	b.t.Helper()
	most := 0
	for i, r := range all {
		now := 0
		for k, o := range all {
			if o.begin > r.begin || o.end <= r.begin {
				continue
			}
			now++
			if k != i && slices.ContainsFunc(r.hosts, func(h string) bool { return slices.Contains(o.hosts, h) }) {
				b.t.Errorf("starts on %v and %v ran at the same time", r.hosts, o.hosts)
			}
		}
		most = max(most, now)
	}
	return most
}

// TestSlurmConcurrent checks that four launches of two nodes run concurrently on eight nodes,
// and that their costs add up to the node-seconds of the job.
func TestSlurmConcurrent(t *testing.T) {
	testutil.NeedAllCases(t)
	c := startCluster(t, 8, "")
	batch := batchOf(at(2, 1, "gate"), at(2, 2, "gate"), at(2, 3, "gate"), at(2, 4, "gate"))
	for mode, want := range map[live.Parallel]struct{ nodes, most int }{live.ParallelNever: {2, 1}, live.ParallelAlways: {8, 4}} {
		b := concurrentBench(t, c, mode)
		log := b.runGated(batch, want.most)
		b.check(log, 4, 4, "completed")
		job := log.last()[0]
		all := b.rans(job.Name)
		if most := b.most(all); job.Nodes != want.nodes || most != want.most || len(all) != 4 {
			t.Errorf("%s: %d launches on %d nodes, %d of them at a time; want 4, %d, %d", mode, len(all), job.Nodes, most, want.nodes, want.most)
		}
		nodeSeconds := 0.0
		for _, tr := range log.trials {
			nodeSeconds += tr.NodeSeconds()
		}
		if want := job.Spent.Allocated() * float64(job.Nodes); math.Abs(nodeSeconds-want) > 1e-6*want {
			t.Errorf("%s: trials cost %g node-seconds, the job %g", mode, nodeSeconds, want)
		}
		for _, r := range all {
			if len(r.hosts) != 2 || r.hosts[0] == r.hosts[1] {
				t.Errorf("%s: a launch on %v, want two nodes", mode, r.hosts)
			}
		}
	}
}

// TestSlurmConcurrentFails checks that a crash or a hang fails only its own launch, and that a launch that
// needs all nodes runs alone.
func TestSlurmConcurrentFails(t *testing.T) {
	testutil.NeedAllCases(t)
	b := concurrentBench(t, startCluster(t, 8, ""), live.ParallelAlways)
	p := b.opt.Program.(clusterProgram)
	p.allowance = 10 * time.Second
	b.opt.Program, b.opt.LaunchTime = p, 20*time.Second
	log := b.runGated(batchOf(at(2, 1, "gate"), at(2, 2, "gatecrash"), at(2, 3, "hang"), at(2, 4, "gate"), at(8, 5, "a")), 4)
	b.check(log, 5, 3, "completed")
	if !failed(log, "run", "crashed in 2") || !failed(log, "run", "not done after") {
		t.Errorf("trials %s, want one crashed, one hung", trialsText(log))
	}
	all := b.rans(log.last()[0].Name)
	if most := b.most(all); most != 4 {
		t.Errorf("%d launches at a time, want the four of two nodes at the same time", most)
	}
}

// TestSlurmConcurrentResumed stops tutti while launches run concurrently. It checks that the next run reads
// the job's output.
func TestSlurmConcurrentResumed(t *testing.T) {
	testutil.NeedAllCases(t)
	b := concurrentBench(t, startCluster(t, 8, ""), live.ParallelAlways)
	batch := batchOf(at(4, 1, "long"), at(2, 2, "gate"), at(2, 3, "gate"))
	log := runUntilFirstCase(t, b.opt, batch)
	b.openGate()
	resume(t, b.opt, batch, log)
	b.check(log, 3, 3, "completed")
	if most := b.most(b.rans(log.last()[0].Name)); most != 3 {
		t.Errorf("%d launches at a time, want 3", most)
	}
}

// TestSlurmConcurrentSwitches checks that no switch has two launches at the same time, even if it has enough
// nodes for both.
func TestSlurmConcurrentSwitches(t *testing.T) {
	testutil.NeedAllCases(t)
	const topology = "SwitchName=leaf1 Nodes=n[1-4]\nSwitchName=leaf2 Nodes=n[5-8]\nSwitchName=top Switches=leaf[1-2]\n"
	c := cluster{testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: 8, Topology: topology})}
	t.Setenv("SLURM_CONF", c.Conf)
	b := concurrentBench(t, c, live.ParallelSwitch)
	log := b.runGated(batchOf(at(3, 1, "gate"), at(4, 2, "gate"), at(3, 3, "gate"), at(8, 4, "a"), at(4, 5, "gate")), 2)
	b.check(log, 5, 5, "completed")
	job := log.last()[0]
	all := b.rans(job.Name)
	if most := b.most(all); most != 2 || job.Nodes != 8 || len(all) != 5 {
		t.Errorf("%d launches on %d nodes, %d at a time; want 5 on 8, 2", len(all), job.Nodes, most)
	}
	for _, r := range all {
		leaf1 := slices.ContainsFunc(r.hosts, func(h string) bool { return h <= "n4" })
		leaf2 := slices.ContainsFunc(r.hosts, func(h string) bool { return h > "n4" })
		if len(r.hosts) < 8 && leaf1 == leaf2 {
			t.Errorf("a launch on %v, want one switch", r.hosts)
		}
	}
}

// TestSlurmConcurrentInAllocation checks that launches run concurrently on all nodes of an
// allocation.
func TestSlurmConcurrentInAllocation(t *testing.T) {
	testutil.NeedAllCases(t)
	// Orphans of the cluster's daemons are children of this process if an earlier test ran a local job. They do not belong to
	// the job of this test.
	t.Setenv("TUTTI_REAPER", strconv.Itoa(os.Getpid()))
	c := startCluster(t, 4, "")
	b := concurrentBench(t, c, live.ParallelAlways)
	b.opt.ParallelNodes = 0
	environ := filepath.Join(b.dir, "environ")
	id := c.Run("sbatch", "--parsable", "-N4", "--ntasks-per-node=2", "-o/dev/null", "--wrap", "env >"+environ+".new; mv "+environ+".new "+environ+"; sleep 1000")
	waitFor(t, environ, "SLURM_JOB_ID")
	text, err := os.ReadFile(environ)
	if err != nil {
		t.Fatal(err)
	}
	b.opt.Scheduler, err = local.NewAllocation(strings.Split(strings.TrimSpace(string(text)), "\n"))
	if err != nil {
		t.Fatal(err)
	}
	log := b.runGated(batchOf(at(1, 1, "gate"), at(1, 2, "gate"), at(1, 3, "gate"), at(4, 4, "a")), 3)
	c.Run("scancel", id)
	checkDone(t, log, 4, 4)
	jobs := log.last()
	if len(jobs) != 1 || jobs[0].Nodes != 4 || jobs[0].Outcome != coll.JobCompleted {
		t.Fatalf("jobs %+v, want one of 4 nodes", jobs)
	}
	if most := b.most(b.rans(jobs[0].Name)); most != 3 {
		t.Errorf("%d launches at a time, want 3", most)
	}
}

// TestSimulatedNodesNotConcurrent checks that launches run one after another if all nodes are simulated on
// one machine.
func TestSimulatedNodesNotConcurrent(t *testing.T) {
	o := options(t, t.TempDir(), localScheduler(t))
	o.Launcher, o.Parallel, o.ParallelNodes = srun(t, ""), live.ParallelAlways, 8
	planned, err := machine(t, o).Plan(t.Context(), batchOf(at(1, 1, "a"), at(2, 2, "a"), at(2, 3, "a")))
	if err != nil || len(planned) != 2 || strings.Contains(planned[0].Script, "tutti_side") {
		t.Errorf("%d jobs, %v, want one for each number of nodes, its launches one after another", len(planned), err)
	}
}
