package doctor

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// checkPrintable fails the test if a text contains control characters.
func checkPrintable(t *testing.T, what, s string) {
	t.Helper()
	if !utf8.ValidString(s) || utf8.RuneCountInString(s) > 300 || strings.ContainsFunc(s, unicode.IsControl) {
		t.Errorf("%s %q is not printable", what, s)
	}
}

// FuzzParsers checks that parsers return neither control characters, which the report would print, nor
// impossible values.
func FuzzParsers(f *testing.F) {
	for _, name := range []string{
		"loaded-mpich.txt", "version-mpiexec.hydra.txt", "version-mpirun.openmpi.txt", "version-mpirun.txt", "srun-mpi-list.txt",
		"scontrol-partition.txt",
	} {
		f.Add(recorded(f, name), "")
	}
	for _, text := range []string{
		"tutti-doctor;family=mpich;version=3.4a2;vendor=Intel MPI;release=2021.6;end",
		"tutti-doctor;family=openmpi;version=\x1b[2J\xff;end",
		"\tlibmpi.so.40 => not found\n",
		"srun: MPI types are...\nsrun: pmi2\n",
		"Slurmctld(primary) at vm is UP\n",
		"main|3|idle\nbig|4|down*\nx|99999999999999999999|idle\n",
		"slurm-wlm 22.05.8\n",
		"sbatch: Job 1 to start at 2026-11-21T13:14:46 using 1 processors on nodes n1 in partition main",
		world("0 1", 2, 3) + bothEnded,
	} {
		f.Add(text, "")
	}
	f.Add(world("0", 1, 1), "error: \x1b[2J\xff")
	f.Fuzz(func(t *testing.T, stdout, stderr string) {
		if m, marked := parseMarker([]byte(stdout)); marked {
			checkPrintable(t, "marker", m.name()+m.version)
		}
		if path := parseLoaded(stdout); path != "" && !strings.HasPrefix(path, "/") {
			t.Errorf("%q is not absolute", path)
		}
		family, version := parseLauncher(stdout)
		checkPrintable(t, "launcher", version)
		if (family == "") != (version == "") {
			t.Errorf("family %q, version %q", family, version)
		}
		for _, p := range parsePlugins(stdout) {
			if !pluginForm.MatchString(p) || strings.HasPrefix(p, "-") {
				t.Errorf("plugin %q", p)
			}
		}
		v := pairingOf(result{Stdout: stdout, Stderr: stderr})
		checkPrintable(t, "pairing", v.Text[:min(len(v.Text), 200)])
		if v.State == OK && strings.Count(stdout, "tutti-doctor: rank") < 2 {
			t.Errorf("ok without two processes: %q", stdout)
		}
		checkSlurmParsers(t, stdout)
	})
}

func checkSlurmParsers(t *testing.T, text string) {
	for _, p := range parsePartitions(text) {
		if p.Name == "" || p.Nodes < 0 || p.CPUs < 0 {
			t.Errorf("partition %+v", p)
		}
		if !utf8.ValidString(p.String()) {
			t.Errorf("partition %q", p)
		}
	}
	for name, c := range parseSinfo(text) {
		if c.idle < 0 || c.usable < c.idle {
			t.Errorf("%s: %+v", name, c)
		}
	}
	state, host := parsePing(text)
	checkPrintable(t, "ping", state+host)
	checkPrintable(t, "version", parseSlurmVersion(text))
	checkPrintable(t, "start", startsIn(text, time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)))
}
