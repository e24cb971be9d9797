package libraries_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tutti/csource"
	"tutti/internal/testutil"
)

// scalapack lists test programs of ScaLAPACK. Each of them runs with a random table of its own. The program xdllt is not
// among them: without libtutti, it hangs in about every third run of 4 ranks (ScaLAPACK 2.2.1, Open MPI 4.1.4 and MPICH 4.0.2).
var scalapack = strings.Fields("xdlu xddblu xdgblu xddtlu xdpbllt xdptllt xdls xdqr xdinv xdbrd xdtrd xdhrd xdsep")

var residuals = regexp.MustCompile(`(\d+) tests completed and (passed|failed)`)

// debian is where Debian's packages put libraries.
const debian = "/usr/lib/x86_64-linux-gnu"

// needFile skips the test if a file of a Debian package is missing.
func needFile(t *testing.T, path, install string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		testutil.NeedMPI.Missing(t, "%v: needs apt-get install %s", err, install)
	}
}

// withTable returns the environment of a program under libtutti with a random table.
func withTable(t *testing.T, library, release string, seed int) []string {
	t.Helper()
	env := []string{"LD_PRELOAD=" + library}
	for _, s := range randomTable(t, release, t.TempDir(), uint64(seed)).Settings {
		env = append(env, s.Name+"="+s.Value)
	}
	return env
}

// TestLiveScaLAPACK runs ScaLAPACK's tests under libtutti. All residuals must be small.
func TestLiveScaLAPACK(t *testing.T) {
	testutil.NeedAllCases(t)
	for _, b := range below {
		t.Run(b.tools.Compiler, func(t *testing.T) {
			library := testutil.BuildProgram(t, b.tools, csource.Runtime)
			_, mpi, _ := strings.Cut(b.tools.Compiler, ".")
			folder := debian + "/scalapack/" + mpi + "-tests"
			needFile(t, folder, "scalapack-mpi-test")
			for i, program := range scalapack {
				env := withTable(t, library, b.release, number(t, "FUZZ_FIRST", 0)+i)
				said := testutil.RunProgram(t, env, b.tools.Launcher, "-n", "4", "sh", "-c", "cd "+folder+" && exec ./"+program)
				counts := map[string]string{}
				for _, m := range residuals.FindAllStringSubmatch(said, -1) {
					counts[m[2]] = m[1]
				}
				if counts["passed"] == "" || counts["passed"] == "0" || counts["failed"] != "0" || strings.Contains(said, "tutti:") {
					t.Errorf("%s, table %d: %v:\n%s", program, i, counts, said)
				}
				t.Logf("%s: %s passed", program, counts["passed"])
			}
		})
	}
}

// TestLiveMPI4Py checks that collectives and benchmarks of mpi4py work under libtutti. mpi4py asks for
// MPI_THREAD_MULTIPLE. Debian builds it with Open MPI.
func TestLiveMPI4Py(t *testing.T) {
	testutil.NeedAllCases(t)
	b := below[1]
	library := testutil.BuildProgram(t, b.tools, csource.Runtime)
	needFile(t, "/usr/lib/python3/dist-packages/mpi4py", "python3-mpi4py python3-numpy")
	script := testutil.Must(filepath.Abs("testdata/collectives.py"))(t)
	for seed := range 8 {
		env := withTable(t, library, b.release, seed)
		if said := testutil.RunProgram(t, env, b.tools.Launcher, "-n", "3", "/usr/bin/python3", script); strings.Count(said, "right") != 3 {
			t.Errorf("table %d:\n%s", seed, said)
		}
	}
	env := withTable(t, library, b.release, 1)
	if said := testutil.RunProgram(t, env, b.tools.Launcher, "-n", "3", "/usr/bin/python3", "-m", "mpi4py.bench", "ringtest"); !strings.Contains(said, "time for") {
		t.Error(said)
	}
}

// TestLiveEZTrace runs a program under both libtutti and eztrace. libtutti must trace and serve the program's calls,
// and eztrace must see the calls that libtutti forwards to the MPI library.
func TestLiveEZTrace(t *testing.T) {
	testutil.NeedAllCases(t)
	for _, b := range below {
		t.Run(b.tools.Compiler, func(t *testing.T) {
			library := testutil.BuildProgram(t, b.tools, csource.Runtime)
			program := testutil.BuildProgram(t, b.tools, testutil.CallsProgram)
			_, mpi, _ := strings.Cut(b.tools.Compiler, ".")
			needFile(t, debian+"/libeztrace-"+mpi+".so", "eztrace")
			dir := t.TempDir()
			trace := filepath.Join(dir, "trace.csv")
			env := []string{"TUTTI_TRACE=" + trace}
			script := fmt.Sprintf("cd %s && LD_PRELOAD=%s:$LD_PRELOAD exec eztrace -t %s %s", dir, library, mpi, program)
			said := testutil.RunProgram(t, env, b.tools.Launcher, "-n", "4", "sh", "-c", script)
			text, _ := os.ReadFile(trace)
			if !strings.Contains(string(text), "bcast,1,4,400,7,") {
				t.Errorf("trace\n%s\n%s", text, said)
			}
			archives := testutil.Must(filepath.Glob(dir + "/*/eztrace_log.otf2"))(t)
			if len(archives) == 0 {
				t.Fatalf("no trace of eztrace:\n%s", said)
			}
			if events, err := exec.Command("otf2-print", archives[0]).CombinedOutput(); err == nil && strings.Count(string(events), "MPI_Bcast") < 8 {
				t.Errorf("eztrace saw:\n%.2000s", events)
			}
		})
	}
}
