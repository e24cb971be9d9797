package csource_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tutti/csource"
	"tutti/csource/test"
	"tutti/internal/testutil"
)

// within returns the environment of an application that learns within its run, beside a table
// in which one algorithm of bcast is selected and others are explored.
func within(t *testing.T, m mpiOf, library, selected, others string, more ...string) []string {
	t.Helper()
	preloaded := []string{library}
	if m.Compiler == "mpicc.mpich" {
		preloaded = append(preloaded, testutil.BuildProgram(t, m.Toolchain, test.Yield))
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

// slow sends a byte at a time, 65 536 messages where others send a few: on a busy machine, too, a call of it
// stands out.
const slow = "pipeline(segsize=1)"

// TestLiveWithin: what is faster takes the place of what is selected, and what is slower is
// tried as often as the account pays for.
func TestLiveWithin(t *testing.T) {
	for _, m := range mpis() {
		t.Run(m.Compiler, func(t *testing.T) {
			library := testutil.BuildProgram(t, m.Toolchain, csource.Runtime)
			served := testutil.BuildProgram(t, m.Toolchain, test.Served)
			run := func(over, selected, others string, more ...string) (map[string]int, string) {
				env := within(t, m, library, selected, others, "TUTTI_BUDGET="+over)
				return servedBy(t, testutil.RunProgram(t, env, m.Launcher, append([]string{"-n", "2", served, "65536", "300"}, more...)...))
			}
			// The last call may be one of what is selected: on a busy machine times change, and all is learnt anew.
			if times, _ := run("1", slow, " 1 binomial 1 library_default"); times[slow] > 150 {
				t.Errorf("%v: want a faster one soon", times)
			}
			times, last := run("0.03", "binomial", " 1 "+slow)
			if last != "binomial" || times[slow] == 0 || times[slow] > 2 {
				t.Errorf("%v, %s in the end: want binomial, and the other tried once or twice", times, last)
			}
			// Two sites learn by themselves.
			if times, last = run("1e9", "binomial", " 1 "+slow, "7"); last != "binomial" || times[slow] < 4 {
				t.Errorf("at two sites %v, %s in the end: want the other tried twice at each", times, last)
			}
		})
	}
}

// TestLiveWithinMPICH tries what does not depend on the MPI library.
func TestLiveWithinMPICH(t *testing.T) {
	m := mpis()[0]
	library := testutil.BuildProgram(t, m.Toolchain, csource.Runtime)
	loop := testutil.BuildProgram(t, m.Toolchain, test.Loop)

	// Each rank decides by times that the others do not know.
	t.Run("wrong decision", func(t *testing.T) {
		wrong := changed(t, m, "explore.c", "budget_settle(&e->budget, -t[2 * n]);", "budget_settle(&e->budget, -t[2 * n]); for (int i = 0; i < 2 * n; i++) t[i] *= 1 + 9 * c->rank;")
		env := within(t, m, wrong, "binomial", " 1 knomial 1 library_default 1 basic_linear", unlimited)
		said := testutil.RunProgram(t, env, m.Launcher, "-n", "2", loop, "500")
		if !strings.Contains(said, "tutti: ranks chose different algorithms: call ") || strings.Contains(said, "right") {
			t.Errorf("nobody noticed:\n%s", said)
		}
	})

	t.Run("samples", func(t *testing.T) {
		folder := t.TempDir()
		env := within(t, m, library, "binomial", " 1 knomial 1 basic_linear", "TUTTI_SAMPLES="+folder, unlimited)
		testutil.RunProgram(t, env, m.Launcher, "-n", "2", loop, "200")
		got := strings.Join(withoutTimes(samplesIn(t, folder)), "\n")
		for _, want := range []string{"bcast,1,2,16,binomial", "bcast,1,2,8192,knomial", "bcast,1,2,16,basic_linear"} {
			if !strings.Contains(got, want) {
				t.Errorf("no sample %s in\n%s", want, got)
			}
		}
	})

	for setting, want := range map[string]string{
		"TUTTI_MODE=teach":    "TUTTI_MODE=teach: want explore or learn",
		"TUTTI_MONITOR=shout": "TUTTI_MONITOR=shout: want allreduce or rma",
		"TUTTI_BUDGET=-1":     "TUTTI_BUDGET=-1: want a number from 0 to 1e+09",
		"TUTTI_SAMPLES=/none": "/none: No such file or directory",
	} {
		t.Run(setting, func(t *testing.T) {
			said := testutil.RunProgram(t, within(t, m, library, "binomial", " 1 knomial", setting), m.Launcher, "-n", "2", loop, "50")
			if !strings.Contains(said, "right 250") || strings.Count(said, want+": nothing is explored") != 1 {
				t.Errorf("%s\nwant right calls and one %q", said, want)
			}
		})
	}
}

// TestLiveChannel: where the MPI library's own serves, all ranks hear by RMA of what one of them
// saw, in the same call, on communicators that come and go.
func TestLiveChannel(t *testing.T) {
	for _, m := range mpis() {
		t.Run(m.Compiler, func(t *testing.T) {
			seen := changed(t, m, "explore.c", "if (monitor_leave(&of->monitor, took, served_by != NULL))",
				"of->monitor.detected |= c->rank == c->shape->ranks - 1 && of->monitor.calls == 7; if (monitor_leave(&of->monitor, took, served_by != NULL) && fprintf(stderr, \"heard after %llu of %d\\n\", (unsigned long long)of->monitor.calls, c->shape->ranks))")
			loop := testutil.BuildProgram(t, m.Toolchain, test.Loop)
			env := within(t, m, seen, "binomial", " 1 knomial")
			var lines string
			for _, what := range []string{"allgather", "allreduce", "barrier"} {
				lines += "explore " + what + " ranks 1-9 ppn 1-9 bytes 0-99999 1 library_default\n"
			}
			table := filepath.Join(t.TempDir(), "table")
			if err := os.WriteFile(table, []byte(sealed("tutti-table 1\n"+lines)), 0o666); err != nil {
				t.Fatal(err)
			}
			for _, ranks := range []string{"3", "4"} {
				said := testutil.RunProgram(t, append(env, "TUTTI_TABLE="+table), m.Launcher, "-n", ranks, loop, "400", "split")
				if !strings.Contains(said, "right 4000") {
					t.Fatalf("on %s ranks\n%s", ranks, said)
				}
				for _, on := range []string{ranks, "2"} {
					if n := strings.Count(said, " of "+on+"\n"); n < 6 {
						t.Errorf("on %s of %s ranks %d heard:\n%s", on, ranks, n, said)
					}
				}
			}
		})
	}
}

// raced is what the program of that name says of a race: who serves from a call on, when ranks
// heard of a change or doubted, and what the calls until the end of each third took beside the base.
type raced struct {
	serves, heard, doubts []int // calls
	best                  []int // by serves
	cost                  []float64
}

// at returns who serves after a call.
func (r raced) at(call int) int {
	last := -1
	for i, from := range r.serves {
		if from <= call {
			last = r.best[i]
		}
	}
	return last
}

// foundBy returns how many calls after one it was heard or doubted, -1 for none in so many.
func (r raced) foundBy(call, within int) int {
	first := -1
	for _, at := range append(append([]int(nil), r.heard...), r.doubts...) {
		if after := at - call; after >= 0 && after < within && (first < 0 || after < first) {
			first = after
		}
	}
	return first
}

func race(t *testing.T, program, args string) (r raced) {
	t.Helper()
	said, err := exec.Command(program, strings.Fields(args)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", args, err, said)
	}
	for line := range strings.Lines(string(said)) {
		word := strings.Fields(line)
		call, err := strconv.Atoi(word[0])
		var cost float64
		switch {
		case word[1] == "announced":
			r.heard = append(r.heard, call)
		case word[1] == "recheck":
			r.doubts = append(r.doubts, call)
		case word[1] == "cost":
			_, err = fmt.Sscan(word[2], &cost)
			r.cost = append(r.cost, cost)
		default:
			var best int
			_, err = fmt.Sscan(word[1], &best)
			r.serves, r.best = append(r.serves, call), append(r.best, best)
		}
		if err != nil {
			t.Fatalf("%s: %q: %v", args, line, err)
		}
	}
	return r
}

// TestRace: in a race of algorithms with known times, 10 % noise, the fastest is found, its
// change is seen, and the account holds.
func TestRace(t *testing.T) {
	program := testutil.BuildWithRuntime(t, "eliminate")
	worst, alarms, wrong := 0.0, 0, 0
	for seed := range 20 {
		// The fastest takes 0.8 of the base and is three times as slow in the second third; then one that takes 0.9 is the fastest.
		r := race(t, program, fmt.Sprintf("%d 30000 0.1 0.5 64 0*3@10000-20000 1 0.8 1.2 1.5 3 8 2 0.9 1.1 5 20 2.5", seed))
		if r.at(10000) != 0 || r.at(20000) != 6 {
			wrong++
		}
		if r.at(10000) == 0 && r.foundBy(10000, 20) < 0 || r.cost[2] > 0.97 {
			t.Errorf("seed %d: %+v", seed, r)
		}
		// Nothing is faster.
		r = race(t, program, fmt.Sprintf("%d 3000 0.1 0.5 64 none 1 1.2 1.5 3 8 2 1.1 5 20 2.5", seed))
		if r.cost[2] > 1.045 {
			t.Errorf("seed %d: %+v: want 1.03, but for algorithms that are much slower than expected", seed, r)
		}
		worst, alarms = max(worst, r.cost[2]), alarms+len(r.heard)
	}
	t.Logf("%d of 20 with a second best at the end of a third", wrong)
	if wrong > 1 { // of neighbours 10 % apart, by times that differ by as much
		t.Errorf("%d of 20 seeds: the fastest was not found, or the next best not in its place", wrong)
	}
	t.Logf("where nothing is faster at most %.3f of the base, %d alarms in 60000 calls", worst, alarms)
	if alarms > 60 {
		t.Errorf("%d false alarms in 60000 calls", alarms)
	}
}

// TestChanges: a load that comes and goes as in Nanri's experiment is seen within 20 calls of each
// change, with 10 % noise, and other alarms are rare. Under load all take longer, the fastest most.
func TestChanges(t *testing.T) {
	program := testutil.BuildWithRuntime(t, "eliminate")
	const within = 20
	for _, tc := range []struct {
		noise          string
		ranks          int
		factor         float64
		missed, alarms int // of 80; in 17000 calls
	}{
		{"0.1", 64, 1.3, 4, 17},
		{"0.1", 64, 1.5, 4, 17},
		{"0.1", 64, 2, 4, 17},
		{"0.1", 64, 3, 4, 17},
		{"0.1", 512, 2, 4, 17},
		{"0.1:0.8", 64, 2, 4, 85}, // times that depend on those before
	} {
		t.Run(fmt.Sprintf("%s on %d ranks, %g times", tc.noise, tc.ranks, tc.factor), func(t *testing.T) {
			found, missed, last, alarms := 0, 0, 0, 0
			for seed := range 20 {
				r := race(t, program, fmt.Sprintf("%d 850 %s 0.5 %d all*%[4]g@250-400,all*%[4]g@550-700,0*1.5@250-400,0*1.5@550-700 4 1 1.3 1.6 2", seed, tc.noise, tc.ranks, tc.factor))
				alarms += len(r.heard)
				for _, change := range []int{250, 400, 550, 700} {
					after := r.foundBy(change, within)
					if after < 0 {
						missed++
						continue
					}
					found, last = found+after, max(last, after)
					if slices.Contains(r.heard, change+after) {
						alarms--
					}
				}
			}
			t.Logf("%d of 80 changes missed, the others found after %.1f calls, %d at most; %d other alarms in 17000 calls", missed, float64(found)/float64(80-missed), last, alarms)
			if missed > tc.missed || alarms > tc.alarms {
				t.Errorf("%d missed and %d other alarms: want %d and %d at most", missed, alarms, tc.missed, tc.alarms)
			}
		})
	}
}
