package csource_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/internal/testutil"
)

// exploreTable returns a table with algorithms to explore in the calls that the program "loop" makes.
func exploreTable() string {
	return sealTable(`tutti-table 1
bcast ranks 1-9 ppn 1-9 bytes 0-99999 binomial
explore allgather ranks 1-9 ppn 1-9 bytes 0-99999 budget 200 1 bruck 2/700 ring 1/90000 neighbor
explore allreduce ranks 1-9 ppn 1-9 bytes 0-99999 1 rabenseifner 2 recursive_doubling 1 library_default
explore barrier ranks 1-9 ppn 1-9 bytes 0-0 1 linear 1 bruck
explore bcast ranks 1-9 ppn 1-9 bytes 0-99999 1 binomial 1 pipeline(segsize=64) 2 basic_linear 3 library_default
`)
}

// unlimited sets a budget that covers every call. The times of calls then do not affect which algorithm is
// drawn.
const unlimited = "TUTTI_BUDGET=1e9"

// exploreEnv returns the environment of an application in mode explore, in which some calls run algorithms
// drawn at random. It also returns the folder into which the application writes samples.
func exploreEnv(t *testing.T, m mpiOf, table, library string, more ...string) (env []string, folder string) {
	t.Helper()
	folder = t.TempDir()
	return append(append(tableEnv(t, m, table, library), "TUTTI_SAMPLES="+folder, unlimited), more...), folder
}

// samplesIn returns the lines of the only file of samples in a folder, without the two header lines.
func samplesIn(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.samples"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%v, %v: want the file of one job", paths, err)
	}
	text := testutil.Must(os.ReadFile(paths[0]))(t)
	lines := strings.Split(string(text), "\n")
	last := len(lines) - 1
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "# tutti-samples 1 ") || lines[1] != "collective,nodes,ppn,msg_bytes,algorithm,longest,shortest" || lines[last] != "" {
		t.Fatalf("%s holds\n%s", paths[0], text)
	}
	return lines[2:last]
}

// withoutTimes returns the lines of a file of samples without their times.
func withoutTimes(lines []string) []string {
	var out []string
	for _, line := range lines {
		out = append(out, strings.Join(strings.Split(line, ",")[:5], ","))
	}
	return out
}

// TestLiveExplore checks that all ranks of an application that explores draw the same algorithm. Calls must
// compute correctly, and every drawn algorithm must have samples. The same seed must draw the same
// algorithms.
func TestLiveExplore(t *testing.T) {
	for _, m := range someMPIs() {
		t.Run(m.Compiler, func(t *testing.T) {
			library := runtimeLibrary(t, m)
			loop := testutil.BuildProgram(t, m.Toolchain, testutil.LoopProgram)
			run := func(seed string) []string {
				env, folder := exploreEnv(t, m, exploreTable(), library, "TUTTI_EXPLORE_SHARE=0.5", "TUTTI_CHECK=1", "TUTTI_SEED="+seed)
				said := testutil.RunProgram(t, env, m.Launcher, "-n", "2", loop, "200", "split")
				if !strings.Contains(said, "right 2000") || strings.Contains(said, "tutti:") {
					t.Fatalf("want 2000 right calls and no complaint:\n%s", said)
				}
				return withoutTimes(samplesIn(t, folder))
			}
			one := run("1")
			for _, want := range []string{
				"allgather,1,2,16,bruck", "allgather,1,2,8192,ring", "allgather,1,2,16,neighbor", "allreduce,1,2,16,recursive_doubling",
				"allreduce,1,2,8192,rabenseifner", "allreduce,1,2,16,library_default", "barrier,1,2,0,linear", "barrier,1,2,0,bruck",
				"bcast,1,2,8192,pipeline(segsize=64)", "bcast,1,2,16,basic_linear", "bcast,1,2,8192,library_default", "bcast,1,1,64,library_default",
			} {
				if !slices.Contains(one, want) {
					t.Errorf("no sample %s", want)
				}
			}
			if slices.ContainsFunc(one, func(line string) bool { return strings.HasPrefix(line, "reduce,") }) {
				t.Error("samples of reduce, which the table does not explore")
			}
			if again := run("1"); !slices.Equal(one, again) {
				t.Error("the same seed draws other algorithms")
			}
			if other := run("2"); slices.Equal(one, other) {
				t.Error("another seed draws the same algorithms")
			}
		})
	}
}

// TestLiveExploreAlltoallv checks that ranks that pass different sizes draw the same algorithms of an alltoallv, and learn its
// fastest one. They do not explore if rules depend on the size. Samples have the size 0.
func TestLiveExploreAlltoallv(t *testing.T) {
	m := mpis()[0]
	library := runtimeLibrary(t, m)
	loop := testutil.BuildProgram(t, m.Toolchain, testutil.LoopProgram)
	const most = "bytes 0-4611686018427387904"
	tests := []struct {
		name, mode, rule string
		explores         bool
	}{
		{"explore", "explore", "", true}, {"learn", "learn", "", true},
		{"with a rule", "explore", "alltoallv ranks 1-9 ppn 1-9 " + most + " linear\n", true},
		{"rules by size", "explore", "alltoallv ranks 1-9 ppn 1-9 bytes 0-100 linear\nalltoallv ranks 1-9 ppn 1-9 bytes 101-4611686018427387904 pairwise\n", false},
	}
	for _, tc := range tests[:cases(len(tests))] {
		t.Run(tc.name, func(t *testing.T) {
			table := sealTable("tutti-table 1\n" + tc.rule + "explore alltoallv ranks 1-9 ppn 1-9 " + most + " 1 pairwise 1 greedy 1 simple 1 scheduled_barrier\n")
			env, folder := exploreEnv(t, m, table, library, "TUTTI_EXPLORE_SHARE=0.5", "TUTTI_CHECK=1", "TUTTI_MODE="+tc.mode)
			said := testutil.RunProgram(t, env, m.Launcher, "-n", "3", loop, "400", "uneven")
			if !strings.Contains(said, "right 400") || strings.Contains(said, "tutti:") {
				t.Fatalf("want 400 right calls and no complaint:\n%s", said)
			}
			if !tc.explores {
				if paths, _ := filepath.Glob(filepath.Join(folder, "*.samples")); len(paths) > 0 && len(samplesIn(t, folder)) > 0 {
					t.Errorf("%d samples, want none", len(samplesIn(t, folder)))
				}
				return
			}
			samples := withoutTimes(samplesIn(t, folder))
			for _, algorithm := range []string{"pairwise", "greedy", "simple", "scheduled_barrier"} {
				if !slices.Contains(samples, "alltoallv,1,3,0,"+algorithm) {
					t.Errorf("no sample of %s", algorithm)
				}
			}
		})
	}
}

func TestLiveExploreMPICH(t *testing.T) {
	testutil.NeedAllCases(t)
	m := mpis()[0]
	library := runtimeLibrary(t, m)
	loop := testutil.BuildProgram(t, m.Toolchain, testutil.LoopProgram)

	t.Run("at most 1000 calls of a class", func(t *testing.T) {
		env, folder := exploreEnv(t, m, exploreTable(), library, "TUTTI_EXPLORE_SHARE=1")
		testutil.RunProgram(t, env, m.Launcher, "-n", "1", loop, "3000")
		calls := map[string]int{}
		for _, line := range samplesIn(t, folder) {
			f := strings.Split(line, ",")
			calls[f[0]+f[3]]++
		}
		for class, n := range calls {
			if n > 1010 || n < 990 { // first calls have no samples, and the selected algorithm serves a few calls before the first draw
				t.Errorf("%s: %d samples", class, n)
			}
		}
		if len(calls) != 7 {
			t.Errorf("samples of %d classes, want 7: %v", len(calls), calls)
		}
	})

	t.Run("killed", func(t *testing.T) { killExploring(t, m, library, loop) })
	t.Run("wrong draw", func(t *testing.T) { drawWrongly(t, m, loop) })

	refused := []struct {
		name, table, want string
		more              []string
	}{
		{"nothing to explore", fullTable(), "the table has no explore line", nil},
		{"no folder", exploreTable(), "No such file or directory", []string{"TUTTI_SAMPLES=/none/there"}},
		{"share", exploreTable(), "TUTTI_EXPLORE_SHARE=1.5: want a number from 0 to 1", []string{"TUTTI_EXPLORE_SHARE=1.5"}},
	}
	for _, tc := range refused[:cases(len(refused))] {
		t.Run(tc.name, func(t *testing.T) {
			env, _ := exploreEnv(t, m, tc.table, library, tc.more...)
			said := testutil.RunProgram(t, env, m.Launcher, "-n", "2", loop, "50")
			if !strings.Contains(said, "right 250") || strings.Count(said, tc.want+": nothing is explored") != 1 {
				t.Errorf("%s\nwant right calls and one %q", said, tc.want)
			}
		})
	}
}

// killExploring checks that a killed job leaves complete samples.
func killExploring(t *testing.T, m mpiOf, library, loop string) {
	env, folder := exploreEnv(t, m, exploreTable(), library)
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	cmd := exec.CommandContext(ctx, m.Launcher, "-n", "2", loop, "1000000000")
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Second
	testutil.NoError(t, cmd.Start())
	size := func() (n int64) {
		paths, _ := filepath.Glob(filepath.Join(folder, "*.samples"))
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil {
				n += info.Size()
			}
		}
		return n
	}
	for began := time.Now(); size() < 1000 && time.Since(began) < testutil.HangTimeout; time.Sleep(50 * time.Millisecond) {
	}
	kill()
	if err := cmd.Wait(); err == nil {
		t.Error("the job ended by itself")
	}
	if lines := samplesIn(t, folder); len(lines) == 0 || len(strings.Split(lines[len(lines)-1], ",")) != 7 {
		t.Errorf("a killed job leaves\n%s", strings.Join(lines, "\n"))
	}
}

// drawWrongly builds a library whose ranks use different random numbers. It checks that the job ends when
// its ranks draw different algorithms.
func drawWrongly(t *testing.T, m mpiOf, loop string) {
	library := buildChanged(t, m, "draw.c", "uint64_t h = 0x9e3779b97f4a7c15u;", "uint64_t h = (uint64_t)getpid();")
	env, _ := exploreEnv(t, m, exploreTable(), library, "TUTTI_EXPLORE_SHARE=0.5", "TUTTI_CHECK=1")
	said := testutil.RunProgram(t, env, m.Launcher, "-n", "2", loop, "200")
	if !strings.Contains(said, "tutti: ranks chose different algorithms: call ") || strings.Contains(said, "right") {
		t.Errorf("want that ranks chose different algorithms:\n%s", said)
	}
}
