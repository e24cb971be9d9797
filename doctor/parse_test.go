package doctor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/infile"
	"tutti/internal/testutil"
)

// recorded returns the recorded output of a real program.
func recorded(t testing.TB, name string) string {
	t.Helper()
	text := testutil.Must(os.ReadFile(filepath.Join("testdata", name)))(t)
	return string(text)
}

func TestParseMarker(t *testing.T) {
	tests := []struct {
		name, text, want string
		marked           bool
	}{
		{"MPICH", "\x7fELF\x00tutti-doctor;family=mpich;version=4.0.2;end\x00", "MPICH 4.0.2", true},
		{"Open MPI", "tutti-doctor;family=openmpi;version=4.1.4;end", "Open MPI 4.1.4", true},
		{"Intel", "tutti-doctor;family=mpich;version=3.4a2;vendor=Intel MPI;release=2021.6;end", "Intel MPI 2021.6", true},
		{"Cray", "tutti-doctor;family=mpich;version=3.4a2;vendor=Cray MPICH;release=8.1.27;end", "Cray MPICH 8.1.27", true},
		{"neither", "tutti-doctor;family=other;version=;end", "another MPI", true},
		{"cut off", "tutti-doctor;family=mpich;version=4.0.", "", false},
		{"nothing", "", "", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			m, marked := parseMarker([]byte(tc.text))
			if marked != tc.marked || marked && m.name() != tc.want {
				t.Errorf("parseMarker = %q, %v, want %q, %v", m.name(), marked, tc.want, tc.marked)
			}
		})
	}
}

func TestParseLoaded(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"MPICH", recorded(t, "loaded-mpich.txt"), infile.Resolve("/lib/x86_64-linux-gnu/libmpich.so.12")},
		{"Open MPI", recorded(t, "loaded-openmpi.txt"), infile.Resolve("/lib/x86_64-linux-gnu/libmpi.so.40")},
		{"Cray", "\tlibmpi_gnu_91.so.12 => /opt/cray/none/libmpi_gnu_91.so.12 (0x00007f0000000000)\n", "/opt/cray/none/libmpi_gnu_91.so.12"},
		{"C++ bindings are not the library", "\tlibmpi_cxx.so.40 => /none/libmpi_cxx.so.40 (0x00007f0000000000)\n", ""},
		{"not found", "\tlibmpich.so.12 => not found\n", ""},
		{"no MPI", "\tlibc.so.6 => /lib/libc.so.6 (0x00007f0000000000)\n", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := parseLoaded(tc.text); got != tc.want {
				t.Errorf("parseLoaded = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestParseLauncher(t *testing.T) {
	tests := []struct{ name, text, family, version string }{
		{"hydra", recorded(t, "version-mpiexec.hydra.txt"), "mpich", "Hydra 4.0.2"},
		{"orterun", recorded(t, "version-mpirun.openmpi.txt"), "openmpi", "Open MPI 4.1.4"},
		{"mpirun", recorded(t, "version-mpirun.txt"), "openmpi", "Open MPI 4.1.4"},
		{"Intel", "Intel(R) MPI Library for Linux* OS, Version 2021.6 Build 20220227\n", "mpich", "Hydra of Intel MPI 2021.6"},
		{"garbage", "\xff\xfe\x00", "", ""},
		{"somebody else", "mpirun 1.0\n", "", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			family, version := parseLauncher(tc.text)
			if family != tc.family || version != tc.version {
				t.Errorf("parseLauncher = %q, %q, want %q, %q", family, version, tc.family, tc.version)
			}
		})
	}
}

func TestParseSlurm(t *testing.T) {
	t.Run("plugins", func(t *testing.T) {
		want := []string{"cray_shasta", "none", "pmi2", "pmix"}
		if diff := cmp.Diff(want, parsePlugins(recorded(t, "srun-mpi-list.txt"))); diff != "" {
			t.Errorf("22.05 (-want +got):\n%s", diff)
		}
		old := "srun: MPI types are...\nsrun: none\nsrun: pmi2\nsrun: openmpi\n"
		if diff := cmp.Diff([]string{"none", "openmpi", "pmi2"}, parsePlugins(old)); diff != "" {
			t.Errorf("older (-want +got):\n%s", diff)
		}
	})
	t.Run("ping", func(t *testing.T) {
		tests := []struct{ text, state, host string }{
			{"Slurmctld(primary) at vm is UP\n", "UP", "vm"},
			{"Slurmctld(primary) at a is DOWN\nSlurmctld(backup) at b is UP\n", "UP", "b"},
			{"Slurmctld(primary) at a is DOWN\nSlurmctld(backup) at b is DOWN\n", "DOWN", "a"},
			{"slurm_ping: no\n", "", ""},
		}
		for _, tc := range tests {
			if state, host := parsePing(tc.text); state != tc.state || host != tc.host {
				t.Errorf("parsePing(%q) = %q, %q, want %q, %q", tc.text, state, host, tc.state, tc.host)
			}
		}
	})
	t.Run("partitions", func(t *testing.T) {
		var got []string
		for _, p := range parsePartitions(recorded(t, "scontrol-partition.txt") + "PartitionName=odd\x01 MaxTime=\xff TotalNodes=x\n") {
			got = append(got, p.String())
		}
		want := []string{
			"main: 4 nodes, 0 idle, 4 CPUs each, limit 01:00:00, the default",
			"small: 2 nodes, 0 idle, 4 CPUs each, limit 00:05:00, 2 nodes a job",
			"excl: 4 nodes, 0 idle, 4 CPUs each, limit 01:00:00",
			"odd?: 0 nodes, 0 idle, 0 CPUs each, limit ?, ",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("nodes", func(t *testing.T) {
		got := parseSinfo("main|3|idle\nmain|1|down*\nmain|2|mix\nbig|4|drain\nbig|x|idle\nbroken\nnight|8|idle~\n")
		want := map[string]nodeCount{"main": {idle: 3, usable: 5}, "big": {}, "night": {idle: 8, usable: 8}}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(nodeCount{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("version", func(t *testing.T) {
		for text, want := range map[string]string{"slurm-wlm 22.05.8\n": "22.05.8", "slurm 24.11.0-rc1\n": "24.11.0-rc1", "error": ""} {
			if got := parseSlurmVersion(text); got != want {
				t.Errorf("parseSlurmVersion(%q) = %q, want %q", text, got, want)
			}
		}
	})
	t.Run("start", func(t *testing.T) {
		now := time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)
		for at, want := range map[string]string{"13:00:20": ", to start now", "15:30:00": ", to start in 2h30m", "25:00:00": ""} {
			text := "sbatch: Job 1 to start at 2026-11-21T" + at + " using 1 processors on nodes n1 in partition main\n"
			if got := startsIn(text, now); got != want {
				t.Errorf("%s: %q, want %q", at, got, want)
			}
		}
	})
}

func TestParseHost(t *testing.T) {
	if got := firstValue("processor\t: 0\nmodel name\t: Xeon\n", "model name"); got != "Xeon" {
		t.Errorf("model %q, want Xeon", got)
	}
	for text, want := range map[string]float64{"1.50 0.3 0.2 1/2 3\n": 1.5, "0.00 0 0": 0} {
		if got, known := parseLoad(text); got != want || !known {
			t.Errorf("parseLoad(%q) = %g, %v, want %g", text, got, known, want)
		}
	}
	for _, text := range []string{"", "x", "-1 0 0", "NaN 0 0"} {
		if got, known := parseLoad(text); known {
			t.Errorf("parseLoad(%q) = %g, want none", text, got)
		}
	}
}

// TestNames checks that names that only one library uses come before names that several libraries share.
func TestNames(t *testing.T) {
	if diff := cmp.Diff([]string{"mpicc.mpich", "mpicc.openmpi", "mpicc", "mpicc_abi", "mpiicx", "mpiicc"}, wrappers()); diff != "" {
		t.Errorf("wrappers (-want +got):\n%s", diff)
	}
	want := []string{"mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich", "mpirun.openmpi", "mpiexec.openmpi", "mpirun", "mpiexec"}
	if diff := cmp.Diff(want, launcherNames()); diff != "" {
		t.Errorf("launchers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"mpichversion", "ompi_info", "mpiexec"}, tools()); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}
