package mpich

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
)

// flat returns a candidate for the default and one for each algorithm. It omits compositions (plans of the
// ch4 device), because they need files when MPI starts.
func flat(t *testing.T, cat *mpi.Catalogue) []coll.Candidate {
	t.Helper()
	return slices.DeleteFunc(mpilibrarytest.Everything(t, cat, coll.Layout{Nodes: 2, PPN: 2}), func(c coll.Candidate) bool {
		if c.Algorithm.IsDefault() {
			return false
		}
		e := testutil.Must(cat.Lookup(c.Collective, c.Algorithm))(t)
		return composes(e)
	})
}

// TestLiveNumbers checks that the text of a variable in the environment and its number in MPI_T select the
// same algorithm. All variables must exist as integers.
func TestLiveNumbers(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.ForcedProgram)
	cat := installed(t, prog).cat
	for i, c := range flat(t, cat) {
		if c.Algorithm.IsDefault() || i%16 > 0 && !testutil.AllCases() { // some are enough: each starts a process
			continue
		}
		f := mpilibrarytest.Force(t, Library, cat, c)
		args := []string{"read"}
		for _, s := range f.Switches {
			args = append(args, s.Name)
		}
		got := strings.Fields(testutil.RunProgram(t, mpilibrarytest.Vars(f.Env), prog, args...))
		if d := cmp.Diff(mpilibrarytest.Switches(f.Switches), got); d != "" {
			t.Errorf("%v (-switches +library):\n%s", c, d)
		}
	}
}

// together runs the program with four ranks on two simulated nodes, two on each.
func together(t *testing.T, base []mpi.Var, prog string, args ...string) string {
	t.Helper()
	env := append([]string{"MPIR_CVAR_NUM_CLIQUES=2"}, mpilibrarytest.Vars(base)...)
	return testutil.RunProgram(t, env, "mpiexec.hydra", append([]string{"-n", "4", prog}, args...)...)
}

// TestLiveSwitch checks that each group of switches (control variables with values) makes the library run its
// algorithm within one launch. With the default, the device must select again. The test provokes errors, whose
// stacks name the algorithm.
func TestLiveSwitch(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.ForcedProgram)
	cat := installed(t, prog).cat
	names := []string{"library_default", "scatter_ring_allgather", "smp", "library_default", "binomial", "scatter_recursive_doubling_allgather", "library_default"}
	var candidates []coll.Candidate
	for _, name := range names {
		candidates = append(candidates, mpilibrarytest.Candidate(t, coll.Bcast, coll.Layout{Nodes: 2, PPN: 2}, 64, name))
	}
	args := append([]string{"call", "mismatch", "64"}, mpilibrarytest.Groups(t, Library, cat, candidates)...)
	out := together(t, mpilibrarytest.Force(t, Library, cat, candidates[0]).Base, prog, args...)
	// The last rank's buffer of 48 bytes is too short for every call. This rank prints one error for each group.
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

// TestLiveRuns checks that all candidates of a collective run one after another in one launch. No candidate
// may abort the program, whatever other collectives its algorithm calls.
func TestLiveRuns(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.ForcedProgram)
	cat := installed(t, prog).cat
	all := flat(t, cat)
	for i, c := range coll.Collectives() {
		if i%8 > 0 && !testutil.AllCases() {
			continue
		}
		candidates := slices.DeleteFunc(slices.Clone(all), func(x coll.Candidate) bool { return x.Collective != c })
		args := append([]string{"call", string(c), "4096"}, mpilibrarytest.Groups(t, Library, cat, candidates)...)
		out := together(t, mpilibrarytest.Force(t, Library, cat, candidates[0]).Base, prog, args...)
		if got := strings.Count(out, "called "+string(c)); got != len(candidates) || strings.Contains(out, "failed") {
			t.Errorf("%s: %d of %d candidates ran:\n%s", c, got, len(candidates), out)
		}
	}
}

// TestLiveRefusal checks that the library reports an error for an algorithm that cannot run, and does not
// select another one silently.
func TestLiveRefusal(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.ForcedProgram)
	cat := installed(t, prog).cat
	c := mpilibrarytest.Candidate(t, coll.Allgather, coll.Layout{Nodes: 2, PPN: 2}, 4096, "recursive_doubling")
	args := append([]string{"call", "allgather", "4096"}, mpilibrarytest.Groups(t, Library, cat, []coll.Candidate{c})...)
	out := testutil.RunProgram(t, mpilibrarytest.Vars(mpilibrarytest.Force(t, Library, cat, c).Base), "mpiexec.hydra", append([]string{"-n", "3", prog}, args...)...)
	if !strings.Contains(out, "User set collective algorithm is not usable") || strings.Contains(out, "called") {
		t.Errorf("recursive doubling of 3 ranks:\n%s", out)
	}
}

// tracer is C source that defines the function tutti_ran. Whenever the program enters another function
// during a tested call, tutti_ran prints the name of that function.
const tracer = `
#include <stdio.h>
#include <stdlib.h>
static int on;
int __real_workload_call(const void *w);
int __wrap_workload_call(const void *w) {
  on = 1;
  int error = __real_workload_call(w);
  on = 0;
  return error;
}
void tutti_ran(const char *name) {
  char line[200];
  const char *rank = getenv("PMI_RANK");
  if (!on) return;
  snprintf(line, sizeof line, "ran %s %s\n", rank ? rank : "?", name);
  fputs(line, stdout);
  fflush(stdout);
}
`

// trampoline is assembly code that runs before a traced function. It calls tutti_ran with the function's
// name, restores all registers, and jumps to the function.
const trampoline = `
.globl __wrap_%[1]s
__wrap_%[1]s:
  push %%rdi; push %%rsi; push %%rdx; push %%rcx; push %%r8; push %%r9; push %%rax
  lea .Lname_%[1]s(%%rip), %%rdi
  call tutti_ran
  pop %%rax; pop %%r9; pop %%r8; pop %%rcx; pop %%rdx; pop %%rsi; pop %%rdi
  jmp __real_%[1]s
.Lname_%[1]s: .asciz "%[1]s"
`

// buildTraced links the test program with MPICH's static library, whose functions can be wrapped. Whenever
// the program enters one of the given functions, it prints a line "ran RANK FUNCTION". The test is skipped
// where the program cannot be built.
func buildTraced(t *testing.T, functions []string) string {
	t.Helper()
	testutil.SkipShort(t)
	dir := t.TempDir()
	asm := ".text\n"
	args := testutil.Must(testutil.CollectivesProgram.Unpack(dir, "traced"))(t)
	link := "-Wl,--wrap=workload_call\n"
	for _, f := range functions {
		asm += fmt.Sprintf(trampoline, f)
		link += "-Wl,--wrap=" + f + "\n"
	}
	asm += ".section .note.GNU-stack,\"\",@progbits\n"
	for name, text := range map[string]string{"tracer.c": tracer, "wrap.S": asm, "wrap.opt": link} {
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	build := `set -e; show=$(mpicc.mpich -show); include=$(printf '%s\n' $show | grep ^-I); lib=$(printf '%s\n' $show | sed -n 's/^-L//p')
exec gcc $include "$@" tracer.c wrap.S @wrap.opt $lib/libmpich.a -lpthread -lhwloc -lucp -lucs -lm -lrt -ldl`
	cmd := exec.Command("sh", append([]string{"-c", build, "sh"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	prog := filepath.Join(dir, "traced")
	if err == nil {
		return prog
	}
	testutil.NeedMPI.Missing(t, "libmpich.a: %v: needs apt-get install mpich libmpich-dev on amd64\n%s", err, out)
	return ""
}

// enteredFunctions reads the output of a traced program. It returns the functions that one rank entered, in
// the order of entry.
func enteredFunctions(out string, rank int) []string {
	var names []string
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(line, fmt.Sprintf("ran %d ", rank)); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}
