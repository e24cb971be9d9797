package live_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/coll"
	"tutti/internal/test/golden"
)

// apartNodes takes this machine for several: what a job script asks for its nodes is
// answered by its set-up.
type apartNodes struct{ benchrunner.Scheduler }

func (s apartNodes) Capacity(ctx context.Context) (benchrunner.Capacity, error) {
	c, err := s.Scheduler.Capacity(ctx)
	c.Apart = true
	return c, err
}

// placingLauncher is fakeLauncher with a file of nodes.
type placingLauncher struct{ fakeLauncher }

func (placingLauncher) On(file string, _ coll.Layout, cmd benchrunner.Command) ([]string, string, error) {
	return append([]string{"env", "HOSTS=" + file}, cmd.Args...), " slots=1", nil
}

func sideOptions(t *testing.T, nodes string) live.Options {
	o := options(t, t.TempDir(), apartNodes{localScheduler(t)})
	p := o.Program.(fakeProgram)
	p.most, p.allowance = 1, 5*time.Second
	o.Program, o.Launcher, o.Parallel = p, placingLauncher{}, live.ParallelAlways
	o.Setup = []string{"scontrol() { printf '%s\\n' " + nodes + "; }; SLURM_JOB_NODELIST=some"}
	return o
}

// hostsOf returns the nodes that each start was told, by the number of its case.
func hostsOf(t *testing.T, log *memory, dir string) map[int64]string {
	t.Helper()
	out := map[int64]string{}
	for _, tr := range log.trials {
		starts, err := filepath.Glob(filepath.Join(dir, "jobs", tr.Job, "[0-9]*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range starts {
			stdout, _ := os.ReadFile(filepath.Join(s, "stdout"))
			if strings.HasPrefix(string(stdout), "case "+itoa(int(tr.MsgBytes))+" ") {
				hosts, err := os.ReadFile(filepath.Join(s, "hosts"))
				if err != nil {
					t.Error(err)
				}
				out[tr.MsgBytes] = strings.ReplaceAll(strings.TrimSuffix(string(hosts), "\n"), " slots=1\n", "+")
			}
		}
	}
	return out
}

// A job script deals its nodes: whole switches of their own, several when none is
// large enough, and what no line of the switches names together.
func TestSideScript(t *testing.T) {
	t.Run("always", func(t *testing.T) {
		o := sideOptions(t, "n1 n2 n3 n4 n5 n6 n7 n8")
		log := runBatch(t, machine(t, o), batchOf(at(4, 1, "slow"), at(2, 2, "slow"), at(1, 3, "slow"), at(1, 4, "slow")))
		if done := checkTrials(t, log, 4); done != 4 {
			t.Errorf("%d of 4 measured", done)
		}
		want := map[int64]string{1: "n1+n2+n3+n4 slots=1", 2: "n5+n6 slots=1", 3: "n7 slots=1", 4: "n8 slots=1"}
		for n, got := range hostsOf(t, log, o.Dir) {
			if got != want[n] {
				t.Errorf("case %d ran on %s, want %s", n, got, want[n])
			}
		}
		if jobs := log.last(); len(jobs) != 1 || jobs[0].Nodes != 8 {
			t.Errorf("jobs %+v, want one of 8 nodes", jobs)
		}
	})
	t.Run("switch", func(t *testing.T) {
		o := sideOptions(t, "a1 b1 a2 b2 a3 c1")
		o.Parallel, o.Switches = live.ParallelSwitch, [][]string{{"a0", "a1", "a2", "a3"}, {"b1", "b2", "b3"}}
		log := runBatch(t, machine(t, o), batchOf(at(5, 5, "a"), at(3, 1, "slow"), at(2, 2, "slow"), at(1, 3, "slow")))
		if done := checkTrials(t, log, 4); done != 4 {
			t.Errorf("%d of 4 measured", done)
		}
		want := map[int64]string{5: "a1+a2+a3+b1+b2 slots=1", 1: "a1+a2+a3 slots=1", 2: "b1+b2 slots=1", 3: "a1 slots=1"}
		for n, got := range hostsOf(t, log, o.Dir) {
			if got != want[n] {
				t.Errorf("case %d ran on %s, want %s", n, got, want[n])
			}
		}
	})
	t.Run("the largest switches first, as planned", func(t *testing.T) {
		o := sideOptions(t, "a1 b1 b2 c1 c2")
		o.Parallel, o.Switches = live.ParallelSwitch, [][]string{{"a1"}, {"b1", "b2"}, {"c1", "c2"}}
		log := runBatch(t, machine(t, o), batchOf(at(4, 1, "slow"), at(1, 2, "slow")))
		if done := checkTrials(t, log, 2); done != 2 {
			t.Errorf("%d of 2 measured", done)
		}
		want := map[int64]string{1: "b1+b2+c1+c2 slots=1", 2: "a1 slots=1"}
		if got := hostsOf(t, log, o.Dir); !maps.Equal(got, want) {
			t.Errorf("cases ran on %v, want %v", got, want)
		}
	})
	t.Run("fewer nodes than planned", func(t *testing.T) {
		o := sideOptions(t, "n1 n2")
		log := runBatch(t, machine(t, o), batchOf(at(4, 1, "a"), at(2, 2, "a"), at(2, 3, "a")))
		if done := checkTrials(t, log, 3); done != 3 || len(log.last()) != 2 {
			t.Errorf("%d of 3 measured in %d jobs; want the widest in one more", done, len(log.last()))
		}
		said, err := os.ReadFile(filepath.Join(o.Dir, "jobs", log.last()[0].Name, "job.log"))
		if err != nil || !strings.Contains(string(said), "start 1 needs 4 nodes, the job has 2\n") {
			t.Errorf("the job says %q, %v", said, err)
		}
	})
	t.Run("one that dies leaves the others", func(t *testing.T) {
		o := sideOptions(t, "n1 n2 n3 n4")
		log := runBatch(t, machine(t, o), batchOf(at(1, 1, "slow"), at(1, 2, "crash"), at(1, 3, "slow"), at(1, 4, "nolaunch")))
		if done := checkTrials(t, log, 4); done != 2 {
			t.Errorf("%d of 4 measured, want 2", done)
		}
	})
}

// The script of a job with starts side by side.
func TestSideScriptGolden(t *testing.T) {
	o := sideOptions(t, "n1 n2")
	o.Dir, o.Setup = "/scratch/tuning", nil
	o.Parallel, o.Switches = live.ParallelSwitch, [][]string{{"n1", "n2"}, {"n3", "n4"}}
	o.Program = words{o.Program.(fakeProgram), benchrunner.Command{Args: []string{"/bin/program", "x y"}}}
	planned, err := machine(t, o).Plan(t.Context(), batchOf(at(2, 1, "a"), at(2, 2, "b")))
	if err != nil || len(planned) != 1 {
		t.Fatalf("%d jobs, %v", len(planned), err)
	}
	golden.Check(t, "side.sh", []byte(planned[0].Script))
}

func TestSideOptions(t *testing.T) {
	for _, tc := range []struct {
		change func(*live.Options)
		want   string
	}{
		{func(o *live.Options) { o.Parallel = "often" }, "want one of never, switch, always"},
		{func(o *live.Options) { o.Launcher = fakeLauncher{} }, "launcher fake cannot be told its nodes"},
		{func(o *live.Options) { o.ParallelNodes = -1 }, "parallel: -1 nodes"},
		{func(o *live.Options) { o.Switches = [][]string{{"n1"}, {"n2", "n1"}} }, `node "n1": want letters, digits and ._-, and each node once`},
	} {
		o := sideOptions(t, "n1")
		tc.change(&o)
		if _, err := live.New(o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("New = %v, want %q", err, tc.want)
		}
	}
}
