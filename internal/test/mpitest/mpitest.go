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
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tutti/csource"
	"tutti/csource/test"
	"tutti/internal/test/need"
	"tutti/internal/test/patience"
)

// Toolchain is what must be installed to build for one library.
type Toolchain struct {
	Compiler string // the library's C compiler wrapper
	Launcher string
	Install  string // packages that bring them, for the message
}

// Build returns the path of the program of all collectives, compiled once for all tests of
// a package. The test is skipped when the library or its headers are missing, since a
// wrapper alone proves nothing, and under go test -short.
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
	path := filepath.Join(t.TempDir(), p.Name)
	binary, err := compile(t.Context(), tc, p)
	if err == nil {
		err = os.WriteFile(path, binary, 0o755)
	}
	if err == nil {
		return path
	}
	need.MPI.Missing(t, "%s: %v: needs apt-get install %s", tc.Compiler, err, tc.Install)
	return ""
}

// compiled are the programs that tests of this process have built, by compiler and name.
var compiled = struct {
	sync.Mutex
	binaries map[[2]string][]byte
}{binaries: map[[2]string][]byte{}}

// compile returns a program as bytes: what a test builds lies in its own folder.
func compile(ctx context.Context, tc Toolchain, p csource.Program) ([]byte, error) {
	compiled.Lock()
	defer compiled.Unlock()
	key := [2]string{tc.Compiler, p.Name}
	if binary, ok := compiled.binaries[key]; ok {
		return binary, nil
	}
	if _, err := exec.LookPath(tc.Launcher); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "tutti-mpitest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	built, err := csource.Build(ctx, p, tc.Compiler, filepath.Join(dir, p.Name))
	if err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(built.Path)
	if err == nil {
		compiled.binaries[key] = binary
	}
	return binary, err
}

// BuildWithRuntime compiles testdata/NAME.c of the test together with the files of the
// library inside applications, with more flags, and returns the path of the program.
func BuildWithRuntime(t *testing.T, name string, flags ...string) string {
	t.Helper()
	mpich := Toolchain{Compiler: "mpicc.mpich", Launcher: "mpiexec.hydra", Install: "mpich libmpich-dev"}
	BuildProgram(t, mpich, csource.Pair) // skips where the library is missing
	dir := t.TempDir()
	args, err := csource.Runtime.Unpack(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("testdata", name+".c"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".c"), text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	args[slices.Index(args, "-shared")] = name + ".c"
	cmd := exec.Command(mpich.Compiler, append(args, flags...)...)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", mpich.Compiler, err, said)
	}
	return filepath.Join(dir, name)
}

// Run launches the program and returns all it printed; the program may fail. A
// run that takes more than 30 seconds, against one or two, has hung and ends the
// test.
func Run(t *testing.T, env []string, launcher string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Long)
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

// Right fails the test unless every call of a check was right.
func Right(t *testing.T, out string) {
	t.Helper()
	if AllRight(out) {
		return
	}
	var wrong []string
	last := ""
	for line := range strings.Lines(out) {
		switch {
		case strings.HasPrefix(line, "try "):
			last = line
		default:
			wrong = append(wrong, line)
		}
	}
	t.Errorf("not every call was right; the last one was %s%s", last, strings.Join(wrong, ""))
}

// AllRight reports whether every call of the program was right.
func AllRight(out string) bool {
	return strings.HasPrefix(out, "right ") || strings.Contains(out, "\nright ")
}
