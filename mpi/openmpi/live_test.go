package openmpi

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

var toolchain = testutil.OpenMPI

func launch(t *testing.T, env []string, n int, args ...string) string {
	t.Helper()
	return testutil.RunProgram(t, env, "mpirun.openmpi", append([]string{"-n", fmt.Sprint(n)}, args...)...)
}

// traced runs a program while the dynamic loader of rank 0 writes a log. It returns the output, and the
// algorithms of the collective in the order of their first calls. The loader binds functions lazily, so the
// log contains only functions that were called.
func traced(t *testing.T, env []string, p coll.Point, args ...string) (out string, called []string) {
	t.Helper()
	dir := t.TempDir()
	const script = `[ "$OMPI_COMM_WORLD_RANK" = 0 ] && export LD_DEBUG=bindings LD_DEBUG_OUTPUT="$0/log"; exec "$@"`
	out = launch(t, env, p.Ranks(), append([]string{"sh", "-c", script, dir}, args...)...)
	logs := testutil.Must(filepath.Glob(filepath.Join(dir, "log*")))(t)
	form := regexp.MustCompile(`binding file \S*mca_coll_tuned\.so .*normal symbol .ompi_coll_base_` + string(p.Collective) + `_intra_(\w+)'`)
	for _, name := range logs {
		text := testutil.Must(os.ReadFile(name))(t)
		for _, m := range form.FindAllSubmatch(text, -1) {
			called = append(called, string(m[1]))
		}
	}
	return out, called
}

// algorithmsOf returns the algorithms that a call of a collective runs. It fails the test if a result is
// wrong.
func algorithmsOf(t *testing.T, env []string, p coll.Point, prog string) string {
	t.Helper()
	out, called := traced(t, env, p, prog, "call", fmt.Sprint(p.MsgBytes), string(p.Collective))
	if !testutil.AllRight(out) {
		t.Fatalf("%v: no right result:\n%s", p, out)
	}
	return strings.Join(called, " ")
}

// TestLiveSelection checks that the library calls the algorithms that the rules select. The log of the
// dynamic loader shows these calls.
func TestLiveSelection(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)
	// functions maps the name of an algorithm in rules to a part of its function's name.
	functions := map[string]string{
		"basic_linear": "basic_linear", "chain": "chain", "pipeline": "pipeline", "binomial": "binomial", "linear": "linear",
		"bruck": "bruck", "ring": "ring", "pairwise": "pairwise", "modified_bruck": "bruck", "linear_sync": "linear_sync",
	}
	choices := map[coll.Collective][]string{
		coll.Bcast:     {"basic_linear", "chain", "pipeline", "binomial"},
		coll.Allgather: {"bruck", "ring"},
		coll.Alltoall:  {"pairwise", "modified_bruck", "linear_sync"},
	}
	var rows []selection.Row
	for _, c := range coll.Collectives() {
		for i, n := range []int{3, 5, 6, 8} {
			for k, size := range []int64{64, 16384} {
				names := choices[c]
				if len(names) == 0 {
					continue
				}
				r := selection.Row{Point: coll.Point{Collective: c, Nodes: 1, PPN: n, MsgBytes: size}}
				best := coll.Algorithm{Name: names[(i+k)%len(names)]}
				r.Options = []selection.Option{{Algorithm: best, Seconds: 1}, {Algorithm: coll.Default, Seconds: 2}}
				rows = append(rows, r)
			}
		}
	}
	b := build{release(t, "4.1.4")}
	sel, _ := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{})
	env := mpilibrarytest.Sourced(t, b, sel)
	step := 3 // a sample of the rows
	if !testutil.AllCases() {
		step = 8
	}
	for i, r := range rows {
		if i%step != 1 {
			continue
		}
		want := functions[r.Options[0].Algorithm.Name]
		got := algorithmsOf(t, env, r.Point, prog)
		t.Logf("%v: %s", r.Point, got)
		if got != want {
			t.Errorf("%v: called %q, want %q", r.Point, got, want)
		}
	}
	// For fewer ranks than in the first block of the rules file, the library must select the same algorithm as
	// without rules.
	below := coll.Point{Collective: coll.Bcast, Nodes: 1, PPN: 2, MsgBytes: 64}
	if with, without := algorithmsOf(t, env, below, prog), algorithmsOf(t, nil, below, prog); with != without {
		t.Errorf("%v: called %q, without rules %q", below, with, without)
	}
}

// canary holds rules that select an algorithm whose number does not exist. If Open MPI reads these rules, it
// reports an error.
var canary = classicRules{{Collective: coll.Bcast, Blocks: []classicBlock{{Ranks: 1, Rules: []rule{{Algorithm: 99}}}}}}

// put writes rules of 4.1.4 into a folder whose name needs quoting in a shell.
func put(t *testing.T, rules bundle) (dir string, x mpi.Export) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "it's $HOME")
	testutil.NoError(t, os.Mkdir(dir, 0o755))
	x = build{release(t, "4.1.4")}.files(rules, dir)
	testutil.NoError(t, x.Write(dir))
	return dir, x
}

// TestLiveCanary checks that the library reads the rules file. Without the setting dynamicRules it must not
// read the file.
func TestLiveCanary(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)
	_, x := put(t, bundle{rules: canary})
	var env []string
	for _, s := range x.Setup.Settings {
		env = append(env, s.Name+"="+s.Value)
	}
	args := []string{prog, "name", "64"} // returns errors and prints them
	if out := launch(t, env, 3, args...); !strings.Contains(out, "MPI_ERR_ARG") {
		t.Errorf("the file was not read:\n%s", out)
	}
	if out := launch(t, env[1:], 3, args...); strings.Contains(out, "MPI_ERR_ARG") || !strings.Contains(out, "MPI_ERR_TRUNCATE") {
		t.Errorf("without the setting:\n%s", out)
	}
}

// TestLiveStock checks that the library without rules gives a correct result in every call.
func TestLiveStock(t *testing.T) {
	testutil.NeedAllCases(t)
	prog := testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)
	for _, count := range []string{"0", "1", "600", "3000"} {
		testutil.CheckAllRight(t, launch(t, nil, 6, prog, "check", count))
	}
}

// TestLiveGaps checks that the algorithm ring crashes for types with gaps. If it does not crash, the
// release has fixed this fault, and ring is unsafe only for operations that do not commute.
func TestLiveGaps(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)
	c := mpilibrarytest.Candidate(t, coll.Allreduce, coll.Layout{Nodes: 1, PPN: 4}, 4096, "ring")
	env := mpilibrarytest.Vars(mpilibrarytest.Force(t, Library, release(t, "4.1.4"), c).Env)
	// The C library checks the memory after a buffer when the program frees it. Without this check a crash
	// depends on chance.
	env = append(env, "LD_PRELOAD=libc_malloc_debug.so.0", "MALLOC_CHECK_=3")
	out := launch(t, env, 4, prog, "check", "600", "allreduce")
	tries := regexp.MustCompile(`(?m)^try .*$`).FindAllString(out, -1)
	if len(tries) == 0 || !strings.HasSuffix(tries[len(tries)-1], "derived type, own operation") {
		t.Errorf("want it to die of a call with a derived type:\n%s", out)
	}
}

// TestLiveEveryAlgorithm makes each algorithm of every collective the fastest in turn. Every call must give a
// correct result with the exported rules.
func TestLiveEveryAlgorithm(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)
	b := build{release(t, "4.1.4")}
	for turn := 0; ; turn++ {
		rows, collectives := mpilibrarytest.Turn(b.cat, coll.Layout{Nodes: 1, PPN: 4}, turn, 4096, 65536)
		if len(rows) == 0 {
			break
		}
		if !testutil.AllCases() {
			if collectives = []string{"bcast"}; turn != 3 { // chain with segments of 8 KiB
				continue
			}
		}
		sel, _ := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{OpSafe: true})
		args := append([]string{prog, "check", "30000"}, collectives...)
		testutil.CheckAllRight(t, launch(t, mpilibrarytest.Sourced(t, b, sel), 4, args...))
	}
}

// TestLiveResults checks random safe rules of every collective on several numbers of ranks. Every call must
// give a correct result.
func TestLiveResults(t *testing.T) {
	testutil.NeedAllCases(t)
	prog := testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)
	b := build{release(t, "4.1.4")}
	for i, n := range []int{2, 3, 5, 6, 8} {
		sel := testutil.Must(mpi.Merge(b, mpilibrarytest.Rows(b.cat, uint64(i), 0), mpi.MergeOptions{MaxLoss: 0.1, OpSafe: true}))(t)
		testutil.CheckAllRight(t, launch(t, mpilibrarytest.Sourced(t, b, sel), n, prog, "check", []string{"1", "600", "3000"}[i%3]))
	}
}

// TestLiveIgnoredArguments checks that calls with null for an ignored argument work with rules, even if the
// best algorithm changes with the message size.
func TestLiveIgnoredArguments(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)
	b := build{release(t, "4.1.4")}
	for _, factor := range []float64{1.5, 2.5} {
		rows := slices.Concat(
			crossing(coll.Gather, "binomial", "basic_linear", factor), crossing(coll.Scatter, "basic_linear", "binomial", factor),
			crossing(coll.Allgatherv, "bruck", "ring", factor), crossing(coll.Allgather, "bruck", "ring", factor))
		sel, _ := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{MaxLoss: 0.01})
		env := mpilibrarytest.Sourced(t, b, sel)
		testutil.CheckAllRight(t, launch(t, env, 4, prog, "check", "16384", "gather", "scatter", "allgatherv", "allgather"))
	}
}

// TestLiveLayout checks that a job that sources the snippet gets the rules of its layout.
func TestLiveLayout(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)
	dir, x := put(t, bundle{layouts: []layoutRules{{coll.Layout{Nodes: 1, PPN: 3}, canary}}})
	run := func(slurm ...string) string {
		env := append([]string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}, slurm...)
		// The snippet reads Slurm's variables. The script then unsets these variables, because mpirun would
		// look for the job that they name.
		const script = `. "$0"; unset SLURM_JOB_NUM_NODES SLURM_TASKS_PER_NODE; exec mpirun.openmpi --oversubscribe -n 3 "$@"`
		return testutil.RunProgram(t, env, "sh", "-euc", script, filepath.Join(dir, x.Snippet), prog, "name", "64")
	}
	if out := run("SLURM_JOB_NUM_NODES=1", "SLURM_TASKS_PER_NODE=3"); !strings.Contains(out, "MPI_ERR_ARG") {
		t.Errorf("the layout's file was not read:\n%s", out)
	}
	for _, other := range [][]string{nil, {"SLURM_JOB_NUM_NODES=1", "SLURM_TASKS_PER_NODE=4"}} {
		if out := run(other...); strings.Contains(out, "MPI_ERR_ARG") || !strings.Contains(out, "MPI_ERR_TRUNCATE") {
			t.Errorf("%v: the layout's file was read:\n%s", other, out)
		}
	}
}
