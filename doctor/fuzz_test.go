package doctor

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// shown fails the test if a text contains control characters.
func shown(t *testing.T, what, s string) {
	t.Helper()
	if !utf8.ValidString(s) || utf8.RuneCountInString(s) > 300 || strings.ContainsFunc(s, unicode.IsControl) {
		t.Errorf("%s %q cannot be shown", what, s)
	}
}

func FuzzMarker(f *testing.F) {
	f.Add([]byte("tutti-doctor;family=mpich;version=3.4a2;vendor=Intel MPI;release=2021.6;end"))
	f.Add([]byte("tutti-doctor;family=openmpi;version=\x1b[2J\xff;end"))
	f.Fuzz(func(t *testing.T, program []byte) {
		if m, marked := parseMarker(program); marked {
			shown(t, "name", m.name())
			shown(t, "version", m.version)
		}
	})
}

func FuzzLoaded(f *testing.F) {
	f.Add(recorded(f, "loaded-mpich.txt"))
	f.Add("\tlibmpi.so.40 => not found\n")
	f.Fuzz(func(t *testing.T, list string) {
		if path := parseLoaded(list); path != "" && !strings.HasPrefix(path, "/") {
			t.Errorf("%q is not absolute", path)
		}
	})
}

func FuzzLauncher(f *testing.F) {
	for _, name := range []string{"mpiexec.hydra", "mpirun.openmpi", "mpirun"} {
		f.Add(recorded(f, "version-"+name+".txt"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		family, version := parseLauncher(text)
		shown(t, "version", version)
		if (family == "") != (version == "") {
			t.Errorf("family %q, version %q", family, version)
		}
	})
}

func FuzzPlugins(f *testing.F) {
	f.Add(recorded(f, "srun-mpi-list.txt"))
	f.Add("srun: MPI types are...\nsrun: pmi2\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range parsePlugins(text) {
			if !pluginForm.MatchString(p) || strings.HasPrefix(p, "-") {
				t.Errorf("plugin %q", p)
			}
		}
	})
}

func FuzzSlurm(f *testing.F) {
	f.Add(recorded(f, "scontrol-partition.txt"))
	f.Add(recorded(f, "scontrol-config.txt"))
	f.Add("Slurmctld(primary) at vm is UP\n")
	f.Add("main|3|idle\nbig|4|down*\nx|99999999999999999999|idle\n")
	f.Add("slurm-wlm 22.05.8\n")
	f.Add("sbatch: Job 1 to start at 2026-11-21T13:14:46 using 1 processors on nodes n1 in partition main")
	f.Fuzz(func(t *testing.T, text string) {
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
		for _, value := range parseConfig(text) {
			shown(t, "setting", value)
		}
		state, host := parsePing(text)
		shown(t, "ping", state+host)
		shown(t, "version", parseSlurmVersion(text))
		shown(t, "start", startsIn(text, time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)))
	})
}

func FuzzSuites(f *testing.F) {
	for _, name := range []string{"osu-5.3.txt", "osu-7.4.txt", "osu-7.4-tagged.txt", "imb-2021.11.txt", "reprompi-dev.txt", "reprompi-1.0.1.txt"} {
		f.Add(recorded(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range suites() {
			version, processes, measured := s.read(text)
			shown(t, s.title, version)
			if processes < 0 || measured && version == "" && s.name == "osu" {
				t.Errorf("%s: %q, %d, %v", s.title, version, processes, measured)
			}
		}
	})
}

func FuzzJudge(f *testing.F) {
	f.Add(world("0 1", 2, 3)+bothEnded, "")
	f.Add(world("0", 1, 1), "error: \x1b[2J\xff")
	f.Fuzz(func(t *testing.T, stdout, stderr string) {
		v := pairingOf(result{Stdout: stdout, Stderr: stderr})
		shown(t, "pairing", v.Text[:min(len(v.Text), 200)])
		if v.State == OK && strings.Count(stdout, "tutti-doctor: rank") < 2 {
			t.Errorf("ok without two processes: %q", stdout)
		}
	})
}
