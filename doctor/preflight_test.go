package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tutti/csource"
	"tutti/internal/config"
	"tutti/internal/testutil"
)

func TestPreflight(t *testing.T) {
	tests := []struct {
		name    string
		change  func(*machine, *config.Campaign)
		check   string // name of the expected check; empty for none
		state   State
		details string
		fix     string
	}{
		{"all there", func(*machine, *config.Campaign) {}, "", "", "", ""},
		{"no benchmark", func(_ *machine, n *config.Campaign) { n.Libraries[0].Benchmark = "/none/bench" }, "mpich benchmark", Missing, "no file /none/bench", "tutti build benchmark --mpicc MPICC -o /none/bench"},
		{"not executable", func(m *machine, n *config.Campaign) {
			if err := os.Chmod(n.Libraries[0].Benchmark, 0o644); err != nil {
				m.t.Fatal(err)
			}
		}, "mpich benchmark", Missing, "chmod +x", "tutti build benchmark"},
		{"a folder", func(m *machine, n *config.Campaign) { n.Libraries[0].Benchmark = m.bin }, "mpich benchmark", Missing, "is a folder", "tutti build benchmark"},
		{"no OSU program", func(m *machine, n *config.Campaign) { n.Benchmark.Program, n.Libraries[0].Benchmark = "osu", m.bin }, "mpich benchmark", Missing, "no OSU program", "fix benchmark"},
		{"no launcher on the PATH", func(_ *machine, n *config.Campaign) {
			n.Libraries[0].LauncherPath, n.Runner.Env = "", []string{"PATH=/none"}
		}, "mpich launcher", Missing, "no program mpiexec.hydra", "or set launcher_path"},
		{"no launcher of the machine", func(_ *machine, n *config.Campaign) {
			n.Libraries[0].Launcher, n.Libraries[0].LauncherPath, n.Runner.Env = "pals", "", []string{"PATH=/none"}
		}, "mpich launcher", Missing, "no program mpiexec", "put its folder on the PATH"},
		{"no launcher", func(_ *machine, n *config.Campaign) { n.Libraries[0].LauncherPath = "/none/mpiexec" }, "mpich launcher", Missing, "/none/mpiexec", "launcher_path"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			m, n := ready(t)
			n.Runner.Kind = "local"
			tc.change(m, n)
			checks := preflightChecks(t, m)
			if tc.check == "" {
				if len(checks) > 0 {
					t.Errorf("checks %+v, want none", checks)
				}
				return
			}
			wantCheck(t, m.find(&Report{Checks: checks}, Campaign, tc.check), tc.state, tc.details, tc.fix)
		})
	}
}

// preflightChecks runs Preflight on a fake machine. It returns the checks.
func preflightChecks(t *testing.T, m *machine) []Check {
	t.Helper()
	return testutil.Must(Preflight(t.Context(), Options{Environ: m.x.options.Environ, Dir: m.x.options.Dir, Campaign: m.x.options.Campaign}))(t)
}

// TestPreflightWrongLibrary checks two programs that must count as missing benchmarks. One loads another MPI library,
// and the other loads another release of the library.
func TestPreflightWrongLibrary(t *testing.T) {
	requireMPI(t)
	path := testutil.BuildProgram(t, toolchains["openmpi"], csource.Bench)
	m, n := ready(t)
	n.Runner.Kind = "local"
	n.Libraries[0].Benchmark = path
	wantCheck(t, m.find(&Report{Checks: preflightChecks(t, m)}, Campaign, "mpich benchmark"), Missing, "loads Open MPI 4.1.4", "compiler of MPICH")
	n.Libraries[0] = config.Library{Name: "openmpi", Version: "5.0.5", Benchmark: path, Launcher: "hydra"}
	wantCheck(t, m.find(&Report{Checks: preflightChecks(t, m)}, Campaign, "openmpi benchmark"), Missing, "the campaign is for 5.0.5", "version: 4.1.4")
}

// TestLoadedByLibrary checks that Loaded finds the MPI library of a shared library, which is not a program.
func TestLoadedByLibrary(t *testing.T) {
	path := testutil.BuildProgram(t, toolchains["openmpi"], testutil.ObjectsLibrary)
	if got := Loaded(t.Context(), path, os.Environ()); !strings.HasPrefix(got.Version, "Open MPI ") || got.Path == "" {
		t.Errorf("Loaded = %+v, want Open MPI", got)
	}
}

// TestPreflightNotFound checks a program whose library is missing on this machine. The program must count as
// missing here, but only lead to a warning for Slurm jobs, since nodes may have the library.
func TestPreflightNotFound(t *testing.T) {
	requireMPI(t)
	dir := t.TempDir()
	library, program := filepath.Join(dir, "libgone.so"), filepath.Join(dir, "bench")
	for _, args := range [][]string{{"-shared", "-Wl,-soname,libgone.so", "-o", library}, {"-o", program, "-Wl,--no-as-needed", library, "-Wl,-e,0"}} {
		cmd := exec.Command("cc", append([]string{"-nostartfiles", "-x", "c", os.DevNull, "-x", "none"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("cc: %v\n%s", err, out)
		}
	}
	testutil.NoError(t, os.Mkdir(filepath.Join(dir, "lib"), 0o755))
	testutil.NoError(t, os.Rename(library, filepath.Join(dir, "lib", "libgone.so")))
	m, n := ready(t)
	n.Libraries[0].Benchmark = program
	for scheduler, state := range map[string]State{"local": Missing, "slurm": Warning} {
		n.Runner.Kind = scheduler
		wantCheck(t, m.find(&Report{Checks: preflightChecks(t, m)}, Campaign, "mpich benchmark"), state, "does not find", "LD_LIBRARY_PATH")
	}
	n.Runner.Kind = "local"
	n.Libraries[0].Env = []string{"LD_LIBRARY_PATH=" + filepath.Join(dir, "lib")}
	if checks := preflightChecks(t, m); len(checks) > 0 {
		t.Errorf("with its folder in the env of the library: %+v", checks)
	}
}
