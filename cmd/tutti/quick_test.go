package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/campaign/assembly"
	"tutti/doctor"
	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/mpi"
)

func TestCounts(t *testing.T) {
	for _, tc := range []struct {
		most         int
		nodes, ranks []int // ranks on one node of as many cores
		several      []int // ranks on each of two such nodes
	}{
		{1, []int{1}, []int{2}, []int{1}},
		{2, []int{1, 2}, []int{2}, []int{1, 2}},
		{6, []int{1, 2, 4, 6}, []int{2, 3, 6}, []int{1, 2, 3, 6}},
		{128, []int{1, 2, 4, 8, 16, 32, 64, 128}, []int{32, 64, 128}, []int{1, 32, 64, 128}},
	} {
		if got := nodeCounts(tc.most); !slices.Equal(got, tc.nodes) {
			t.Errorf("%d nodes: %v, want %v", tc.most, got, tc.nodes)
		}
		for nodes, want := range map[int][]int{1: tc.ranks, 2: tc.several} {
			if got := rankCounts(assembly.Place{Nodes: nodes, Cores: tc.most}); !slices.Equal(got, want) {
				t.Errorf("%d nodes of %d cores: %v, want %v", nodes, tc.most, got, want)
			}
		}
	}
}

// TestQuickFile checks that `tutti tune` can read the campaign file of `tutti quick`, and that the file has the
// values found on the machine.
func TestQuickFile(t *testing.T) {
	dir := t.TempDir()
	library := filepath.Join(dir, "libmpi.so: with # a colon")
	testutil.NoError(t, os.WriteFile(library, nil, 0o666))
	with := launchable{Launchable: doctor.Launchable{
		Library:  doctor.Library{Family: "openmpi", Version: "4.1.4", Catalogue: "4.1.4", File: mpi.Identity{Path: library}},
		Launcher: "srun", PMI: "pmix", Env: []string{"A=1", "B=yes"},
	}}
	o := quickOptions{collectives: []string{"bcast", "scan"}, wallTime: 90 * time.Second}
	text := quickFile("hpc", assembly.Place{Kind: "allocation", Nodes: 3, Cores: 8}, with, o)
	file := filepath.Join(dir, quickName)
	testutil.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	c, err := config.Load(file, config.Layers{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	lib := c.Libraries[0]
	if lib.Path != library || lib.Benchmark != filepath.Join(dir, "tutti-native-openmpi") || lib.Launcher != "srun" || lib.PMI != "pmix" || !slices.Equal(lib.Env, with.Env) {
		t.Errorf("library %+v", lib)
	}
	if c.Output != dir || c.Machine != "hpc" || c.Runner.Kind != "allocation" || c.Stop.WallTime != 90*time.Second ||
		!slices.Equal(c.Grid.Nodes, []int{1, 2, 3}) || !slices.Equal(c.Grid.PPN, []int{1, 2, 4, 8}) || !slices.Equal(c.Collectives, o.collectives) {
		t.Errorf("campaign %+v", c)
	}
}

func TestChoose(t *testing.T) {
	of := func(family, launcher string) launchable {
		return launchable{Launchable: doctor.Launchable{Library: doctor.Library{Family: family}, Launcher: launcher}}
	}
	found := []launchable{of("mpich", "srun"), of("mpich", "hydra"), of("openmpi", "mpirun")}
	for name, want := range map[string]string{"": "srun", "mpich": "srun", "openmpi": "mpirun"} {
		if got, err := chooseLaunchable(found, name); err != nil || got.Launcher != want {
			t.Errorf("%q: %+v, %v, want %s", name, got, err, want)
		}
	}
	golden := testutil.GoldenErrors(t)
	_, err := chooseLaunchable(found, "intel")
	golden("a library that was not found", err)
	_, err = chooseLaunchable(nil, "mpich")
	golden("no libraries", err)
}

// TestLiveQuick tunes the MPI library of this machine with tutti quick. Other commands must accept the folder
// that it writes.
func TestLiveQuick(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if code, out := mustEnd(t, dir, []exitCode{codeDone, codeNotReady}, "quick", "q", "--dry-run"); code == codeNotReady {
		testutil.NeedMPI.Missing(t, "%s: needs apt-get install mpich libmpich-dev", out)
	}
	if _, err := os.Stat(filepath.Join(dir, "q")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a dry run leaves a folder: %v", err)
	}
	_, out := mustEnd(t, dir, finished, "quick", "q", "--collectives", "bcast", "--wall-time", "3s")
	if want := "measuring ends after 3 s, all collectives together"; !strings.Contains(out, want) {
		t.Errorf("no line %q:\n%s", want, out)
	}
	if !strings.Contains(out, "in jobs: . q/") {
		t.Errorf("does not say how the files are loaded:\n%s", out)
	}
	for _, name := range []string{quickName, "report.html", "selection.csv"} {
		if _, err := os.Stat(filepath.Join(dir, "q", name)); err != nil {
			t.Error(err)
		}
	}
	mustEnd(t, dir, finished, "resume", "q")
	mustEnd(t, dir, []exitCode{codeDone}, "verify", "q", "--dry-run")
	if _, out := mustEnd(t, dir, []exitCode{codeBusy}, "quick", "q"); !strings.Contains(out, "resume it with tutti resume q") {
		t.Errorf("a second time:\n%s", out)
	}

	// After the folder has been moved, its settings file must not break programs.
	testutil.NoError(t, os.Rename(filepath.Join(dir, "q"), filepath.Join(dir, "moved")))
	lib := testutil.MPICH
	if _, err := os.Stat(filepath.Join(dir, "moved", "mpich.env")); err != nil {
		lib = testutil.OpenMPI
	}
	prog := testutil.BuildProgram(t, lib, testutil.CollectivesProgram)
	out = testutil.RunProgram(t, testutil.LaunchEnv(t, lib.Launcher, nil), "bash", "-euc", `. "$1"/*.env; exec "$2" -n 2 "$3" check 64`, "bash", filepath.Join(dir, "moved"), lib.Launcher, prog)
	testutil.CheckAllRight(t, out)
}
