package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/mpi/libraries"
)

// TestLaunchables checks that only working launchers are returned, with srun first inside an allocation.
func TestLaunchables(t *testing.T) {
	mpich := &Library{Family: "mpich", Catalogue: "4.0.2", family: familyOf("mpich")}
	open := &Library{Family: "openmpi", Catalogue: "4.1.4", family: familyOf("openmpi")}
	odd := &Library{Family: "mpich", family: familyOf("mpich")} // not in tutti's catalogue
	tried := []trial{
		{library: mpich, launcher: "mpiexec.hydra", args: []string{"/bin/hydra", "-n", "2"}, state: OK},
		{library: mpich, launcher: "srun --mpi=pmi2", args: []string{"/bin/srun"}, slurm: true, state: OK},
		{library: open, launcher: "mpirun", args: []string{"/bin/mpirun", "-n", "2"}, state: OK},
		{library: open, launcher: "srun --mpi=pmix", args: []string{"/bin/srun"}, slurm: true, state: Missing},
		{library: odd, launcher: "mpiexec.hydra", args: []string{"/bin/hydra"}, state: OK},
	}
	for _, tc := range []struct {
		name, job string
		want      []string
	}{
		{"this machine", "", []string{"mpich hydra /bin/hydra", "openmpi mpirun /bin/mpirun"}},
		{"an allocation", "7", []string{"mpich srun pmi2", "mpich hydra /bin/hydra", "openmpi mpirun /bin/mpirun"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := &launcherTester{libraries: &libraryFinder{found: []*Library{mpich, open, odd}}, tried: tried, slurm: &cluster{}}
			x.slurm.job = tc.job
			var got []string
			for _, l := range x.launchables() {
				got = append(got, l.Library.Family+" "+l.Launcher+" "+l.Path+l.PMI)
				port, _ := libraries.Named(l.Library.Family)
				if root := os.Geteuid() == 0 && l.Launcher != "srun" && len(port.Facts().Launcher.RootEnv) > 0; root != (len(l.Env) > 0) {
					t.Errorf("%s has the variables %q", l.Launcher, l.Env)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestUnusable checks that each library and launcher that does not work is named with the whole reason and the remedy, and
// that what works, or does not matter here, is not named.
func TestUnusable(t *testing.T) {
	const row = "--------------------------------------------------------------------------"
	slots := result{Code: 1, Err: errors.New("exit status 1"), Stderr: row + `
There are not enough slots available in the system to satisfy the 2
slots that were requested by the application:

  hostname

Either request fewer slots for your application, or make more slots
available for use.

A "slot" is the Open MPI term for an allocatable unit where we can
launch a process. ` + strings.Repeat("The number of slots available are defined by the environment. ", 9) + "\n" + row + "\n"}
	open := &Library{Name: "Open MPI 4.1.4", Family: "openmpi", Catalogue: "4.1.4", family: familyOf("openmpi")}
	odd := &Library{Name: "Odd MPI 1", Family: "other"}
	refused := trial{library: open, launcher: "mpirun.openmpi", args: []string{"/bin/mpirun", "-n", "2"}}
	for _, job := range []string{"", "7"} {
		x := &launcherTester{session: &session{}, libraries: &libraryFinder{found: []*Library{open, odd}}, slurm: &cluster{}}
		x.slurm.job = job
		x.add(
			Check{Libraries, "mpicc.mpich", Missing, []string{"cannot compile: mpi.h: No such file"}, "apt-get install libmpich-dev"},
			Check{Libraries, open.Name, Warning, []string{"2 algorithms are not in this build"}, "leave them out"},
			Check{Libraries, odd.Name, Warning, []string{"neither of MPICH's family nor Open MPI"}, "use MPICH 4.0 or newer"},
			x.launchCheck(refused, pairingOf(slots), nil),
			Check{Launchers, "srun --mpi=pmix", Warning, []string{"Open MPI 4.1.4: no end within 10s"}, ""},
			ok(Launchers, "mpiexec.hydra", "MPICH 4.0.2: two processes"),
			Check{Programs, "OSU", Missing, []string{"optional"}, ""},
		)
		testutil.CheckGolden(t, "unusable"+job+".txt", []byte(strings.Join(x.unusable(), "\n")+"\n"))
	}
}

// TestLaunchablesUnknown checks that a library without a known release is not returned, and
// that temporary files are removed.
func TestLaunchablesUnknown(t *testing.T) {
	m := newMachine(t)
	m.compiler("mpicc.mpich", mpichMark)
	m.launcher("mpiexec.hydra", hydra, ": >"+m.bin+"/tried; "+goodWorld)
	got, _, err := Launchables(t.Context(), m.x.options)
	if err != nil || len(got) > 0 {
		t.Errorf("%+v, %v, want none", got, err)
	}
	if !exists(m.bin + "/tried") {
		t.Error("the launcher was not tried")
	}
	if left, err := os.ReadDir(m.x.options.Dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestIdentifyLibrary checks that the release is read from the library's file. Headers do not suffice: those
// of the MPI ABI do not name a library, and others may lack a suffix of the release.
func TestIdentifyLibrary(t *testing.T) {
	const open, mpich = "Open MPI v%d.%d.%d\x006.0.0rc2\x00", "Mon Jan  5 10:00:00 UTC 2026\x005.0.2\x00"
	for _, tc := range []struct {
		lib  Library
		file string
		want string
	}{
		{Library{Family: "other"}, mpich, "mpich 5.0.2, MPICH 5.0.2"},
		{Library{Family: "other"}, "text\x00", "other , "},
		{Library{Family: "openmpi", Version: "6.0.0", Name: "Open MPI 6.0.0", family: familyOf("openmpi")}, open, "openmpi 6.0.0rc2, Open MPI 6.0.0rc2"},
		{Library{Family: "openmpi", Version: "5.0.7", Name: "Open MPI 5.0.7", family: familyOf("openmpi")}, open, "openmpi 5.0.7, Open MPI 5.0.7"},
		{Library{Family: "mpich", Version: "3.4", Name: "Intel MPI 2021", vendor: "Intel MPI", family: familyOf("mpich")}, mpich, "mpich 3.4, Intel MPI 2021"},
	} {
		tc.lib.File.Path = filepath.Join(t.TempDir(), "libmpi_abi.so.1")
		testutil.NoError(t, os.WriteFile(tc.lib.File.Path, []byte(tc.file), 0o666))
		testutil.NoError(t, tc.lib.identify())
		if got := fmt.Sprintf("%s %s, %s", tc.lib.Family, tc.lib.Version, tc.lib.Name); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
