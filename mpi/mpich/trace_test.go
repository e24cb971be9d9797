package mpich

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tutti/internal/testutil"
)

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
