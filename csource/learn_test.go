package csource_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/internal/testutil"
)

// learnEnv returns the environment of an application in mode learn. Its table selects one algorithm
// of bcast and explores others.
func learnEnv(t *testing.T, m mpiOf, library, selected, others string, more ...string) []string {
	t.Helper()
	table := fmt.Sprintf("tutti-table 1\nbcast ranks 1-9 ppn 1-9 bytes 0-99999 %s\nexplore bcast ranks 1-9 ppn 1-9 bytes 0-99999%s\n", selected, others)
	return append(append(tableEnv(t, m, sealTable(table), library), "TUTTI_MODE=learn", "TUTTI_CHECK=1"), more...) // if a variable occurs twice, its last value counts
}

// servedBy parses the output of the program "served". It returns the number of calls that each algorithm
// served, and the algorithm that served last.
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

// slow is an algorithm that sends one byte in each message. It sends 65 536 messages where other algorithms
// send a few, so it is the slowest even on a busy machine.
const slow = "pipeline(segsize=1)"

// TestLiveLearn checks that a faster algorithm replaces the selected one. A slower algorithm is tried only
// as often as the exploration budget allows.
func TestLiveLearn(t *testing.T) {
	for _, m := range someMPIs() {
		t.Run(m.Compiler, func(t *testing.T) {
			library := runtimeLibrary(t, m)
			served := testutil.BuildProgram(t, m.Toolchain, testutil.ServedProgram)
			run := func(over, selected, others string, more ...string) (map[string]int, string) {
				env := learnEnv(t, m, library, selected, others, "TUTTI_BUDGET="+over)
				return servedBy(t, testutil.RunProgram(t, env, m.Launcher, append([]string{"-n", "2", served, "65536", "300"}, more...)...))
			}
			// The slow algorithm may serve again: on a busy machine times change, and the elimination then
			// restarts.
			if times, _ := run("1", slow, " 1 binomial 1 library_default"); times[slow] > 150 {
				t.Errorf("%v: want another algorithm soon", times)
			}
			times, last := run("0.03", "binomial", " 1 "+slow)
			if last != "binomial" || times[slow] == 0 || times[slow] > 2 {
				t.Errorf("%v, %s last: want binomial, and the slow one tried once or twice", times, last)
			}
			// The program marks every second call as another site (place in the program). The library learns for
			// each site separately, so each site tries the slow algorithm.
			if times, last = run("1e9", "binomial", " 1 "+slow, "7"); last != "binomial" || times[slow] < 4 {
				t.Errorf("at two sites %v, %s last: want the slow one tried twice at each", times, last)
			}
		})
	}
}

func TestLiveLearnMPICH(t *testing.T) {
	m := mpis()[0]
	library := runtimeLibrary(t, m)
	loop := testutil.BuildProgram(t, m.Toolchain, testutil.LoopProgram)

	// In this changed library ranks decide by different times. The job must end.
	t.Run("wrong decision", func(t *testing.T) {
		wrong := buildChanged(t, m, "explore.c", "budget_settle(&e->budget, -t[2 * n]);", "budget_settle(&e->budget, -t[2 * n]); for (int i = 0; i < 2 * n; i++) t[i] *= 1 + 9 * c->rank;")
		env := learnEnv(t, m, wrong, "binomial", " 1 knomial 1 library_default 1 basic_linear", unlimited)
		said := testutil.RunProgram(t, env, m.Launcher, "-n", "2", loop, "500")
		if !strings.Contains(said, "tutti: ranks chose different algorithms: call ") || strings.Contains(said, "right") {
			t.Errorf("want that ranks chose different algorithms:\n%s", said)
		}
	})

	t.Run("samples", func(t *testing.T) {
		folder := t.TempDir()
		env := learnEnv(t, m, library, "binomial", " 1 knomial 1 basic_linear", "TUTTI_SAMPLES="+folder, unlimited)
		testutil.RunProgram(t, env, m.Launcher, "-n", "2", loop, "200")
		got := strings.Join(withoutTimes(samplesIn(t, folder)), "\n")
		for _, want := range []string{"bcast,1,2,16,binomial", "bcast,1,2,8192,knomial", "bcast,1,2,16,basic_linear"} {
			if !strings.Contains(got, want) {
				t.Errorf("no sample %s in\n%s", want, got)
			}
		}
	})

	for i, tc := range []struct{ setting, want string }{
		{"TUTTI_MODE=teach", "TUTTI_MODE=teach: want explore or learn"},
		{"TUTTI_MONITOR=shout", "TUTTI_MONITOR=shout: want allreduce or rma"},
		{"TUTTI_BUDGET=-1", "TUTTI_BUDGET=-1: want a number from 0 to 1e+09"},
		{"TUTTI_SAMPLES=/none", "/none: No such file or directory"},
	} {
		if i > 0 && !testutil.AllCases() {
			break
		}
		t.Run(tc.setting, func(t *testing.T) {
			said := testutil.RunProgram(t, learnEnv(t, m, library, "binomial", " 1 knomial", tc.setting), m.Launcher, "-n", "2", loop, "50")
			if !strings.Contains(said, "right 250") || strings.Count(said, tc.want+": nothing is explored") != 1 {
				t.Errorf("%s\nwant right calls and one %q", said, tc.want)
			}
		})
	}
}

// TestLiveChannel checks a change that one rank detects while an algorithm of the MPI library serves. A
// one-sided operation announces the change to all ranks in the same call. This also works on communicators
// that are created and freed.
func TestLiveChannel(t *testing.T) {
	for _, m := range someMPIs() {
		t.Run(m.Compiler, func(t *testing.T) {
			announcing := buildChanged(t, m, "explore.c", "if (monitor_leave(&of->monitor, took, served_by != NULL))",
				"of->monitor.detected |= c->rank == c->shape->ranks - 1 && of->monitor.calls == 7; if (monitor_leave(&of->monitor, took, served_by != NULL) && fprintf(stderr, \"announced after %llu of %d\\n\", (unsigned long long)of->monitor.calls, c->shape->ranks))")
			loop := testutil.BuildProgram(t, m.Toolchain, testutil.LoopProgram)
			env := learnEnv(t, m, announcing, "binomial", " 1 knomial")
			var lines string
			for _, what := range []string{"allgather", "allreduce", "barrier"} {
				lines += "explore " + what + " ranks 1-9 ppn 1-9 bytes 0-99999 1 library_default\n"
			}
			table := filepath.Join(t.TempDir(), "table")
			testutil.NoError(t, os.WriteFile(table, []byte(sealTable("tutti-table 1\n"+lines)), 0o666))
			for _, ranks := range []string{"3", "4"}[:cases(2)] {
				said := testutil.RunProgram(t, append(env, "TUTTI_TABLE="+table), m.Launcher, "-n", ranks, loop, "400", "split")
				if !strings.Contains(said, "right 4000") {
					t.Fatalf("on %s ranks\n%s", ranks, said)
				}
				for _, on := range []string{ranks, "2"} {
					if n := strings.Count(said, " of "+on+"\n"); n < 6 {
						t.Errorf("on %s of %s ranks %d announcements:\n%s", on, ranks, n, said)
					}
				}
			}
		})
	}
}
