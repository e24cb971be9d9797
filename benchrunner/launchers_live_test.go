package benchrunner_test

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
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

// library is an MPI library that is installed on this machine, with a launcher for its
// programs.
type library struct {
	testutil.Toolchain
	launcher string
	opt      benchrunner.LauncherOptions
}

var (
	mpichLib = library{testutil.MPICH, benchrunner.Hydra, benchrunner.LauncherOptions{}}
	openLib  = library{testutil.OpenMPI, benchrunner.Mpirun, benchrunner.LauncherOptions{Path: "mpirun.openmpi"}}
)

// build compiles the test program. It skips the test if the library is not installed.
func (lib library) build(t *testing.T) string {
	t.Helper()
	return testutil.BuildProgram(t, lib.Toolchain, testutil.WorldProgram)
}

func newLauncher(t *testing.T, name string, o benchrunner.LauncherOptions) benchrunner.Launcher {
	t.Helper()
	return testutil.Must(benchrunner.NewLauncher(name, o))(t)
}

// markedCommand returns a command that runs args with MARK=m in its environment and reports the host of
// each rank.
func markedCommand(t *testing.T, args ...string) benchrunner.Command {
	t.Helper()
	dir := t.TempDir()
	cmd := benchrunner.ReportHosts(dir, benchrunner.Command{Args: args, Env: []mpi.Var{{Name: "MARK", Value: "m"}}})
	for name, text := range cmd.Files {
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o666))
	}
	return cmd
}

func start(t *testing.T, env, args []string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testutil.HangTimeout)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = env
	cmd.Dir = t.TempDir()
	cmd.WaitDelay = 2 * time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	testutil.NoError(t, cmd.Start())
	return cmd, &stdout, &stderr
}

// TestLiveLocal checks that the launchers start the requested number of ranks, and that all ranks get the
// environment variables.
func TestLiveLocal(t *testing.T) {
	for _, lib := range []library{mpichLib, openLib} {
		t.Run(lib.Compiler, func(t *testing.T) {
			prog := lib.build(t)
			cmd := markedCommand(t, prog)
			layout := coll.Layout{Nodes: 1, PPN: 3}
			args := newLauncher(t, lib.launcher, lib.opt).Args(layout, cmd, "")
			c, stdout, stderr := start(t, slices.Concat(os.Environ(), lib.Env, []string{"MARK=m"}), args)
			if err := c.Wait(); err != nil {
				t.Fatalf("%v: %v\n%s%s", args, err, stdout, stderr)
			}
			host := testutil.Must(os.Hostname())(t)
			checkRanks(t, stdout.String(), layout, []string{host})
			if got := (benchrunner.Output{Stderr: stderr.Bytes()}).PlacementError(layout); got != "" {
				t.Error(got)
			}
		})
	}
}

// checkRanks checks that a world has consecutive ranks on the hosts, in block order unless
// another order is given.
func checkRanks(t *testing.T, stdout string, l coll.Layout, hosts []string, order ...coll.Order) {
	t.Helper()
	var want, got []string
	for rank := range l.Ranks() {
		node := rank / l.PPN
		if slices.Contains(order, coll.Cyclic) {
			node = rank % l.Nodes
		}
		want = append(want, fmt.Sprintf("rank %d of %d on %s, mark m", rank, l.Ranks(), hosts[node]))
	}
	for line := range strings.Lines(stdout) {
		if strings.HasPrefix(line, "rank ") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestLiveEnd checks that a launcher ends its ranks when it receives SIGTERM or when a rank
// fails.
func TestLiveEnd(t *testing.T) {
	for _, lib := range []library{mpichLib, openLib} {
		t.Run(lib.Compiler, func(t *testing.T) {
			prog := lib.build(t)
			env := slices.Concat(os.Environ(), lib.Env)
			l := newLauncher(t, lib.launcher, lib.opt)
			layout := coll.Layout{Nodes: 1, PPN: 2}
			dir := t.TempDir()
			c, _, _ := start(t, env, l.Args(layout, benchrunner.Command{Args: []string{prog, "hang", dir}}, ""))
			var pids []string
			for begin := time.Now(); len(pids) < 2 && time.Since(begin) < testutil.HangTimeout; time.Sleep(20 * time.Millisecond) {
				pids, _ = filepath.Glob(filepath.Join(dir, "*"))
			}
			if len(pids) != 2 {
				t.Fatalf("%d processes came up, want 2", len(pids))
			}
			testutil.NoError(t, c.Process.Signal(syscall.SIGTERM))
			_ = c.Wait() // hydra sometimes returns 0 although it was killed
			for _, pid := range pids {
				if !processEnds(filepath.Base(pid)) {
					t.Errorf("process %s outlives its launcher", filepath.Base(pid))
				}
			}
			c, _, _ = start(t, env, l.Args(layout, benchrunner.Command{Args: []string{prog, "fail"}}, ""))
			if err := c.Wait(); err == nil || c.ProcessState.ExitCode() <= 0 {
				t.Errorf("a process failed: %v", err)
			}
		})
	}
}

// processEnds waits until a process has ended. It returns false if the process does not end in time.
func processEnds(pid string) bool {
	for began := time.Now(); time.Since(began) < testutil.HangTimeout; time.Sleep(50 * time.Millisecond) {
		status, err := os.ReadFile("/proc/" + pid + "/status")
		if err != nil || bytes.Contains(status, []byte("State:\tZ")) {
			return true
		}
	}
	return false
}

// TestLiveSlurm checks that every launcher uses the first nodes of a job that is larger than the layout,
// whatever Slurm's variables in the job say.
func TestLiveSlurm(t *testing.T) {
	cluster := testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: 4})
	mpich, open := mpichLib.build(t), openLib.build(t)
	layout := coll.Layout{Nodes: 2, PPN: 2}
	tests := []struct {
		name     string
		launcher string
		opt      benchrunner.LauncherOptions
		prog     string
		env      []string
	}{
		{"srun and MPICH", benchrunner.Srun, benchrunner.LauncherOptions{MPI: "pmi2"}, mpich, []string{"LD_PRELOAD=" + cluster.Shim()}},
		{"hydra and MPICH", benchrunner.Hydra, benchrunner.LauncherOptions{}, mpich, []string{"LD_PRELOAD=" + cluster.Shim()}},
		{"mpirun and Open MPI", benchrunner.Mpirun, openLib.opt, open, openLib.Env},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			args := newLauncher(t, tc.launcher, tc.opt).Args(layout, markedCommand(t, tc.prog), "")
			out := runsInJob(t, cluster, append(tc.env, "MARK=m"), args)
			checkRanks(t, string(out.Stdout), layout, []string{"n1", "n2"})
			if got := out.PlacementError(layout); got != "" {
				t.Error(got)
			}
		})
		t.Run(tc.name+" on nodes that are named", func(t *testing.T) {
			args := argsOnNodes(t, newLauncher(t, tc.launcher, tc.opt), layout, markedCommand(t, tc.prog))
			out := runsInJob(t, cluster, append(tc.env, "MARK=m"), args)
			checkRanks(t, string(out.Stdout), layout, []string{"n2", "n4"})
		})
		t.Run(tc.name+" in cyclic order", func(t *testing.T) {
			testutil.NeedAllCases(t)
			tc.opt.Order = coll.Cyclic
			args := argsOnNodes(t, newLauncher(t, tc.launcher, tc.opt), layout, markedCommand(t, tc.prog))
			out := runsInJob(t, cluster, append(tc.env, "MARK=m"), args)
			checkRanks(t, string(out.Stdout), layout, []string{"n2", "n4"}, coll.Cyclic)
			cyclic := coll.Layout{Nodes: 4, PPN: 2} // all nodes of the job
			args = newLauncher(t, tc.launcher, tc.opt).Args(cyclic, markedCommand(t, tc.prog), "")
			out = runsInJob(t, cluster, append(tc.env, "MARK=m"), args)
			checkRanks(t, string(out.Stdout), cyclic, []string{"n1", "n2", "n3", "n4"}, coll.Cyclic)
		})
	}
	t.Run("wrong type", func(t *testing.T) { checkWorldsOfOne(t, cluster, layout, markedCommand(t, mpich)) })
	t.Run("srun gets SIGTERM", func(t *testing.T) { checkSrunEnds(t, cluster, layout) })
}

func argsOnNodes(t *testing.T, l benchrunner.Launcher, layout coll.Layout, cmd benchrunner.Command) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hosts")
	suffix := l.HostSuffix(layout)
	testutil.NoError(t, os.WriteFile(file, []byte("n2"+suffix+"\nn4"+suffix+"\n"), 0o666))
	return l.Args(layout, cmd, file)
}

// checkWorldsOfOne starts an MPICH program by srun --mpi=pmix. It checks that each process becomes an MPI world
// of one rank, although the exit code is 0.
func checkWorldsOfOne(t *testing.T, cluster *testutil.SlurmCluster, layout coll.Layout, cmd benchrunner.Command) {
	out := inJob(t, cluster, []string{"LD_PRELOAD=" + cluster.Shim()}, newLauncher(t, benchrunner.Srun, benchrunner.LauncherOptions{MPI: "pmix"}).Args(layout, cmd, ""))
	if alone := strings.Count(string(out.Stdout), "rank 0 of 1 "); out.Exit != 0 || alone != 4 || out.PlacementError(layout) != "" {
		t.Errorf("exit code %d, %d worlds of one, %s\n%s%s", out.Exit, alone, out.PlacementError(layout), out.Stdout, out.Stderr)
	}
}

// checkSrunEnds checks that srun leaves no process behind when it receives SIGTERM.
func checkSrunEnds(t *testing.T, cluster *testutil.SlurmCluster, layout coll.Layout) {
	args := newLauncher(t, benchrunner.Srun, benchrunner.LauncherOptions{}).Args(layout, benchrunner.Command{Args: []string{"sleep", "601.7"}}, "")
	begin := time.Now()
	out := inJob(t, cluster, nil, append([]string{"timeout", "-k", "5", "2"}, args...))
	if out.Exit != 124 || time.Since(begin) > testutil.HangTimeout {
		t.Errorf("exit code %d after %v, want 124 after few seconds\n%s", out.Exit, time.Since(begin), out.Stderr)
	}
	if left := cluster.Shell("pgrep -fx 'sleep 601.7' || true"); left != "" {
		t.Errorf("processes %q outlive srun", left)
	}
}

// runsInJob calls inJob and fails the test unless the command succeeds.
func runsInJob(t *testing.T, cluster *testutil.SlurmCluster, env, args []string) benchrunner.Output {
	t.Helper()
	out := inJob(t, cluster, env, args)
	if !out.Ended || out.Exit != 0 {
		t.Fatalf("exit code %d\n%s%s", out.Exit, out.Stdout, out.Stderr)
	}
	return out
}

// inJob runs a command in a Slurm job that has four nodes with two tasks each. The command may start more or
// fewer tasks than that.
func inJob(t *testing.T, cluster *testutil.SlurmCluster, env, args []string) benchrunner.Output {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/bash\ncd \"$1\" || exit\nshift\n\"$@\" >stdout 2>stderr </dev/null\necho $? >end.tmp\nmv end.tmp end\n"
	path := filepath.Join(dir, "job.sh")
	testutil.NoError(t, os.WriteFile(path, []byte(script), 0o777))
	sbatch := []string{"--parsable", "-N4", "--ntasks-per-node=2", "-t2", "-o", filepath.Join(dir, "log"), path, dir, "env"}
	id := cluster.Run("sbatch", slices.Concat(sbatch, env, args)...)
	if !regexp.MustCompile(`^[0-9]+$`).MatchString(id) {
		t.Fatalf("job %q", id)
	}
	t.Cleanup(func() { cluster.Run("scancel", id) })
	var out benchrunner.Output
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(dir, "end"))
		if err == nil {
			_, err = fmt.Sscan(string(text), &out.Exit)
			out.Ended = err == nil
			break
		}
		if time.Since(begin) > testutil.HangTimeout {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("job %s does not end:\n%s", id, log)
		}
	}
	out.Stdout, _ = os.ReadFile(filepath.Join(dir, "stdout"))
	out.Stderr, _ = os.ReadFile(filepath.Join(dir, "stderr"))
	return out
}
