package csource_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"tutti/csource"
	"tutti/csource/test"
	"tutti/internal/test/mpitest"
)

// within returns the environment of an application that learns within its run, beside a table
// in which one algorithm of bcast is selected and others are explored.
func within(t *testing.T, m mpiOf, library, selected, others string, more ...string) []string {
	t.Helper()
	preloaded := []string{library}
	if m.Compiler == "mpicc.mpich" {
		preloaded = append(preloaded, mpitest.BuildProgram(t, m.Toolchain, test.Yield))
	}
	table := fmt.Sprintf("tutti-table 1\nbcast ranks 1-9 ppn 1-9 bytes 0-99999 %s\nexplore bcast ranks 1-9 ppn 1-9 bytes 0-99999%s\n", selected, others)
	return append(append(following(t, m, sealed(table), preloaded...), "TUTTI_MODE=learn", "TUTTI_CHECK=1"), more...) // the last value of a variable counts
}

// servedBy reads what the program served says: how often each algorithm served, and which did
// last.
func servedBy(t *testing.T, said string) (times map[string]int, last string) {
	t.Helper()
	times = map[string]int{}
	for line := range strings.Lines(said) {
		name, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		var n int
		if _, err := fmt.Sscan(count, &n); err != nil || name == "wrong" {
			t.Fatalf("served says\n%s", said)
		}
		times[name], last = n, name
	}
	return times, last
}

// slow sends a byte at a time: 8 KiB take it some hundred times what others take.
const slow = "pipeline(segsize=1)"

// TestLiveWithin: what is faster takes the place of what is selected, and what is slower is
// tried as often as the account pays for.
func TestLiveWithin(t *testing.T) {
	for _, m := range mpis() {
		t.Run(m.Compiler, func(t *testing.T) {
			library := mpitest.BuildProgram(t, m.Toolchain, csource.Runtime)
			served := mpitest.BuildProgram(t, m.Toolchain, test.Served)
			run := func(over, selected, others string, more ...string) (map[string]int, string) {
				env := within(t, m, library, selected, others, "TUTTI_OVER="+over)
				return servedBy(t, mpitest.Run(t, env, m.Launcher, append([]string{"-n", "2", served, "8192", "300"}, more...)...))
			}
			times, last := run("1", slow, " 1 binomial 1 library_default")
			if last == slow || times[slow] > 150 {
				t.Errorf("%v, %s in the end: want a faster one soon", times, last)
			}
			times, last = run("0.03", "binomial", " 1 "+slow)
			if last != "binomial" || times[slow] == 0 || times[slow] > 2 {
				t.Errorf("%v, %s in the end: want binomial, and the other tried once or twice", times, last)
			}
			// Two sites learn by themselves.
			if times, last = run("1e6", "binomial", " 1 "+slow, "7"); last != "binomial" || times[slow] < 4 {
				t.Errorf("at two sites %v, %s in the end: want the other tried twice at each", times, last)
			}
		})
	}
}

// TestLiveWithinMPICH tries what does not depend on the MPI library.
func TestLiveWithinMPICH(t *testing.T) {
	m := mpis()[0]
	library := mpitest.BuildProgram(t, m.Toolchain, csource.Runtime)
	loop := mpitest.BuildProgram(t, m.Toolchain, test.Loop)

	// Each rank decides by times that the others do not know.
	t.Run("wrong decision", func(t *testing.T) {
		wrong := changed(t, m, "explore.c", "e->account.held = 0;", "e->account.held = 0; for (int i = 0; i < 2 * n; i++) t[i] *= 1 + 9 * c->rank;")
		env := within(t, m, wrong, "binomial", " 1 knomial 1 library_default 1 basic_linear", unlimited)
		said := mpitest.Run(t, env, m.Launcher, "-n", "2", loop, "500")
		if !strings.Contains(said, "tutti: ranks chose differently: call ") || strings.Contains(said, "right") {
			t.Errorf("nobody noticed:\n%s", said)
		}
	})

	t.Run("samples", func(t *testing.T) {
		folder := t.TempDir()
		env := within(t, m, library, "binomial", " 1 knomial 1 basic_linear", "TUTTI_LEARN="+folder, unlimited)
		mpitest.Run(t, env, m.Launcher, "-n", "2", loop, "200")
		got := strings.Join(withoutTimes(samplesIn(t, folder)), "\n")
		for _, want := range []string{"bcast,1,2,16,binomial", "bcast,1,2,8192,knomial", "bcast,1,2,16,basic_linear"} {
			if !strings.Contains(got, want) {
				t.Errorf("no sample %s in\n%s", want, got)
			}
		}
	})

	for setting, want := range map[string]string{
		"TUTTI_MODE=teach":  "TUTTI_MODE=teach: want explore or learn",
		"TUTTI_OVER=-1":     "TUTTI_OVER=-1: want a share from 0 to 1e+06",
		"TUTTI_LEARN=/none": "/none: No such file or directory",
	} {
		t.Run(setting, func(t *testing.T) {
			said := mpitest.Run(t, within(t, m, library, "binomial", " 1 knomial", setting), m.Launcher, "-n", "2", loop, "50")
			if !strings.Contains(said, "right 250") || strings.Count(said, want+": nothing is explored") != 1 {
				t.Errorf("%s\nwant right calls and one %q", said, want)
			}
		})
	}
}

// TestRace: in a race of algorithms with known times, 10 % noise, the fastest is found, its
// change is seen, and the account holds.
func TestRace(t *testing.T) {
	program := mpitest.BuildWithRuntime(t, "raced")
	run := func(args string) (best [3]int, cost [3]float64, changes int) {
		said, err := exec.Command(program, strings.Fields(args)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args, err, said)
		}
		in := strings.NewReader(string(said))
		for i := range best {
			if _, err := fmt.Fscan(in, &best[i], &cost[i], &changes); err != nil {
				t.Fatalf("%s: %v\n%s", args, err, said)
			}
		}
		return best, cost, changes
	}
	worst, alarms := 0.0, 0
	for seed := range 20 {
		// The fastest takes 0.8 of the base and is three times as slow in the second third; then one that takes 0.9 is the fastest.
		best, cost, changes := run(fmt.Sprintf("%d 30000 0.1 0.5 3 1 0.8 1.2 1.5 3 8 2 0.9 1.1 5 20 2.5", seed))
		if best[0] != 0 || best[1] != 6 || cost[2] > 0.97 || changes < 1 {
			t.Errorf("seed %d: best %v, costs %v, %d changes seen", seed, best, cost, changes)
		}
		// Nothing is faster.
		best, cost, changes = run(fmt.Sprintf("%d 3000 0.1 0.5 1 1 1.2 1.5 3 8 2 1.1 5 20 2.5", seed))
		if cost[2] > 1.045 {
			t.Errorf("seed %d: best %v, costs %v: want 1.03, but for algorithms that are much slower than expected", seed, best, cost)
		}
		worst, alarms = max(worst, cost[2]), alarms+changes
	}
	t.Logf("where nothing is faster at most %.3f of the base, %d alarms in 60000 calls", worst, alarms)
	if alarms > 60 {
		t.Errorf("%d false alarms in 60000 calls", alarms)
	}
}
