// Package mpitest builds small MPI programs and runs them under a real MPI library,
// for the tests that show that it obeys. It is imported by tests alone.
//
//	tc := mpitest.Toolchain{Compiler: "mpicc.mpich", Launcher: "mpirun.mpich", Install: "mpich libmpich-dev"}
//	prog := mpitest.Build(t, tc)
//	out := mpitest.Run(t, env, "mpirun.mpich", "-n", "4", prog, "check", "64")
package mpitest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tutti/csource"
	"tutti/csource/test"
)

// Toolchain is what must be installed to build for one library.
type Toolchain struct {
	Compiler string // the library's C compiler wrapper
	Launcher string
	Install  string // packages that bring them, for the message
}

// Require set to 1 in the environment makes a missing library a failure.
const Require = "REQUIRE_MPI"

// Build compiles the program of all collectives and returns its path. The test is
// skipped when the library or its headers are missing, since a wrapper alone proves
// nothing, and under go test -short.
func Build(t *testing.T, tc Toolchain) string {
	t.Helper()
	return BuildProgram(t, tc, test.Collectives)
}

// BuildProgram is Build for any program.
func BuildProgram(t *testing.T, tc Toolchain, p csource.Program) string {
	t.Helper()
	if testing.Short() {
		t.Skip("runs MPI programs")
	}
	_, err := exec.LookPath(tc.Launcher)
	if err == nil {
		var built csource.Built
		if built, err = csource.Build(t.Context(), p, tc.Compiler, filepath.Join(t.TempDir(), p.Name)); err == nil {
			return built.Path
		}
	}
	const message = "%s: %v: needs apt-get install %s"
	if os.Getenv(Require) == "1" {
		t.Fatalf(message, tc.Compiler, err, tc.Install)
	}
	t.Skipf(message, tc.Compiler, err, tc.Install)
	return ""
}

// Run launches the program and returns all it printed; the program may fail. A
// run that takes more than 30 seconds, against one or two, has hung and ends the
// test.
func Run(t *testing.T, env []string, launcher string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, launcher, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir = t.TempDir()
	cmd.WaitDelay = time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s %s: hung: %v\n%s", launcher, strings.Join(args, " "), err, out.String())
	}
	return out.String()
}

// Right fails the test unless every collective of a check was right: 23 lines
// for each count.
func Right(t *testing.T, out string, counts int) {
	t.Helper()
	const tests = 23
	right := 0
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "right ") {
			right++
		}
	}
	if right != tests*counts {
		t.Errorf("%d right results, want %d:\n%s", right, tests*counts, out)
	}
}
