package testutil

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tutti/csource"
)

// Toolchain names the commands that compile and launch programs with one MPI library.
type Toolchain struct {
	Compiler string // the library's C compiler wrapper
	Launcher string
	Install  string   // Debian packages with these commands, for the message
	Env      []string // with which root starts ranks on a machine with few cores
}

// MPICH and OpenMPI are the toolchains of Debian's packages.
var (
	MPICH   = Toolchain{Compiler: "mpicc.mpich", Launcher: "mpiexec.hydra", Install: "mpich libmpich-dev"}
	OpenMPI = Toolchain{Compiler: "mpicc.openmpi", Launcher: "mpirun.openmpi", Install: "openmpi-bin libopenmpi-dev", Env: []string{
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
		"OMPI_MCA_hwloc_base_binding_policy=none", "OMPI_MCA_mpi_yield_when_idle=1",
	}}
)

// BuildProgram builds a program and returns its path. It is compiled once for all tests of a package. The test
// is skipped under go test -short and where the library or its headers are missing.
func BuildProgram(t *testing.T, tc Toolchain, p csource.Program) string {
	t.Helper()
	SkipShort(t)
	path := filepath.Join(t.TempDir(), p.Name)
	binary, err := compile(t.Context(), tc, p)
	if err == nil {
		err = os.WriteFile(path, binary, 0o755)
	}
	if err == nil {
		return path
	}
	NeedMPI.Missing(t, "%s: %v: needs apt-get install %s", tc.Compiler, err, tc.Install)
	return ""
}

// compiled contains the programs that this process has built. A key consists of the compiler and the name
// of the program.
var compiled = struct {
	sync.Mutex
	binaries map[[2]string][]byte
}{binaries: map[[2]string][]byte{}}

// compile returns the bytes of a program's executable, which each test can write to its own folder. Only full test
// runs (see AllCases) optimize it, because optimizing takes half of the time of compiling libtutti. Test processes
// share programs in the folder that the environment variable TEST_PROGRAMS names.
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
	dir := os.Getenv("TEST_PROGRAMS")
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "tutti-mpitest-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
	}
	path := filepath.Join(dir, tc.Compiler+"-"+p.Name)
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if !AllCases() {
			p.Flags = append(slices.Clone(p.Flags), "-O0")
		}
		if _, err = csource.Build(ctx, p, tc.Compiler, path); err == nil {
			binary, err = os.ReadFile(path)
		}
	}
	if err == nil {
		compiled.binaries[key] = binary
	}
	return binary, err
}

// RunProgram launches a program. It returns the program's standard output and standard error in one text,
// also if the program fails. The test fails if the program runs longer than HangTimeout.
func RunProgram(t *testing.T, env []string, launcher string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), HangTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, launcher, args...)
	cmd.Env = LaunchEnv(t, launcher, append(os.Environ(), env...))
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

// LaunchEnv returns the environment for a launcher of MPICH or Open MPI. With it, ranks may run as root and
// outnumber the cores, and idle ranks yield the processor.
func LaunchEnv(t *testing.T, launcher string, env []string) []string {
	t.Helper()
	switch filepath.Base(launcher) {
	case OpenMPI.Launcher:
		return slices.Concat(OpenMPI.Env, env)
	case MPICH.Launcher, "mpirun.mpich":
		yield := BuildProgram(t, Toolchain{Compiler: MPICH.Compiler, Launcher: launcher, Install: "mpich"}, YieldLibrary)
		return append(env, "LD_PRELOAD="+lastValue(env, "LD_PRELOAD")+" "+yield)
	}
	return env
}

// lastValue returns the value of a variable in an environment. If the variable occurs several times, the
// last value counts.
func lastValue(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// CheckAllRight fails the test unless the program reports that every call gave the right
// result.
func CheckAllRight(t *testing.T, out string) {
	t.Helper()
	if AllRight(out) {
		return
	}
	var wrong []string
	last := ""
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "try ") {
			last = line
		} else {
			wrong = append(wrong, line)
		}
	}
	t.Errorf("not every call was right; the last one was %s%s", last, strings.Join(wrong, ""))
}

// AllRight reports whether the output of a program says that every call gave the right result.
func AllRight(out string) bool {
	return strings.HasPrefix(out, "right ") || strings.Contains(out, "\nright ")
}

// BuildSimulated runs scripts/simulate-build.sh of the project at root and returns the folder with the
// programs that the script built for SimGrid. If `only` has names, the script builds just the
// programs with these names. The test is skipped under go test -short and where SimGrid is missing.
func BuildSimulated(t *testing.T, root string, only ...string) string {
	t.Helper()
	SkipShort(t)
	for _, tool := range []string{"smpicc", "smpirun", "g++"} {
		if _, err := exec.LookPath(tool); err != nil {
			NeedSimGrid.Missing(t, "%v: needs apt-get install libsimgrid-dev g++", err)
		}
	}
	dir := t.TempDir()
	args := append([]string{filepath.Join(root, "scripts", "simulate-build.sh"), dir}, only...)
	if said, err := exec.Command("sh", args...).CombinedOutput(); err != nil {
		t.Fatalf("scripts/simulate-build.sh: %v\n%s", err, said)
	}
	return dir
}
