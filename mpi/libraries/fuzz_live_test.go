package libraries_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/csource"
	"tutti/csource/test"
	"tutti/internal/test/mpitest"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/mpi/libtutti"
	"tutti/selection"
)

// below are the MPI libraries that the library inside applications is tried above.
var below = []struct {
	release string
	tools   mpitest.Toolchain
	env     []string
}{
	{"1+mpich-4.0.2", mpitest.Toolchain{Compiler: "mpicc.mpich", Launcher: "mpiexec.hydra", Install: "mpich libmpich-dev"}, nil},
	{"1+openmpi-4.1.4", mpitest.Toolchain{Compiler: "mpicc.openmpi", Launcher: "mpirun.openmpi", Install: "openmpi-bin libopenmpi-dev"}, []string{
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
		"OMPI_MCA_hwloc_base_binding_policy=none", "OMPI_MCA_mpi_yield_when_idle=1",
	}},
}

// randomTable exports a selection in which every algorithm is the fastest somewhere by
// chance, for up to four ranks of a node. Algorithms that are wrong as shipped for what
// the random calls make are left out.
func randomTable(t *testing.T, release, dir string, seed uint64) selection.Setup {
	t.Helper()
	lib, cat, err := libraries.Release("libtutti", release)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	var rows []selection.Row
	for _, c := range coll.Collectives() {
		for ppn := 1; ppn <= 4; ppn++ {
			for _, bytes := range []int64{4, 64, 1000, 8192, 65536} {
				if !c.Sized() {
					bytes = 0
				}
				r := selection.Row{Point: coll.Point{Collective: c, Nodes: 1, PPN: ppn, MsgBytes: bytes}}
				for _, a := range cat.Algorithms(c) {
					if cand := (coll.Candidate{Point: r.Point, Algorithm: a}); cat.Check(cand) == nil {
						r.Options = append(r.Options, selection.Option{Algorithm: a, Seconds: 1 + rng.Float64()})
					}
				}
				r.Options = append(r.Options, selection.Option{Algorithm: coll.Default, Seconds: 3})
				rows = append(rows, r)
				if !c.Sized() {
					break
				}
			}
		}
	}
	b, err := lib.Open(cat, "")
	if err != nil {
		t.Fatal(err)
	}
	sel, err := b.Fit(rows, mpi.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := b.Export(sel, dir)
	if err == nil {
		err = b.Replay(x, sel, rows)
	}
	if err == nil {
		err = x.Write(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x.Setup
}

// number is a variable of the environment, or a value of its own.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s: want a number", name, text)
	}
	return n
}

// TestLiveFuzz: random calls on random communicators have right data, whichever of our own
// and of the MPI library's algorithms serve them. FUZZ_STEPS and FUZZ_TABLES ask for more
// of them than the gate does.
func TestLiveFuzz(t *testing.T) {
	fuzz(t, false)
}

// TestLiveFuzzExploring: the same where every algorithm is also explored, and ranks compare
// what they draw.
func TestLiveFuzzExploring(t *testing.T) { fuzz(t, true) }

func fuzz(t *testing.T, exploring bool) {
	steps, tables := number(t, "FUZZ_STEPS", 400), number(t, "FUZZ_TABLES", 1)
	for _, b := range below {
		t.Run(b.tools.Compiler, func(t *testing.T) {
			library := mpitest.BuildProgram(t, b.tools, csource.Runtime)
			program := mpitest.BuildProgram(t, b.tools, test.Fuzz)
			preload := "LD_PRELOAD=" + library
			if b.tools.Compiler == "mpicc.mpich" {
				preload += " " + mpitest.BuildProgram(t, b.tools, test.Yield)
			}
			calls := 0
			for seed := range tables {
				env, dir := append([]string{preload}, b.env...), t.TempDir()
				for _, s := range randomTable(t, b.release, dir, uint64(seed)).Settings {
					env = append(env, s.Name+"="+s.Value)
				}
				if exploring {
					exploreAll(t, b.release, dir)
					env = append(env, "TUTTI_LEARN="+dir, "TUTTI_EXPLORE=0.5", "TUTTI_CHECK=1", "TUTTI_SEED="+fmt.Sprint(seed))
				}
				said := mpitest.Run(t, env, b.tools.Launcher, "-n", fmt.Sprint(2+seed%3), program, fmt.Sprint(seed), fmt.Sprint(steps))
				var n int
				_, after, _ := strings.Cut("\n"+said, "\nright ")
				if _, err := fmt.Sscan(after, &n); err != nil || strings.Contains(said, "tutti:") {
					t.Fatalf("table %d, %v:\n%s\n%s", seed, env, said, mustRead(t, env))
				}
				calls += n
			}
			t.Logf("%d calls by %d tables", calls, tables)
		})
	}
}

// exploreAll adds to the table in a folder that all algorithms of a release are explored.
func exploreAll(t *testing.T, release, dir string) {
	t.Helper()
	lib, cat, err := libraries.Release("libtutti", release)
	if err != nil {
		t.Fatal(err)
	}
	b, err := lib.Open(cat, "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "tutti.table"))
	if err != nil {
		t.Fatal(err)
	}
	base, err := libtutti.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var mixes []libtutti.Mix
	for _, c := range coll.Collectives() {
		if c != coll.Alltoallv {
			mixes = append(mixes, libtutti.Anywhere(c, append(cat.Algorithms(c), coll.Default)))
		}
	}
	x, err := b.(libtutti.Learner).Learnt(base, nil, mixes, dir)
	if err == nil {
		err = x.Write(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// mustRead returns the table that an environment names.
func mustRead(t *testing.T, env []string) string {
	t.Helper()
	for _, v := range env {
		if path, ok := strings.CutPrefix(v, "TUTTI_TABLE="); ok {
			text, err := os.ReadFile(filepath.Clean(path))
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	return ""
}
