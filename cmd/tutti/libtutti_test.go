package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/mpi/libtutti"
)

// TestLocalLibtutti tunes the runtime library libtutti on top of MPICH, with user-defined algorithms. It verifies the table and
// runs a program with it.
func TestLocalLibtutti(t *testing.T) {
	testutil.NeedAllCases(t)
	dir := t.TempDir()
	tools := testutil.MPICH
	launcher, err := exec.LookPath(tools.Launcher)
	if err != nil {
		testutil.NeedMPI.Missing(t, "%v: needs apt-get install %s", err, tools.Install)
	}
	siteCampaign(t, tools, dir, "libtutti.yaml", "SHIM", testutil.BuildProgram(t, tools, testutil.YieldLibrary), "LAUNCHER", launcher,
		"USER", testutil.BuildProgram(t, tools, testutil.UserLibrary))
	mustEnd(t, dir, []exitCode{codeDone}, "build", "runtime", "--mpicc", tools.Compiler, "-o", "libtutti.so")
	mustEnd(t, dir, finished, "tune", "-c", "c.yaml")
	own, users := 0, 0
	for _, r := range checkJournal(t, filepath.Join(dir, "out")).trials {
		if r.Trial.State == coll.TrialFailed {
			t.Errorf("%v failed: %s: %s", r.Trial.Candidate, r.Trial.Phase, r.Trial.Error)
		}
		if !r.Trial.Algorithm.IsDefault() {
			own++
		}
		if strings.HasPrefix(r.Trial.Algorithm.Name, "user.") {
			users++
		}
	}
	if users == 0 || own == users {
		t.Errorf("%d algorithms of users and %d of the library were measured, want both", users, own-users)
	}
	verifyTable(t, dir)

	mustTutti(t, codeDone, "export", filepath.Join(dir, "out"), "--out", filepath.Join(dir, "tuned"))
	program := testutil.BuildProgram(t, tools, testutil.CollectivesProgram)
	output := testutil.RunProgram(t, nil, "bash", "-euc", `. "$1/libtutti.env"; exec mpiexec.hydra -n 3 "$2" check 64`, "bash", filepath.Join(dir, "tuned"), program)
	testutil.CheckAllRight(t, output)
	if strings.Contains(output, "tutti:") {
		t.Errorf("the library warns:\n%s", output)
	}
}

// verifyTable verifies the table of a campaign if the table has rules. The library must report that it
// follows the rules.
func verifyTable(t *testing.T, dir string) {
	t.Helper()
	text := testutil.Must(os.ReadFile(filepath.Join(dir, "out", "tutti.table")))(t)
	table := testutil.Must(libtutti.Parse(text))(t)
	if len(table.Rules) > 0 {
		verifyOnce(t, os.Environ(), dir, "libtutti")
	}
}

// TestLauncherBelow checks that the launcher of libtutti is that of the MPI library which the benchmark program loads, if the
// campaign names none. Programs of the MPI libraries stand for benchmark programs.
func TestLauncherBelow(t *testing.T) {
	for program, want := range map[string]string{"ompi_info": benchrunner.Mpirun, "mpichversion": benchrunner.Hydra} {
		path, err := exec.LookPath(program)
		if err != nil {
			testutil.NeedMPI.Missing(t, "%v: needs apt-get install %s %s", err, testutil.OpenMPI.Install, testutil.MPICH.Install)
		}
		for _, given := range []string{"", benchrunner.Srun} {
			c := config.Campaign{Output: t.TempDir(), Runner: config.Runner{Kind: "local"}, Libraries: []config.Library{{Name: "libtutti", Version: "1", Path: "libtutti.so", Benchmark: path, Launcher: given}}}
			c.Benchmark.Program = "native"
			testutil.NoError(t, addPaths(t.Context(), &app{environ: os.Environ()}, &c))
			if got := c.Libraries[0].Launcher; got != cmp.Or(given, want) {
				t.Errorf("libtutti above the library of %s, launcher %q: %q, want %q", program, given, got, cmp.Or(given, want))
			}
		}
	}
}
