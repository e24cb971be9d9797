package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tutti/internal/testutil"
	"tutti/mpi"
)

// kernel writes a file of the fake machine's /proc or /sys.
func (m *machine) kernel(path, text string) {
	m.t.Helper()
	path = filepath.Join(m.x.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

func TestHost(t *testing.T) {
	const governor = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
	tests := []struct {
		name, check  string
		change       func(*machine)
		state        State
		details, fix string
	}{
		{"nothing can be read", "processors", func(*machine) {}, OK, "governor cannot be read", ""},
		{"performance", "processors", func(m *machine) { m.kernel(governor, "performance\n") }, OK, "frequency governor performance", ""},
		{"powersave", "processors", func(m *machine) { m.kernel(governor, "powersave\n") }, Warning, "clock rates change", "cpupower"},
		{"processor", "processors", func(m *machine) { m.kernel("proc/cpuinfo", "processor\t: 0\nmodel name\t: Xeon 5\n") }, OK, "Xeon 5", ""},
		{"garbage", "processors", func(m *machine) { m.kernel("proc/cpuinfo", "model name\t: \x1b[2J\xff\n") }, OK, "?[2J?", ""},
		{"kernel", "processors", func(m *machine) { m.kernel("proc/sys/kernel/osrelease", "6.1.0-9\n") }, OK, "Linux 6.1.0-9", ""},
		{"loaded", "processors", func(m *machine) { m.kernel("proc/loadavg", "99999.00 1 1 1/2 3\n") }, Warning, "load 99999.0 on ", "no other programs"},
		{"a folder", "folder", func(*machine) {}, OK, "GB free", ""},
		{"no folder", "folder", func(m *machine) { m.x.options.Dir += "/none" }, Missing, "cannot be written", "folder of your own"},
		{"a clock", "clock", func(*machine) {}, OK, "20", ""},
		{"a clock of its own", "clock", func(m *machine) {
			m.x.now = func() time.Time { return time.Now().Add(-time.Hour) }
		}, Warning, "the file system's clock differs by 1h0m0s", "synchronised"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			m := newMachine(t)
			tc.change(m)
			r := testutil.Must(m.x.examine(t.Context()))(t)
			wantCheck(t, m.find(r, Host, tc.check), tc.state, tc.details, tc.fix)
			if _, err := os.Stat(m.x.temp); err == nil {
				t.Errorf("%s is left behind", m.x.temp)
			}
		})
	}
}

// TestLocalFolderOfCluster checks that there is a warning about an output folder on a local file system if
// the machine has Slurm.
func TestLocalFolderOfCluster(t *testing.T) {
	m := newMachine(t)
	m.cluster()
	c := m.find(m.examine(), Host, "folder")
	if local := strings.Contains(strings.Join(c.Details, " "), "local"); local != (c.State == Warning) {
		t.Errorf("%+v: want a warning where the folder is local", c)
	}
}

// TestTwoModules checks that there is a warning if a program was compiled for one library and loads another
// one.
func TestTwoModules(t *testing.T) {
	m := newMachine(t)
	path := filepath.Join(t.TempDir(), "libmpich.so.12")
	testutil.NoError(t, os.WriteFile(path, []byte("\x7fELF\x004.1.2\x00Thu Apr  7 12:34:45 CDT 2022\x00"), 0o644))
	m.x.libraries.examineBuild(t.Context(), &Library{Name: "MPICH 4.0.2", Family: "mpich", Version: "4.0.2", File: mpi.Identity{Path: path}, family: familyOf("mpich")})
	wantCheck(t, m.find(&Report{Checks: m.x.checks}, Libraries, "MPICH 4.0.2"), Warning, "compiled for MPICH 4.0.2, but the program loads MPICH 4.1.2", "LD_LIBRARY_PATH")
}

// TestQuotaText checks that a quota is named only if it is less than the CPUs of the machine.
func TestQuotaText(t *testing.T) {
	for quota, want := range map[float64]string{0: "", 2: "", 4: "", 0.5: "is 0.5 of 2 CPUs", 1: "is 1 of 2 CPUs", 1.5: "is 1.5 of 2 CPUs"} {
		if got := quotaText(quota, 2); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("quota %g: %q, want %q", quota, got, want)
		}
	}
}
