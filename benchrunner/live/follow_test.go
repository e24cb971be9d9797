package live

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

// naps is a program whose launches (runs) end long before their time limits.
type naps struct{ sized }

func (naps) Name() string { return "naps" }

func (naps) Command(s benchrunner.Launch) (benchrunner.Command, error) {
	return benchrunner.Command{Args: []string{"sleep", fmt.Sprintf("0.0%d", s.Cases[0].MsgBytes%10)}}, nil
}

// placing is a launcher that runs the program directly and adds no arguments.
type placing struct{}

func (placing) Name() string                                                   { return "placing" }
func (placing) HostSuffix(coll.Layout) string                                  { return "" }
func (placing) Args(_ coll.Layout, cmd benchrunner.Command, _ string) []string { return cmd.Args }

// TestScriptFollowsPlan runs the script of a job. Each launch of the program must run on the planned groups of
// nodes, after the launches that the plan names. A launch that does not fit into its groups, because the job got
// nodes of other switches than planned, must run alone.
func TestScriptFollowsPlan(t *testing.T) {
	testutil.SkipShort(t)
	rng := rand.New(rand.NewPCG(7, 8))
	ways := []string{"any", "planned", "otherwise", "any", "planned", "otherwise", "planned", "otherwise"}
	if !testutil.AllCases() {
		ways = ways[1:3]
	}
	for i, wired := range ways {
		t.Run(fmt.Sprint(i, wired), func(t *testing.T) {
			s := sharing{nodes: 4 + rng.IntN(6), allocated: true}
			cluster := make([]string, 2*s.nodes)
			for n := range cluster {
				cluster[n] = fmt.Sprintf("n%02d", n)
			}
			if wired == "otherwise" {
				rng.Shuffle(len(cluster), func(a, b int) { cluster[a], cluster[b] = cluster[b], cluster[a] })
			}
			hosts := slices.Clone(cluster[:s.nodes])
			slices.Sort(cluster)
			groups := slices.Collect(slices.Chunk(hosts, 1))
			if wired != "any" {
				s.switches = slices.Collect(slices.Chunk(cluster, 2+rng.IntN(3)))
				groups = grouped(hosts, s.switches)
			}
			var cases []requestedCase
			for n := range 2 + rng.IntN(10) {
				cases = append(cases, caseAt(n, 1+rng.IntN(s.nodes), int64(1+rng.IntN(100)), "a"))
			}
			p := planner{program: naps{sized{most: 1}}, launchTime: time.Second, dir: "/check", sharing: s}
			planJobs, rejected, err := p.plan(cases)
			if err != nil || len(rejected) > 0 {
				t.Fatal(err, rejected)
			}
			m := &Machine{opt: Options{
				Dir: t.TempDir(), Program: p.program, Launcher: placing{},
				Setup: []string{"scontrol() { printf '%s\\n' " + strings.Join(hosts, " ") + "; }; SLURM_JOB_NODELIST=some"},
			}}
			for k, d := range planJobs {
				if runsConcurrently(d.launches, d.nodes) {
					follow(t, m, d, fmt.Sprint("job", k), groups)
				}
			}
		})
	}
}

// grouped groups the hosts of a job by switch. The switch with the most hosts comes first.
func grouped(hosts []string, switches [][]string) [][]string {
	var out [][]string
	for _, names := range switches {
		var here []string
		for _, h := range hosts {
			if slices.Contains(names, h) {
				here = append(here, h)
			}
		}
		out = append(out, here)
	}
	slices.SortStableFunc(out, func(a, b []string) int { return cmp.Compare(len(b), len(a)) })
	return out
}

type launchRun struct {
	hosts      []string
	begin, end float64
}

// runScript runs the script of a planned job. It returns what it found about each launch.
func runScript(t *testing.T, m *Machine, d plannedJob, name string) []launchRun {
	t.Helper()
	j := testutil.Must(m.render(d, name))(t)
	dir := m.jobDir(name)
	testutil.NoError(t, makeFolder(dir, j))
	if out, err := exec.Command("bash", filepath.Join(dir, "job.sh")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out := make([]launchRun, len(d.launches))
	for i := range out {
		left := folder{dir: filepath.Join(dir, launchDir(i))}
		end, ok := left.fields("end")
		out[i] = launchRun{strings.Fields(string(left.text("hosts"))), end.seconds("begin"), end.seconds("end")}
		if left.err != nil || !ok {
			t.Fatalf("launch %d: %v, it has ended: %t", i, left.err, ok)
		}
	}
	return out
}

// follow runs the script of a job on groups of nodes and checks that its launches ran as
// planned.
func follow(t *testing.T, m *Machine, d plannedJob, name string, groups [][]string) {
	t.Helper()
	ran := runScript(t, m, d, name)
	for i, at := range d.places {
		nodes := d.launches[i].Layout.Nodes
		var want []string
		for _, g := range at.Groups {
			want = append(want, groups[g]...)
		}
		if len(want) < nodes {
			want = slices.Concat(groups...)
			for k, other := range ran {
				if k != i && other.begin < ran[i].end && ran[i].begin < other.end {
					t.Errorf("launch %d of %+v ran together with launch %d, want it alone", i, d.places, k)
				}
			}
		}
		if !slices.Equal(ran[i].hosts, want[:nodes]) {
			t.Errorf("launch %d of %+v ran on %v, want %v", i, d.places, ran[i].hosts, want[:nodes])
		}
		for _, before := range at.After {
			if ran[i].begin < ran[before].end {
				t.Errorf("launch %d of %+v began before launch %d had ended", i, d.places, before)
			}
		}
	}
}
