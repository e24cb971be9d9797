package mpitest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tutti/csource/test"
)

// tracer prints between the calls of the program before and after what it tests.
const tracer = `
#include <stdio.h>
#include <stdlib.h>
#include <mpi.h>
static int on;
int __real_MPI_Type_commit(MPI_Datatype *t);
int __real_MPI_Op_free(MPI_Op *o);
int __wrap_MPI_Type_commit(MPI_Datatype *t) { on = 1; return __real_MPI_Type_commit(t); }
int __wrap_MPI_Op_free(MPI_Op *o) { on = 0; return __real_MPI_Op_free(o); }
void tutti_ran(const char *name) {
  char line[200];
  const char *rank = getenv("PMI_RANK");
  if (!on) return;
  snprintf(line, sizeof line, "ran %s %s\n", rank ? rank : "?", name);
  fputs(line, stdout);
  fflush(stdout);
}
`

// trampoline reports a function and goes on to it with all registers as they were.
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

// BuildTraced links the program with an MPICH that keeps its symbols, libmpich.a,
// so that it prints a line "ran RANK FUNCTION" whenever one of the functions is
// entered. The test is skipped when that cannot be built.
func BuildTraced(t *testing.T, functions []string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("runs MPI programs")
	}
	dir := t.TempDir()
	asm := ".text\n"
	if _, err := test.Collectives.Unpack(dir, ""); err != nil {
		t.Fatal(err)
	}
	link := "-Wl,--wrap=MPI_Type_commit\n-Wl,--wrap=MPI_Op_free\n"
	for _, f := range functions {
		asm += fmt.Sprintf(trampoline, f)
		link += "-Wl,--wrap=" + f + "\n"
	}
	asm += ".section .note.GNU-stack,\"\",@progbits\n"
	for name, text := range map[string]string{"tracer.c": tracer, "wrap.S": asm, "wrap.opt": link} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := `set -e; show=$(mpicc.mpich -show); include=$(printf '%s\n' $show | grep ^-I); lib=$(printf '%s\n' $show | sed -n 's/^-L//p')
exec gcc -O1 $include -o traced collectives.c tracer.c wrap.S @wrap.opt $lib/libmpich.a -lpthread -lhwloc -lucp -lucs -lm -lrt -ldl`
	cmd := exec.Command("sh", "-c", build)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	prog := filepath.Join(dir, "traced")
	if err == nil {
		return prog
	}
	const message = "libmpich.a: %v: needs apt-get install mpich libmpich-dev on amd64"
	if os.Getenv(Require) == "1" {
		t.Fatalf(message+"\n%s", err, out)
	}
	t.Skipf(message, err)
	return ""
}

// Ran returns what one rank entered, in order.
func Ran(out string, rank int) []string {
	var names []string
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(line, fmt.Sprintf("ran %d ", rank)); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}
