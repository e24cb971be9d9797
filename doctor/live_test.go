package doctor

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/csource"
	"tutti/internal/testutil"
)

// toolchains maps a library family to Debian's MPI library of this family.
var toolchains = map[string]testutil.Toolchain{"mpich": testutil.MPICH, "openmpi": testutil.OpenMPI}

// requireMPI skips the test unless MPICH and Open MPI are installed.
func requireMPI(t *testing.T) {
	t.Helper()
	for _, tc := range toolchains {
		testutil.BuildProgram(t, tc, testutil.OSUProgram)
	}
}

// programsFor builds tutti's benchmark program for a library, and a program that prints the
// output of osu_bcast.
func programsFor(t *testing.T, family, dir string) {
	t.Helper()
	testutil.NoError(t, os.MkdirAll(filepath.Join(dir, family), 0o755))
	for out, p := range map[string]csource.Program{"tutti-native-" + family: csource.Bench, family + "/osu_bcast": testutil.OSUProgram} {
		testutil.NoError(t, os.Rename(testutil.BuildProgram(t, toolchains[family], p), filepath.Join(dir, out)))
	}
}

// withoutSlurm returns the environment of a machine without Slurm.
func withoutSlurm() []string {
	return append(without(os.Environ(), []string{"SLURM_CONF", "SLURM_JOB_ID"}), "SLURM_CONF=/none/slurm.conf")
}

// TestLiveMarker checks that the compiled probe contains its marker (family and version of the MPI headers) even
// if a compiler wrapper removes unused data.
func TestLiveMarker(t *testing.T) {
	requireMPI(t)
	for family, tc := range toolchains {
		dir := t.TempDir()
		prog := filepath.Join(dir, "probe")
		args := testutil.Must(csource.Pair.Unpack(dir, prog))(t)
		cmd := exec.Command(tc.Compiler, append([]string{"-O2", "-fdata-sections", "-Wl,--gc-sections"}, args...)...)
		cmd.Dir = dir
		testutil.NoError(t, cmd.Run())
		if m, ok := parseMarker(testutil.Must(os.ReadFile(prog))(t)); !ok || m.family != family || m.version == "" {
			t.Errorf("%s: marker %+v, %t", tc.Compiler, m, ok)
		}
	}
}

// TestLive checks that an examination finds both installed libraries, their launchers and their programs.
func TestLive(t *testing.T) {
	requireMPI(t)
	dir := t.TempDir()
	programsFor(t, "mpich", dir)
	programsFor(t, "openmpi", dir)
	x := newExamination(Options{
		Environ: withoutSlurm(), Dir: dir, Run: true, Folders: []string{filepath.Join(dir, "mpich"), filepath.Join(dir, "openmpi")},
	}, "/")
	m := &machine{t: t, x: x}
	r := testutil.Must(x.examine(t.Context()))(t)
	for _, want := range []struct{ name, file, device string }{
		{"MPICH 4.0.2", "libmpich.so.12.", "ch4:ucx"},
		{"Open MPI 4.1.4", "libmpi.so.40.", ""},
	} {
		i := slices.IndexFunc(r.Libraries, func(l Library) bool { return l.Name == want.name })
		if i < 0 {
			t.Fatalf("no %s among %+v", want.name, r.Libraries)
		}
		l := r.Libraries[i]
		if !strings.HasPrefix(filepath.Base(l.File.Path), want.file) || l.File.Version != want.name || len(l.File.SHA256) != 64 ||
			l.Device != want.device || l.Checks != "on" || l.Catalogue != l.Version || len(l.Absent) > 0 {
			t.Errorf("%s: %+v", want.name, l)
		}
		wantCheck(t, m.find(r, Libraries, want.name), OK, "algorithms of catalogue", "")
	}
	wantCheck(t, m.find(r, Launchers, "mpiexec.hydra"), OK, "MPICH 4.0.2: two processes, one world", "")
	for _, want := range []Set{
		{"MPICH 4.0.2", "mpiexec.hydra", "native", "local"},
		{"MPICH 4.0.2", "mpiexec.hydra", "osu", "local"},
		{"Open MPI 4.1.4", "mpirun.openmpi", "native", "local"},
		{"Open MPI 4.1.4", "mpirun.openmpi", "osu", "local"},
	} {
		if !slices.Contains(r.Sets, want) {
			t.Errorf("no %v among %v", want, r.Sets)
		}
	}

	// A program that another library's launcher starts reports no error. Each process is then an MPI world
	// of its own.
	t.Run("wrong launcher", func(t *testing.T) {
		x := newExamination(Options{Environ: withoutSlurm(), Run: true}, "/")
		x.temp = t.TempDir()
		probe := filepath.Join(x.temp, "probe")
		for _, tc := range []struct{ wrapper, launcher string }{{"mpicc.mpich", "mpirun.openmpi"}, {"mpicc.openmpi", "mpiexec.hydra"}} {
			if _, err := csource.Build(t.Context(), csource.Pair, tc.wrapper, probe); err != nil {
				t.Fatal(err)
			}
			wrong := trial{args: []string{x.look(tc.launcher), "-n", "2"}, env: launchEnv(familyOf("openmpi").Facts().Launcher)}
			r := x.run(t.Context(), wrong.command(x.session, probe))
			if v := pairingOf(r); !v.OneRank || v.State != Missing {
				t.Errorf("%s under %s: %+v of\n%s%s", tc.wrapper, tc.launcher, v, r.Stdout, r.Stderr)
			}
		}
	})
}

// TestLiveSlurm checks the examination of a real Slurm: outside of a job, inside a job, with a controller
// that hangs, and with a stopped controller.
func TestLiveSlurm(t *testing.T) {
	c := testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: 2})
	requireMPI(t)
	dir := t.TempDir()
	programsFor(t, "mpich", dir)
	examine := func(extra ...string) (*machine, *Report) {
		t.Helper()
		x := newExamination(Options{Environ: append(c.Env(), extra...), Dir: dir, Run: true}, "/")
		ctx, cancel := context.WithTimeout(t.Context(), testutil.HangTimeout)
		defer cancel()
		r := testutil.Must(x.examine(ctx))(t)
		return &machine{t: t, x: x}, r
	}
	m, r := examine()
	wantCheck(t, m.find(r, Slurm, "Slurm"), OK, "controller on", "")
	wantCheck(t, m.find(r, Slurm, "submitting"), OK, "to start now", "")
	wantCheck(t, m.find(r, Slurm, "accounting"), Found, "off", "")
	wantCheck(t, m.find(r, Launchers, "srun --mpi=pmi2"), OK, "MPICH 4.0.2: two processes, one world", "")
	if want := (Set{"MPICH 4.0.2", "srun --mpi=pmi2", "native", "slurm"}); !slices.Contains(r.Sets, want) {
		t.Errorf("no %v among %v", want, r.Sets)
	}

	id := c.Run("sbatch", "--parsable", "-N2", "--ntasks-per-node=2", "--output=/dev/null", "--wrap", "sleep 120")
	c.WaitState(id, "RUNNING")
	m, r = examine("SLURM_JOB_ID="+id, "SLURM_JOB_NUM_NODES=2", "SLURM_NTASKS_PER_NODE=1")
	wantCheck(t, m.find(r, Slurm, "allocation"), OK, "inside job "+id+": 2 nodes", "")
	if want := (Set{"MPICH 4.0.2", "srun --mpi=pmi2", "native", "allocation"}); !slices.Contains(r.Sets, want) {
		t.Errorf("no %v among %v", want, r.Sets)
	}
	c.Run("scancel", id)

	// The cases below check only that faults of Slurm appear in the report. Tests with fake machines check the
	// details.
	trouble := func(want string) {
		t.Helper()
		x := newExamination(Options{Environ: c.Env()}, "/")
		x.slurm.examine(t.Context())
		wantCheck(t, (&machine{t: t, x: x}).find(&Report{Checks: x.checks}, Slurm, "Slurm"), Missing, want, "slurmctld")
	}
	c.Freeze()
	trouble("does not answer within 3s")
	c.Thaw()
	c.StopController()
	trouble("is DOWN")
}
