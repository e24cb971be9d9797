package libraries_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/csource"
	"tutti/internal/testutil"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/mpi/libtutti"
	"tutti/selection"
)

// below lists the MPI libraries above which the tests run libtutti.
var below = []struct {
	release string
	tools   testutil.Toolchain
}{
	{"1+mpich-4.0.2", testutil.MPICH},
	{"1+openmpi-4.1.4", testutil.OpenMPI},
}

// randomTable exports a table for up to four ranks on a node. The algorithms get random times at each point, so that
// any of them may be selected. The table omits algorithms of the MPI library that give wrong results for the tests'
// calls.
func randomTable(t *testing.T, release, dir string, seed uint64) mpi.Setup {
	t.Helper()
	lib, cat, err := libraries.Release("libtutti", release)
	testutil.NoError(t, err)
	rng := rand.New(rand.NewPCG(seed, 0))
	var rows []selection.Row
	for _, c := range coll.Collectives() {
		for ppn := 1; ppn <= 4; ppn++ {
			for _, bytes := range []int64{4, 16, 64, 256, 1000, 4096, 8192, 16384, 65536} {
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
	b := testutil.Must(lib.Open(cat, ""))(t)
	sel := testutil.Must(b.Merge(rows, 0))(t)
	x, err := b.Export(sel, dir)
	if err == nil {
		err = b.Replay(x, sel, rows)
	}
	if err == nil {
		err = x.Write(dir)
	}
	if err == nil {
		err = widen(filepath.Join(dir, "tutti.table"))
	}
	testutil.NoError(t, err)
	return x.Setup
}

// widen changes the rules of a table so that they apply to any number of nodes. It limits some of them to one
// order of ranks.
//
// If the first rule of alltoallv names an algorithm that sends in phases, the rule applies to any number of
// ranks. Otherwise alltoallv gets rules split by message size. Ranks of one call, whose sizes differ, then run
// different algorithms.
func widen(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	table, err := libtutti.Parse(text)
	if err != nil {
		return err
	}
	const most = 1 << 62
	all := libtutti.Range{Low: 1, High: 4}
	var rules []libtutti.Rule
	low, first := int64(0), slices.IndexFunc(table.Rules, func(r libtutti.Rule) bool { return r.Collective == coll.Alltoallv })
	if first >= 0 && slices.Contains([]string{"greedy", "scheduled_barrier"}, table.Rules[first].Algorithm.Name) {
		rules = append(rules, table.Rules[first])
		rules[0].Ranks, rules[0].PPN, low = all, all, most
	}
	for low < most {
		band := libtutti.Rule{Scope: libtutti.Scope{Collective: coll.Alltoallv, Ranks: all, PPN: all, Bytes: libtutti.Range{Low: low, High: low + low/3}}}
		band.Algorithm = coll.Algorithm{Name: []string{"linear", "pairwise", "simple"}[len(rules)%3]}
		if low > 1<<20 {
			band.Bytes.High = most
		}
		low = band.Bytes.High + 1
		rules = append(rules, band)
	}
	for i, r := range table.Rules {
		r.Order = []coll.Order{"", "", coll.Block, coll.Cyclic}[i%4]
		if r.PPN = all; r.Collective != coll.Alltoallv {
			rules = append(rules, r)
		}
	}
	table.Rules = rules
	return os.WriteFile(path, table.Bytes(), 0o666)
}

// number returns the value of an environment variable, or a default.
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

// TestLiveFuzz makes random calls on random communicators. All results must be right for the algorithms of
// libtutti and of the MPI library, and no MPI object may remain. FUZZ_STEPS and FUZZ_TABLES set the number
// of calls and tables, FUZZ_FIRST the first seed.
func TestLiveFuzz(t *testing.T) {
	fuzzBelow(t, csource.Runtime)
}

// TestLiveFuzzExploring runs TestLiveFuzz while libtutti explores every algorithm. All ranks must draw the same
// algorithms.
func TestLiveFuzzExploring(t *testing.T) {
	testutil.NeedAllCases(t)
	fuzzBelow(t, csource.Runtime, "TUTTI_EXPLORE_SHARE=0.5")
}

// TestLiveFuzzWithin runs TestLiveFuzz in the mode `learn`, in which ranks learn while the program runs. Learning
// begins with the first call of each kind.
func TestLiveFuzzWithin(t *testing.T) {
	testutil.NeedAllCases(t)
	eager := csource.Runtime
	eager.Name, eager.Flags = "eager.so", append(slices.Clone(eager.Flags), "-DLEARN_FROM=0", "-DRUN_LENGTH=1", "-DRUN_LENGTH_FACTOR=1") // and is alarmed all the time
	fuzzBelow(t, eager, "TUTTI_MODE=learn")
}

// fuzzBelow runs the random calls above each MPI library. `exploring` holds further settings
// with which libtutti explores. It may be empty.
func fuzzBelow(t *testing.T, library csource.Program, exploring ...string) {
	steps := 20
	if testutil.AllCases() {
		steps = 400
	}
	steps, first := number(t, "FUZZ_STEPS", steps), number(t, "FUZZ_FIRST", 0)
	end := first + number(t, "FUZZ_TABLES", 1)
	for _, b := range below {
		t.Run(b.tools.Compiler, func(t *testing.T) {
			if b.release != below[0].release {
				testutil.NeedAllCases(t)
			}
			preload := []string{testutil.BuildProgram(t, b.tools, library), testutil.BuildProgram(t, b.tools, testutil.ObjectsLibrary)}
			env := []string{"LD_PRELOAD=" + strings.Join(preload, " ")}
			programs := []string{testutil.BuildProgram(t, b.tools, testutil.FuzzProgram)}
			if b.release == below[0].release { // it has long counts
				programs = append(programs, testutil.BuildProgram(t, b.tools, testutil.Long(testutil.FuzzProgram)))
			}
			calls := 0
			for seed := first; seed < end; seed++ {
				said, n := fuzz(t, b.release, b.tools.Launcher, programs[seed%len(programs)], env, seed, steps, exploring...)
				if ranks := 2 + seed%3; strings.Count(said, "objects left 0 of ") != ranks {
					t.Fatalf("table %d: objects of MPI are left:\n%s", seed, said)
				}
				if calls += n; seed%100 == 99 || seed == end-1 {
					t.Logf("%d calls by %d tables", calls, seed+1-first)
				}
			}
		})
	}
}

// fuzz makes random calls with one random table. It returns the output, and how many calls gave right
// results.
func fuzz(t *testing.T, release, launcher, program string, env []string, seed, steps int, exploring ...string) (string, int) {
	t.Helper()
	env = slices.Clone(env)
	if seed%2 == 1 {
		env = append(env, "MPIR_CVAR_NUM_CLIQUES=2") // MPICH takes the ranks for two nodes
	}
	dir := t.TempDir()
	for _, s := range randomTable(t, release, dir, uint64(seed)).Settings {
		env = append(env, s.Name+"="+s.Value)
	}
	if len(exploring) > 0 {
		exploreAll(t, release, dir)
		env = append(env, "TUTTI_SAMPLES="+dir, "TUTTI_BUDGET=1e6", "TUTTI_CHECK=1", "TUTTI_SEED="+fmt.Sprint(seed))
		env = append(env, exploring...)
	}
	said := testutil.RunProgram(t, env, launcher, "-n", fmt.Sprint(2+seed%3), program, fmt.Sprint(seed), fmt.Sprint(steps))
	var n int
	_, after, _ := strings.Cut("\n"+said, "\nright ")
	if _, err := fmt.Sscan(after, &n); err != nil || strings.Contains(said, "tutti:") {
		t.Fatalf("table %d, %v:\n%s\n%s", seed, env, said, mustRead(t, env))
	}
	return said, n
}

// libraryFrames lists parts of the names of libraries that may leak memory.
const libraryFrames = "libmpi libmpich libopen-rte libopen-pal libpmix libuc libhwloc libevent mca_ libfabric libnl"

// TestLiveSanitized makes random calls with a libtutti that is built with the address and
// undefined-behaviour sanitizers. The sanitizers must report nothing, and libtutti must not leak memory.
func TestLiveSanitized(t *testing.T) {
	testutil.NeedAllCases(t)
	steps, tables := number(t, "FUZZ_STEPS", 100), number(t, "FUZZ_TABLES", 1)
	for _, b := range below {
		t.Run(b.tools.Compiler, func(t *testing.T) {
			testutil.BuildProgram(t, b.tools, csource.Pair) // skips where the library is missing
			dir := t.TempDir()
			const kinds = "address,undefined"
			program := sanitized(t, b.tools.Compiler, dir, kinds, testutil.FuzzProgram, sanitized(t, b.tools.Compiler, dir, kinds, csource.Runtime))
			quiet := filepath.Join(dir, "quiet")
			testutil.NoError(t, os.WriteFile(quiet, []byte("leak:"+strings.ReplaceAll(libraryFrames, " ", "\nleak:")+"\n"), 0o666))
			env := []string{
				"ASAN_OPTIONS=verify_asan_link_order=0:log_path=" + dir + "/found", "UBSAN_OPTIONS=print_stacktrace=1:log_path=" + dir + "/found",
				"LSAN_OPTIONS=exitcode=0:print_suppressions=0:suppressions=" + quiet,
			}
			t.Cleanup(func() {
				if found := findings(t, dir+"/found*"); found != "" {
					t.Error(found)
				}
			})
			for seed := range tables {
				fuzz(t, b.release, b.tools.Launcher, program, env, seed+2, steps)
			}
		})
	}
}

// TestLiveThreadSanitizer makes calls in several threads at once with a libtutti that is built with the thread sanitizer.
// The sanitizer must report nothing of libtutti.
func TestLiveThreadSanitizer(t *testing.T) {
	testutil.NeedAllCases(t)
	for _, b := range below {
		t.Run(b.tools.Compiler, func(t *testing.T) {
			testutil.BuildProgram(t, b.tools, csource.Pair) // skips where the library is missing
			dir := t.TempDir()
			library := sanitized(t, b.tools.Compiler, dir, "thread", csource.Runtime)
			program := sanitized(t, b.tools.Compiler, dir, "thread", testutil.ThreadsProgram, library)
			for seed := range number(t, "FUZZ_TABLES", 3) {
				// Without UCX_MEM_EVENTS=no, UCX patches mmap in memory, and the sanitizer crashes.
				env := []string{"UCX_MEM_EVENTS=no", "TSAN_OPTIONS=exitcode=0:ignore_noninstrumented_modules=1:log_path=" + dir + "/found", "TUTTI_TRACE=" + dir + "/trace.csv"}
				for _, s := range randomTable(t, "1", t.TempDir(), uint64(seed)).Settings {
					env = append(env, s.Name+"="+s.Value)
				}
				testutil.CheckAllRight(t, testutil.RunProgram(t, env, b.tools.Launcher, "-n", "2", program, "32"))
			}
			for _, name := range testutil.Must(filepath.Glob(dir + "/found*"))(t) {
				for _, found := range strings.Split(string(testutil.Must(os.ReadFile(name))(t)), "==================") {
					if strings.Contains(found, "libtutti") {
						t.Error(found)
					}
				}
			}
		})
	}
}

// findings returns what the sanitizers report, without leaks in libraries that are already unloaded.
func findings(t *testing.T, pattern string) string {
	t.Helper()
	files := testutil.Must(filepath.Glob(pattern))(t)
	found := ""
	for _, name := range files {
		text := testutil.Must(os.ReadFile(name))(t)
		for _, part := range strings.Split(string(text), "\n\n") {
			leak := strings.Contains(part, "leak of") && !strings.Contains(part, "libtutti") && !strings.Contains(part, "fuzz")
			if !leak && !strings.Contains(part, "ERROR: LeakSanitizer") && !strings.Contains(part, "SUMMARY") {
				found += part + "\n"
			}
		}
	}
	return found
}

// sanitized builds a program with the sanitizers that `kinds` lists, and returns its path. It links the given
// libraries before MPI.
func sanitized(t *testing.T, compiler, dir, kinds string, p csource.Program, libs ...string) string {
	t.Helper()
	p.Flags = append(slices.Clone(p.Flags), "-g", "-O1", "-fno-omit-frame-pointer", "-fsanitize="+kinds, "-fno-sanitize-recover=undefined", "-Wl,--no-as-needed")
	p.Libs = append(slices.Clone(libs), p.Libs...)
	built := testutil.Must(csource.Build(t.Context(), p, compiler, filepath.Join(dir, p.Name)))(t)
	return built.Path
}

// exploreAll extends the table in a folder, so that libtutti explores every algorithm of a release.
func exploreAll(t *testing.T, release, dir string) {
	t.Helper()
	lib, cat, err := libraries.Release("libtutti", release)
	testutil.NoError(t, err)
	b := testutil.Must(lib.Open(cat, ""))(t)
	text := testutil.Must(os.ReadFile(filepath.Join(dir, "tutti.table")))(t)
	base := testutil.Must(libtutti.Parse(text))(t)
	var mixes []libtutti.Mix
	for _, c := range coll.BlockingCollectives() { // libtutti serves no others
		if !c.SizesDiffer() {
			all := append(cat.Algorithms(c), coll.Default)
			mixes = append(mixes, libtutti.Mix{Scope: libtutti.Everywhere(c), Choices: libtutti.NewChoices(all, slices.Repeat([]float64{1}, len(all)), nil)})
		}
	}
	x, err := b.(libtutti.Build).ExportLearned(base, nil, mixes, dir)
	if err == nil {
		err = x.Write(dir)
	}
	testutil.NoError(t, err)
}

// mustRead returns the content of the table whose path is in the given environment variables.
func mustRead(t *testing.T, env []string) string {
	t.Helper()
	for _, v := range env {
		if path, ok := strings.CutPrefix(v, "TUTTI_TABLE="); ok {
			text := testutil.Must(os.ReadFile(filepath.Clean(path)))(t)
			return string(text)
		}
	}
	return ""
}
