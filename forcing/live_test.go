package forcing_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/coll/catalogue"
	"tutti/forcing"
)

// build compiles testdata/forced.c; the test is skipped without the library.
func build(t *testing.T, compiler, install string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("runs MPI programs")
	}
	prog := filepath.Join(t.TempDir(), "forced")
	text, err := exec.Command(compiler, "-O1", "-o", prog, "testdata/forced.c").CombinedOutput()
	if err == nil {
		return prog
	}
	const message = "%s: %v: needs apt-get install %s"
	if os.Getenv("REQUIRE_MPI") == "1" {
		t.Fatalf(message+"\n%s", compiler, err, install, text)
	}
	t.Skipf(message, compiler, err, install)
	return ""
}

// launch runs a command and returns what it printed; one that takes more than half
// a minute has hung.
func launch(t *testing.T, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = slices.Concat(os.Environ(), env)
	cmd.Dir = t.TempDir()
	cmd.WaitDelay = time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err != nil && ctx.Err() == nil && slices.Contains(args, "mismatch") {
		err = nil // the program leaves without MPI_Finalize; its launcher may take that for a crash
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	return out.String()
}

// installedMPICH builds with MPICH; the test is skipped when its release is not in
// the catalogue.
func installedMPICH(t *testing.T) (string, *catalogue.Catalogue) {
	t.Helper()
	prog := build(t, "mpicc.mpich", "mpich libmpich-dev")
	out, err := exec.Command("mpichversion").Output()
	if err != nil {
		t.Skip("mpichversion: needs apt-get install mpich")
	}
	m := regexp.MustCompile(`(?m)^MPICH Version:\s*(\S+)`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("mpichversion:\n%s", out)
	}
	cat, err := catalogue.For(catalogue.MPICH, string(m[1]))
	if err != nil {
		t.Skip(err)
	}
	return prog, cat
}

// flat returns the default and the algorithms of everything that are no
// compositions: those need files at the start.
func flat(t *testing.T, cat *catalogue.Catalogue) []coll.Candidate {
	t.Helper()
	return slices.DeleteFunc(everything(t, cat), func(c coll.Candidate) bool {
		if c.Algorithm.IsDefault() {
			return false
		}
		e, err := cat.Lookup(c.Collective, c.Algorithm)
		if err != nil {
			t.Fatal(err)
		}
		return e.Composition()
	})
}

func of(t *testing.T, cat *catalogue.Catalogue, c coll.Candidate) forcing.Forcing {
	t.Helper()
	f, err := forcing.Of(cat, c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestLiveMPICHNumbers: the names of the environment and the numbers of the control
// variables mean the same to the library, and all the variables exist as integers.
func TestLiveMPICHNumbers(t *testing.T) {
	prog, cat := installedMPICH(t)
	for _, c := range flat(t, cat) {
		if c.Algorithm.IsDefault() {
			continue
		}
		f := of(t, cat, c)
		args := []string{prog, "read"}
		for _, s := range f.Switches {
			args = append(args, s.Name)
		}
		got := strings.Fields(launch(t, vars(f.Env), args...))
		if d := cmp.Diff(switches(f.Switches), got); d != "" {
			t.Errorf("%v (-switches +library):\n%s", c, d)
		}
	}
}

// groups returns the arguments that make the program write the switches of each
// candidate before its call.
func groups(t *testing.T, cat *catalogue.Catalogue, candidates []coll.Candidate) []string {
	t.Helper()
	var args []string
	for i, c := range candidates {
		if i > 0 {
			args = append(args, "--")
		}
		args = append(args, switches(of(t, cat, c).Switches)...)
	}
	return args
}

func mpich(t *testing.T, base []forcing.Var, prog string, args ...string) string {
	t.Helper()
	env := append([]string{"MPIR_CVAR_NUM_CLIQUES=2"}, vars(base)...)
	return launch(t, env, append([]string{"mpiexec.hydra", "-n", "4", prog}, args...)...)
}

// TestLiveMPICHSwitch: inside one start each group of switches makes the library
// run its algorithm, and the default is the device's choice again, seen in error
// stacks.
func TestLiveMPICHSwitch(t *testing.T) {
	prog, cat := installedMPICH(t)
	names := []string{"library_default", "scatter_ring_allgather", "smp", "library_default", "binomial", "scatter_recursive_doubling_allgather", "library_default"}
	var candidates []coll.Candidate
	for _, name := range names {
		candidates = append(candidates, candidate(t, coll.Bcast, coll.Layout{Nodes: 2, PPN: 2}, 64, name))
	}
	args := append([]string{"call", "mismatch", "64"}, groups(t, cat, candidates)...)
	out := mpich(t, of(t, cat, candidates[0]).Base, prog, args...)
	// The last process has a buffer of 48 bytes: its errors are one for each group.
	var stacks []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "failed ") && strings.Contains(line, "count=48") {
			stacks = append(stacks, line)
		}
	}
	if len(stacks) != len(names) {
		t.Fatalf("%d errors, want %d:\n%s", len(stacks), len(names), out)
	}
	for i, name := range names {
		device := strings.Contains(stacks[i], "MPID_Bcast(")
		if isDefault := name == "library_default"; device != isDefault {
			t.Errorf("%d %s: device took the call: %t\n%s", i, name, device, stacks[i])
		} else if !isDefault && !strings.Contains(stacks[i], "MPIR_Bcast_intra_"+name+"(") {
			t.Errorf("%d: not %s\n%s", i, name, stacks[i])
		}
	}
}

// TestLiveMPICHRuns: all candidates of a collective run one after another inside
// one start; none aborts, whatever it calls itself.
func TestLiveMPICHRuns(t *testing.T) {
	prog, cat := installedMPICH(t)
	all := flat(t, cat)
	for _, c := range coll.Collectives() {
		candidates := slices.DeleteFunc(slices.Clone(all), func(x coll.Candidate) bool { return x.Collective != c })
		args := append([]string{"call", string(c), "4096"}, groups(t, cat, candidates)...)
		out := mpich(t, of(t, cat, candidates[0]).Base, prog, args...)
		if got := strings.Count(out, "called "+string(c)); got != len(candidates) || strings.Contains(out, "failed") {
			t.Errorf("%s: %d of %d candidates ran:\n%s", c, got, len(candidates), out)
		}
	}
}

// TestLiveMPICHRefusal: what cannot run is an error of the library, not a silent
// choice of its own.
func TestLiveMPICHRefusal(t *testing.T) {
	prog, cat := installedMPICH(t)
	c := candidate(t, coll.Allgather, coll.Layout{Nodes: 2, PPN: 2}, 4096, "recursive_doubling")
	args := append([]string{"call", "allgather", "4096"}, groups(t, cat, []coll.Candidate{c})...)
	out := launch(t, vars(of(t, cat, c).Base), append([]string{"mpiexec.hydra", "-n", "3", prog}, args...)...)
	if !strings.Contains(out, "User set collective algorithm is not usable") || strings.Contains(out, "called") {
		t.Errorf("recursive doubling of 3 processes:\n%s", out)
	}
}

// openEnv lets Open MPI run as root on few cores.
var openEnv = []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
	"OMPI_MCA_hwloc_base_binding_policy=none", "OMPI_MCA_mpi_yield_when_idle=1"}

// TestLiveOpenMPINumbers: the settings of a start and the switches inside one mean
// the same to the library.
func TestLiveOpenMPINumbers(t *testing.T) {
	prog := build(t, "mpicc.openmpi", "openmpi-bin libopenmpi-dev")
	cat := release(t, catalogue.OpenMPI, "4.1.4")
	for _, c := range everything(t, cat) {
		if c.Algorithm.IsDefault() {
			continue
		}
		f := of(t, cat, c)
		e, err := cat.Lookup(c.Collective, c.Algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if e.ID%4 != 2 { // some are enough: each start takes half a second
			continue
		}
		args := []string{"mpirun.openmpi", "-n", "1", prog, "read"}
		for _, s := range f.Switches {
			args = append(args, s.Name)
		}
		var got []string
		for line := range strings.Lines(launch(t, slices.Concat(openEnv, vars(f.Env)), args...)) {
			if strings.HasPrefix(line, "coll_tuned_") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if d := cmp.Diff(switches(f.Switches), got); d != "" {
			t.Errorf("%v (-switches +library):\n%s", c, d)
		}
	}
}

// TestLiveOpenMPISwitch: inside one start each group of switches makes the library
// call its algorithm on a new communicator, seen in the log of the dynamic loader:
// the component is bound lazily, so functions are logged when they are first called.
func TestLiveOpenMPISwitch(t *testing.T) {
	prog := build(t, "mpicc.openmpi", "openmpi-bin libopenmpi-dev")
	cat := release(t, catalogue.OpenMPI, "4.1.4")
	tests := []struct {
		collective coll.Collective
		names      []string // in the order of the calls
		functions  []string
	}{
		{coll.Bcast, []string{"knomial", "basic_linear", "chain(faninout=2,segsize=1024)", "binomial(segsize=1024)", "scatter_allgather_ring", "pipeline(segsize=1024)", "split_binary_tree", "binary_tree", "scatter_allgather"},
			[]string{"knomial", "basic_linear", "chain", "binomial", "scatter_allgather_ring", "pipeline", "split_bintree", "bintree", "scatter_allgather"}},
		{coll.Allreduce, []string{"rabenseifner", "segmented_ring(segsize=1024)", "recursive_doubling", "nonoverlapping", "ring"},
			[]string{"redscat_allgather", "ring_segmented", "recursivedoubling", "nonoverlapping", "ring"}},
		{coll.Allgather, []string{"neighbor", "ring", "bruck", "recursive_doubling"}, []string{"neighborexchange", "ring", "bruck", "recursivedoubling"}},
	}
	for _, tc := range tests {
		t.Run(string(tc.collective), func(t *testing.T) {
			var candidates []coll.Candidate
			for _, name := range tc.names {
				candidates = append(candidates, candidate(t, tc.collective, coll.Layout{Nodes: 1, PPN: 4}, 4096, name))
			}
			dir := t.TempDir()
			const script = `[ "$OMPI_COMM_WORLD_RANK" = 0 ] && export LD_DEBUG=bindings LD_DEBUG_OUTPUT="$0/log"; exec "$@"`
			args := slices.Concat([]string{"mpirun.openmpi", "-n", "4", "sh", "-c", script, dir, prog, "call", string(tc.collective), "4096"}, groups(t, cat, candidates))
			out := launch(t, slices.Concat(openEnv, vars(of(t, cat, candidates[0]).Base)), args...)
			if got := strings.Count(out, "called "+string(tc.collective)); got != len(tc.names) {
				t.Errorf("%d of %d calls:\n%s", got, len(tc.names), out)
			}
			if d := cmp.Diff(tc.functions, bound(t, dir, tc.collective)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// bound returns the algorithms of a collective in the order of their first calls.
func bound(t *testing.T, dir string, c coll.Collective) []string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "log*"))
	if err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(fmt.Sprintf(`binding file \S*mca_coll_tuned\.so .*normal symbol .ompi_coll_base_%s_intra_(\w+)'`, c))
	var out []string
	for _, name := range logs {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range form.FindAllSubmatch(text, -1) {
			out = append(out, string(m[1]))
		}
	}
	return out
}
