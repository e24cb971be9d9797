package live_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/coll"
	"tutti/internal/testutil"
)

// apartNodes is a scheduler that presents this machine as separate nodes. The set-up of the
// job script defines their names.
type apartNodes struct{ benchrunner.Scheduler }

func (s apartNodes) Capacity(ctx context.Context) (benchrunner.Capacity, error) {
	c, err := s.Scheduler.Capacity(ctx)
	c.SeparateNodes = true
	return c, err
}

func concurrentOptions(t *testing.T, nodes string) live.Options {
	o := options(t, t.TempDir(), apartNodes{localScheduler(t)})
	p := o.Program.(fakeProgram)
	p.most, p.allowance = 1, 5*time.Second
	o.Program, o.Parallel = p, live.ParallelAlways
	o.Setup = []string{"scontrol() { printf '%s\\n' " + nodes + "; }; SLURM_JOB_NODELIST=some"}
	return o
}

// hostsOf returns the nodes in the hosts file of each launch. The keys are the numbers of the cases.
func hostsOf(t *testing.T, log *memory, dir string) map[int64]string {
	t.Helper()
	out := map[int64]string{}
	for _, tr := range log.trials {
		launches := testutil.Must(filepath.Glob(filepath.Join(dir, "jobs", tr.Job, "[0-9]*")))(t)
		for _, s := range launches {
			stdout, _ := os.ReadFile(filepath.Join(s, "stdout"))
			if strings.HasPrefix(string(stdout), "case "+itoa(int(tr.MsgBytes))+" ") {
				hosts, err := os.ReadFile(filepath.Join(s, "hosts"))
				if err != nil {
					t.Error(err)
				}
				out[tr.MsgBytes] = strings.TrimSuffix(strings.ReplaceAll(string(hosts), " slots=1\n", "+"), "+")
			}
		}
	}
	return out
}

// TestConcurrentHosts checks on which nodes concurrent launches run. If the switches are known, no switch may have
// two launches at the same time. A launch that spans several switches must get the largest ones first.
func TestConcurrentHosts(t *testing.T) {
	for _, tc := range []struct {
		name     string
		nodes    string
		switches [][]string
		cases    []coll.Candidate
		done     int
		want     map[int64]string // nodes by the number of the case
	}{
		{
			name: "always", nodes: "n1 n2 n3 n4 n5 n6 n7 n8",
			cases: []coll.Candidate{at(4, 1, "slow"), at(2, 2, "slow"), at(1, 3, "slow"), at(1, 4, "slow")}, done: 4,
			want: map[int64]string{1: "n1+n2+n3+n4", 2: "n5+n6", 3: "n7", 4: "n8"},
		},
		{
			name: "switch", nodes: "a1 b1 a2 b2 a3 c1", switches: [][]string{{"a0", "a1.site", "a2", "a3"}, {"b1", "b2", "b3.site"}},
			cases: []coll.Candidate{at(5, 5, "a"), at(3, 1, "slow"), at(2, 2, "slow"), at(1, 3, "slow")}, done: 4,
			want: map[int64]string{5: "a1+a2+a3+b1+b2", 1: "a1+a2+a3", 2: "b1+b2", 3: "a1"},
		},
		{
			name: "names that differ in their domains", nodes: "n1.a n1.b n2 n3.c", switches: [][]string{{"n1.a", "n2.x", "n3.d"}, {"n1.b"}},
			cases: []coll.Candidate{at(3, 1, "slow"), at(1, 2, "slow"), at(2, 3, "slow")}, done: 3,
			want: map[int64]string{1: "n1.a+n2+n1.b", 2: "n1.b", 3: "n1.a+n2"},
		},
		{
			name: "the largest switches first, as planned", nodes: "a1 b1 b2 c1 c2", switches: [][]string{{"a1"}, {"b1", "b2"}, {"c1", "c2"}},
			cases: []coll.Candidate{at(4, 1, "slow"), at(1, 2, "slow")}, done: 2,
			want: map[int64]string{1: "b1+b2+c1+c2", 2: "a1"},
		},
		{
			name: "one that dies leaves the others", nodes: "n1 n2 n3 n4",
			cases: []coll.Candidate{at(1, 1, "slow"), at(1, 2, "crash"), at(1, 3, "slow"), at(1, 4, "nolaunch")}, done: 2,
			want: map[int64]string{1: "n1", 3: "n3"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if !slices.Contains([]string{"always", "switch", "one that dies leaves the others"}, tc.name) {
				testutil.NeedAllCases(t)
			}
			o := concurrentOptions(t, tc.nodes)
			if o.Switches = tc.switches; tc.switches != nil {
				o.Parallel = live.ParallelSwitch
			}
			log := runBatch(t, machine(t, o), batchOf(tc.cases...))
			if done := checkTrials(t, log, len(tc.cases)); done != tc.done {
				t.Errorf("%d of %d measured, want %d", done, len(tc.cases), tc.done)
			}
			if jobs := log.last(); tc.done == len(tc.cases) && len(jobs) != 1 {
				t.Errorf("%d jobs, want one for all launches", len(jobs))
			}
			if got := hostsOf(t, log, o.Dir); !maps.Equal(got, tc.want) {
				t.Errorf("cases ran on %v, want %v", got, tc.want)
			}
		})
	}
}

// TestPlacement checks that each trial records the placement of its ranks as far as it is
// known.
func TestPlacement(t *testing.T) {
	testutil.SkipShort(t)
	o := concurrentOptions(t, "a1 b1 a2 b2 a3 c1")
	o.Parallel, o.Order = live.ParallelSwitch, coll.Cyclic
	o.Switches = [][]string{{"a0", "a1.site", "a2", "a3"}, {"b1", "b2", "b3"}}
	want := map[int64]coll.Placement{
		6: {Order: coll.Cyclic}, // the switch of c1 is unknown
		5: {Order: coll.Cyclic, Switches: 2, Least: 2, Most: 3},
		3: {Order: coll.Cyclic, Switches: 1, Least: 3, Most: 3},
		1: {},
	}
	log := runBatch(t, machine(t, o), batchOf(at(6, 6, "a"), at(5, 5, "a"), at(3, 3, "a"), at(1, 1, "a")))
	got := map[int64]coll.Placement{}
	for _, tr := range log.trials {
		got[tr.MsgBytes] = tr.Placement
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestTooFewNodes checks a job that gets fewer nodes than planned. The job must report this, and another job
// must measure the launches that do not fit.
func TestTooFewNodes(t *testing.T) {
	o := concurrentOptions(t, "n1 n2")
	log := runBatch(t, machine(t, o), batchOf(at(4, 1, "a"), at(2, 2, "a"), at(2, 3, "a")))
	if done := checkTrials(t, log, 3); done != 3 || len(log.last()) != 2 {
		t.Errorf("%d of 3 measured in %d jobs; want the widest in one more", done, len(log.last()))
	}
	said, err := os.ReadFile(filepath.Join(o.Dir, "jobs", log.last()[0].Name, "job.log"))
	if err != nil || !strings.Contains(string(said), "launch 1 needs 4 nodes, the job has 2\n") {
		t.Errorf("the job says %q, %v", said, err)
	}
}

// TestConcurrentScriptGolden compares the script of a job with concurrent launches with its golden
// file.
func TestConcurrentScriptGolden(t *testing.T) {
	o := concurrentOptions(t, "n1 n2")
	o.Dir, o.Setup = "/scratch/tuning", nil
	o.Parallel, o.Switches = live.ParallelSwitch, [][]string{{"n1", "n2"}, {"n3", "n4"}}
	o.Program = words{o.Program.(fakeProgram), benchrunner.Command{Args: []string{"/bin/program", "x y"}}}
	planned, err := machine(t, o).Plan(t.Context(), batchOf(at(2, 1, "a"), at(2, 2, "b")))
	if err != nil || len(planned) != 1 {
		t.Fatalf("%d jobs, %v", len(planned), err)
	}
	testutil.CheckGolden(t, "side.sh", []byte(planned[0].Script))
}
