package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/csource"
	"tutti/internal/testutil"
)

// machine is a fake machine. Its programs are shell scripts that use only shell builtins. PATH contains
// only their folder.
type machine struct {
	t   *testing.T
	bin string
	x   *examination
}

func newMachine(t *testing.T, environ ...string) *machine {
	t.Helper()
	bin := t.TempDir()
	m := &machine{t: t, bin: bin}
	m.x = newExamination(Options{Environ: append(environ, "PATH="+bin), Dir: t.TempDir(), Run: true}, t.TempDir())
	m.x.limits = limits{ask: 4 * time.Second, compile: 4 * time.Second, launch: 5 * time.Second, ping: 4 * time.Second}
	return m
}

// put adds a program.
func (m *machine) put(name, body string) {
	m.t.Helper()
	if err := testutil.WriteExecutable(filepath.Join(m.bin, name), "#!/bin/sh\n"+body+"\n"); err != nil {
		m.t.Fatal(err)
	}
}

// compiler adds a fake compiler wrapper of a library. It does not compile the probe but writes a script
// that contains the probe's marker.
func (m *machine) compiler(name, mark string) {
	m.put(name, `echo '#!/bin/sh' > "$2"; echo '# tutti-doctor;`+mark+`end' >> "$2"; /bin/chmod +x "$2"`)
}

const mpichMark, openMark = "family=mpich;version=4.0.2;", "family=openmpi;version=4.1.4;"

// launcher adds a fake launcher. If it is called with --version, it prints the text `says`. If it is called
// with a program to start, it runs the script `body`.
func (m *machine) launcher(name, says, body string) {
	m.put(name, "case $1 in --version) echo '"+says+"'; exit 0;; esac\n"+body)
}

const (
	hydra = "HYDRA build details:\n    Version:                                 4.0.2"
	orte  = "mpirun (Open MPI) 4.1.4"

	goodWorld = `echo 'tutti-doctor: rank 0 of 2 sum 3 on n1'; echo 'tutti-doctor: rank 1 of 2 sum 3 on n1'
echo 'tutti-doctor: rank 0 ended'; echo 'tutti-doctor: rank 1 ended'`
	oneRankWorlds = `echo 'tutti-doctor: rank 0 of 1 sum 1 on n1'; echo 'tutti-doctor: rank 0 of 1 sum 1 on n1'`
	hang          = `exec /bin/sleep 600`
)

// measured prints what tutti's benchmark program prints for one case on two ranks of a node.
var measured = fmt.Sprintf(`echo '{"event":"hello","format":%d,"ranks":2,"nodes":[{"host":"n1","ranks":2}]}'
echo '{"event":"result","case":0,"bytes":8,"median":1e-06,"min":1e-06,"samples":6,"wall":0.001,"sync":"clock","stop":"tight","verified":"no"}'`, csource.BenchFormat)

// osuMeasured prints what osu_bcast prints for one size on two ranks of a node, after the lines in which the
// ranks report their hosts.
const osuMeasured = `echo 'tutti: process on host n1
tutti: process on host n1' >&2
echo '# OSU MPI Broadcast Latency Test v7.4
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
8                       0.91              0.90              0.92          10'`

// examine examines the fake machine and returns the report. The test fails if this takes too long or leaves
// files behind.
func (m *machine) examine() *Report {
	m.t.Helper()
	began := time.Now()
	r, err := m.x.examine(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	if took := time.Since(began); took > testutil.HangTimeout {
		m.t.Errorf("took %v: something hung", took)
	}
	if left, err := os.ReadDir(m.x.options.Dir); err != nil || len(left) > 0 {
		m.t.Errorf("left behind: %v, %v", left, err)
	}
	return r
}

// find returns the check with this section and name. It ends the test if the report has no such check.
func (m *machine) find(r *Report, s Section, name string) Check {
	m.t.Helper()
	for _, c := range r.Checks {
		if c.Section == s && (c.Name == name || filepath.Base(c.Name) == name) {
			return c
		}
	}
	m.t.Fatalf("no check %s %s among %v", s, name, r.Checks)
	return Check{}
}

// wantCheck fails the test unless the check has the given state, details and advice.
func wantCheck(t *testing.T, c Check, state State, details, fix string) {
	t.Helper()
	if c.State != state || !strings.Contains(strings.Join(c.Details, "\n"), details) || !strings.Contains(c.Fix, fix) || fix == "" && c.Fix != "" {
		t.Errorf("check %+v\nwant %s, details with %q, fix with %q", c, state, details, fix)
	}
}

func TestNothingThere(t *testing.T) {
	m := newMachine(t)
	r := m.examine()
	if r.Ready() || len(r.MissingParts) != 3 {
		t.Errorf("ready %v, lacks %q, want library, launcher and program", r.Ready(), r.MissingParts)
	}
	wantCheck(t, m.find(r, Libraries, "MPI"), Missing, "no compiler wrapper", "apt-get install mpich libmpich-dev")
	wantCheck(t, m.find(r, Slurm, "Slurm"), Missing, "no Slurm commands", "slurm-client")
	wantCheck(t, m.find(r, Programs, "OSU"), Missing, "not on the PATH", "OSU_HOME")
	wantCheck(t, m.find(r, Programs, "ReproMPI"), Missing, "not on the PATH", "mpibenchmark")

	m = newMachine(t, "LMOD_CMD=/opt/lmod")
	m.put("ompi_info", "")
	wantCheck(t, m.find(m.examine(), Libraries, "MPI"), Missing, "ompi_info exists", "module avail")
}

// TestComplete checks the report of a machine that has all parts for a campaign. With and without Options.Run,
// Report.Sets must list these parts. The launcher must be started only with Options.Run.
func TestComplete(t *testing.T) {
	for _, run := range []bool{true, false} {
		m := newMachine(t)
		m.x.options.Run = run
		m.compiler("mpicc.mpich", mpichMark)
		m.launcher("mpiexec.hydra", hydra, `
echo "$*" >> `+m.bin+`/started
case "$*" in
*osu_bcast*) `+osuMeasured+`;;
*) `+goodWorld+`;;
esac`)
		m.put("osu_bcast", "exit 1")
		r := m.examine()
		want := []Set{{"MPICH 4.0.2", "mpiexec.hydra", "osu", "local"}}
		if !slices.Equal(r.Sets, want) {
			t.Errorf("run %v: sets %v, want %v", run, r.Sets, want)
		}
		_, err := os.Stat(filepath.Join(m.bin, "started"))
		if started := err == nil; started != run {
			t.Errorf("run %v: started %v", run, started)
		}
		state := map[bool]State{true: OK, false: Found}[run]
		if c := m.find(r, Launchers, "mpiexec.hydra"); c.State != state {
			t.Errorf("launcher %s, want %s", c.State, state)
		}
	}
}

func TestWrappers(t *testing.T) {
	tests := []struct {
		name, wrapper, body, details, fix string
	}{
		{"no headers", "mpicc.mpich", "echo 'x.c:1:10: fatal error: mpi.h: No such file or directory' >&2; exit 1", "headers (mpi.h) are missing", "apt-get install libmpich-dev"},
		{"no headers of Open MPI", "mpicc.openmpi", "echo 'x.c:1:10: fatal error: mpi.h: No such file or directory' >&2; exit 1", "headers", "libopenmpi-dev"},
		{"no headers of somebody", "mpicc", "echo 'x.c:1:10: fatal error: mpi.h: No such file or directory' >&2; exit 1", "headers", "development files"},
		{"does not link", "mpicc", "echo '/usr/bin/ld: cannot find -lmpi: No such file' >&2; exit 1", "does not link: /usr/bin/ld", "development files"},
		{"disk full", "mpicc", "echo 'fatal error: error closing /tmp/cc.s: No space left on device' >&2; exit 1", "No space left on device", "set TMPDIR"},
		{"no compiler", "mpicc", "echo 'mpicc: line 1: gcc: command not found' >&2; exit 127", "gcc: command not found", "gcc"},
		{"hangs", "mpicc", hang, "longer than 4s", "licence"},
		{"makes nothing", "mpicc", "exit 0", "creates no program", "by hand"},
		{"makes something else", "mpicc", `echo hello > "$2"`, "not the expected one", "by hand"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.put(tc.wrapper, tc.body)
			r := m.examine()
			wantCheck(t, m.find(r, Libraries, tc.wrapper), Missing, tc.details, tc.fix)
			if r.Ready() || len(r.Libraries) > 0 {
				t.Errorf("ready %v with %v", r.Ready(), r.Libraries)
			}
		})
	}
}

// TestSeveralLibraries checks that libraries are distinguished by their headers, not by the name of a
// wrapper.
func TestSeveralLibraries(t *testing.T) {
	m := newMachine(t)
	m.compiler("mpicc.mpich", mpichMark)
	m.compiler("mpicc.openmpi", openMark)
	m.compiler("mpicc", openMark)
	other := t.TempDir()
	m.compiler(filepath.Join("..", filepath.Base(m.bin)+"-intel", "bin", "mpiicc"), "family=mpich;version=3.4a2;vendor=Intel MPI;release=2021.6;")
	m.x.options.Prefixes = []string{m.bin + "-intel", other}
	m.launcher("mpirun", orte, goodWorld)
	r := m.examine()
	var names []string
	for _, l := range r.Libraries {
		names = append(names, l.Name)
	}
	if want := []string{"Intel MPI 2021.6", "MPICH 4.0.2", "Open MPI 4.1.4"}; !slices.Equal(names, want) {
		t.Errorf("libraries %q, want %q", names, want)
	}
	if got := r.Libraries[len(r.Libraries)-1].Compilers; len(got) != 2 {
		t.Errorf("compilers of Open MPI %q, want mpicc.openmpi and mpicc", got)
	}
	wantCheck(t, m.find(r, Libraries, other), Missing, "no compiler wrapper", "--mpi")
	wantCheck(t, m.find(r, Launchers, "mpirun"), OK, "Open MPI 4.1.4: two processes, one world", "")
	wantCheck(t, m.find(r, Launchers, "mpiexec.hydra"), Missing, "no launcher of Intel MPI 2021.6", "put the folder of its mpiexec on the PATH")
	if l := r.Libraries[0]; l.Family != "intel" || l.Version != "2021.6" {
		t.Errorf("%+v, want the library intel 2021.6", l)
	}
}

func TestLaunchers(t *testing.T) {
	tests := []struct {
		name, body string
		state      State
		details    string
		fix        string
	}{
		{"good", goodWorld, OK, "two processes, one world", ""},
		{"wrong launcher", oneRankWorlds, Missing, "2 worlds of one process", "not the launcher of MPICH 4.0.2"},
		{"hangs", hang, Missing, "no end within", "by hand"},
		{"hangs at the end", "echo 'tutti-doctor: rank 0 of 2 sum 3 on n1'; echo 'tutti-doctor: rank 1 of 2 sum 3 on n1'\n" + hang, Missing, "MPI_Finalize hung", "UCX"},
		{"dies", "kill -9 $$", Missing, "signal: killed", "by hand"},
		{"refuses", "echo 'error: no slots' >&2; exit 1", Missing, "error: no slots", "by hand"},
		{"babbles", "while :; do echo babble babble babble babble babble babble; done", Missing, "no end within", "by hand"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.compiler("mpicc.mpich", mpichMark)
			m.launcher("mpiexec.hydra", hydra, tc.body)
			wantCheck(t, m.find(m.examine(), Launchers, "mpiexec.hydra"), tc.state, tc.details, tc.fix)
		})
	}
}

func TestStrangeLaunchers(t *testing.T) {
	m := newMachine(t)
	m.compiler("mpicc", mpichMark)
	m.put("mpiexec", hang)
	m.put("mpirun", `printf '\377\000\033[2J'`)
	r := m.examine()
	wantCheck(t, m.find(r, Launchers, "mpiexec"), Warning, "does not answer --version", "do not use it")
	wantCheck(t, m.find(r, Launchers, "mpirun"), Warning, "unknown launcher", "do not use it")
	wantCheck(t, m.find(r, Launchers, "mpiexec.hydra"), Missing, "no launcher of MPICH 4.0.2", "mpiexec")
}

func TestPrograms(t *testing.T) {
	tests := []struct {
		name, body, title string
		state             State
		details, fix      string
	}{
		{"measures", osuMeasured, "OSU 7.4", OK, "measures a broadcast", ""},
		{"built with another library", "echo 'This test requires at least two processes'", "OSU", Missing, "worlds of one rank", "build it again"},
		{"prints nothing", "exit 3", "OSU", Missing, "measures nothing: exit code 3", "by hand"},
		{"hangs", hang, "OSU", Missing, "no end within", "by hand"},
		{"fails at the end", osuMeasured + "\nexit 1", "OSU 7.4", Missing, "measures nothing", "by hand"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.compiler("mpicc.mpich", mpichMark)
			m.launcher("mpiexec.hydra", hydra, "case \"$*\" in *osu_bcast*) ;; *) "+goodWorld+"; exit;; esac\n"+tc.body)
			m.put("home/libexec/osu-micro-benchmarks/mpi/collective/osu_bcast", "")
			m.x.environ = append(m.x.environ, "OSU_HOME="+m.bin+"/home")
			r := m.examine()
			c := m.find(r, Programs, tc.title)
			wantCheck(t, c, tc.state, tc.details, tc.fix)
			wantCheck(t, c, tc.state, "programs of 1 of", tc.fix)
			if r.Ready() != (tc.state == OK) {
				t.Errorf("ready %v", r.Ready())
			}
		})
	}
}

// TestRunLeavesNothing checks that the child processes of a hanging command are killed with it.
func TestRunLeavesNothing(t *testing.T) {
	m := newMachine(t)
	pid := filepath.Join(m.bin, "pid")
	m.put("parent", "/bin/sleep 300 & echo $! > "+pid+"\ntrap '' TERM\nwait; wait; /bin/sleep 300")
	r := m.x.run(t.Context(), command{args: []string{filepath.Join(m.bin, "parent")}, limit: 2 * time.Second})
	if !r.TimedOut || r.Err == nil || r.Took > time.Minute {
		t.Errorf("timed out %v, error %v, took %v", r.TimedOut, r.Err, r.Took)
	}
	text := testutil.Must(os.ReadFile(pid))(t)
	child := strings.TrimSpace(string(text))
	for range 100 {
		stat, err := os.ReadFile("/proc/" + child + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s is still there", child)
}
