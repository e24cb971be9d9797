package csource_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/csource"
	"tutti/internal/testutil"
)

// learnEnv returns the environment of an application in mode learn, which finds the fastest algorithm while it
// runs. Its table selects one algorithm of bcast and explores others.
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

// slow is the algorithm that takes 100 times as long as others in the library of fedTimes.
const slow = "pipeline(segsize=1)"

// fedTimes returns the runtime library with another clock: a call takes 10 ms if the slow algorithm serves it,
// otherwise 100 us, and an exchange of times takes no time. Decisions are then the same on a busy machine.
func fedTimes(t *testing.T, m mpiOf) string {
	t.Helper()
	return buildChanged(t, m, "explore.c",
		"class *of = s->class;\n    if (s == &e->watched)",
		`class *of = s->class;
    took = (uint64_t)((served_by != NULL && strcmp(served_by, "`+slow+`") == 0 ? 1e-2 : 1e-4) / clock_period());
    if (s == &e->watched)`,
		"e->exchanges++ == 0 ? 0 : ticks() - from", "0 * (e->exchanges++ + from)")
}

// TestLiveLearn checks that a faster algorithm replaces the selected one. A slower algorithm is tried only
// as often as the exploration budget allows.
func TestLiveLearn(t *testing.T) {
	for _, m := range someMPIs() {
		t.Run(m.Compiler, func(t *testing.T) {
			library := fedTimes(t, m)
			served := testutil.BuildProgram(t, m.Toolchain, testutil.ServedProgram)
			run := func(over, selected, others string, more ...string) (map[string]int, string) {
				env := learnEnv(t, m, library, selected, others, "TUTTI_BUDGET="+over)
				return servedBy(t, testutil.RunProgram(t, env, m.Launcher, append([]string{"-n", "2", served, "64", "300"}, more...)...))
			}
			if times, last := run("1", slow, " 1 binomial 1 library_default"); last == slow || times[slow] > 50 {
				t.Errorf("%v, %s last: want another algorithm soon", times, last)
			}
			times, last := run("0.03", "binomial", " 1 "+slow)
			if last != "binomial" || times[slow] == 0 || times[slow] > 2 {
				t.Errorf("%v, %s last: want binomial, and the slow one tried once or twice", times, last)
			}
			// The program marks every second call as another site (place in the program). The library learns for
			// each site separately, so each site tries the slow algorithm.
			if times, last = run("1e9", "binomial", " 1 "+slow, "7"); last != "binomial" || times[slow] != 4 {
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

// TestLiveChannel checks that one-sided operations announce a change that one rank detects to all ranks in the
// same call. An algorithm of the MPI library serves these calls. Announcements must also work on communicators
// that the application creates and frees.
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

// mixed maps each MPI compiler to a table with algorithms of the MPI library and of libtutti. Each entry
// also says how the probe program detects the algorithm, and which environment the MPI library needs.
var mixed = map[string]struct {
	table, observation, shows string
	env                       []string
}{
	"mpicc.mpich": {
		table: `for MPICH Version: 4.0.2
algorithm bcast mpich.scatter_ring_allgather - same MPIR_CVAR_COLLECTIVE_FALLBACK=2 MPIR_CVAR_BCAST_DEVICE_COLLECTIVE=0 MPIR_CVAR_BCAST_INTRA_ALGORITHM=5
algorithm allgather mpich.recursive_doubling pow2 same MPIR_CVAR_COLLECTIVE_FALLBACK=2 MPIR_CVAR_ALLGATHER_DEVICE_COLLECTIVE=0 MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM=3
algorithm allreduce mpich.reduce_scatter_allgather count_ge_pof2,builtin_op same MPIR_CVAR_COLLECTIVE_FALLBACK=2 MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE=0 MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=4
allgather ranks 1-64 ppn 1-64 bytes 0-1048576 mpich.recursive_doubling
allreduce ranks 1-64 ppn 1-64 bytes 0-1048576 mpich.reduce_scatter_allgather
bcast ranks 1-64 ppn 1-64 bytes 0-100 binomial
bcast ranks 1-64 ppn 1-64 bytes 101-1048576 mpich.scatter_ring_allgather
`,
		observation: "stack", shows: "MPIR_Bcast_intra_scatter_ring_allgather",
	},
	"mpicc.openmpi": {
		table: `for Open MPI v4.1.4
algorithm bcast openmpi.pipeline(segsize=1024) - new coll_tuned_use_dynamic_rules=1 coll_tuned_bcast_algorithm=3 coll_tuned_bcast_algorithm_segmentsize=1024
algorithm allreduce openmpi.ring commutative,count_ge_size,builtin_op new coll_tuned_use_dynamic_rules=1 coll_tuned_allreduce_algorithm=4
allreduce ranks 1-64 ppn 1-64 bytes 0-1048576 openmpi.ring
bcast ranks 1-64 ppn 1-64 bytes 0-100 binomial
bcast ranks 1-64 ppn 1-64 bytes 101-1048576 openmpi.pipeline(segsize=1024)
`,
		observation: "ask", shows: "saw openmpi.pipeline(segsize=1024)",
		env: []string{"OMPI_MCA_coll_tuned_use_dynamic_rules=1"},
	},
}

// TestLiveMixed checks that algorithms of the MPI library and of libtutti compute correct data, and that the
// MPI library runs the selected algorithm. A table for another build must select nothing. The same holds for a
// table with control variables that cannot be written.
func TestLiveMixed(t *testing.T) {
	for _, m := range someMPIs() {
		t.Run(m.Compiler, func(t *testing.T) {
			library := runtimeLibrary(t, m)
			probe := testutil.BuildProgram(t, m.Toolchain, csource.Probe)
			way := mixed[m.Compiler]
			table := sealTable("tutti-table 1\n" + way.table)
			env := append(tableEnv(t, m, table, library), way.env...)
			testutil.CheckAllRight(t, testutil.RunProgram(t, env, m.Launcher, "-n", "4", testutil.BuildProgram(t, m.Toolchain, testutil.CollectivesProgram), "check", "100"))
			if said := testutil.RunProgram(t, env, m.Launcher, "-n", "3", probe, way.observation, "bcast", "1000"); !strings.Contains(said, way.shows) {
				t.Errorf("want %q:\n%s", way.shows, said)
			}
			refused := map[string]string{
				"another build":    strings.Replace(table, "for ", "for My ", 1),
				"unknown variable": strings.Replace(table, "INTRA_ALGORITHM=5", "INTRA_ALGORITHMS=5", 1),
			}
			wants := map[string]string{"another build": ": tuned for My ", "unknown variable": "no such control variable: nothing is selected"}
			if m.Compiler == "mpicc.openmpi" {
				// This variable exists but is read-only.
				refused["unknown variable"], wants["unknown variable"] = table, "coll_tuned_use_dynamic_rules=1: can never be set: nothing is selected"
			}
			for name, text := range refused {
				if name == "another build" && !testutil.AllCases() {
					continue
				}
				rules := strings.SplitAfter(text, "\n")
				env := tableEnv(t, m, sealTable(strings.Join(rules[:len(rules)-2], "")), library)
				said := testutil.RunProgram(t, env, m.Launcher, "-n", "2", probe, "ask", "bcast", "1000")
				if strings.Count(said, wants[name]) != 1 || !strings.Contains(said, "saw library_default") {
					t.Errorf("%s: want one %q, and the MPI library's own choice:\n%s", name, wants[name], said)
				}
			}
		})
	}
}

// TestLiveMixedLog checks that Open MPI runs the selected algorithm on the communicators that libtutti
// creates for it. The test finds the algorithm's function in the log of rank 0's dynamic loader.
func TestLiveMixedLog(t *testing.T) {
	testutil.NeedAllCases(t)
	m := mpis()[1]
	library := runtimeLibrary(t, m)
	probe := testutil.BuildProgram(t, m.Toolchain, csource.Probe)
	way := mixed[m.Compiler]
	dir := t.TempDir()
	script := filepath.Join(dir, "traced")
	text := "#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" = 0 ] && export LD_DEBUG=bindings LD_DEBUG_OUTPUT='" + dir + "/log'\nexec '" + probe + "' \"$@\"\n"
	testutil.NoError(t, os.WriteFile(script, []byte(text), 0o755))
	env := append(tableEnv(t, m, sealTable("tutti-table 1\n"+way.table), library), way.env...)
	said := testutil.RunProgram(t, env, m.Launcher, "-n", "3", script, "ask", "bcast", "1000")
	logs := testutil.Must(filepath.Glob(dir + "/log*"))(t)
	for _, name := range logs {
		log := testutil.Must(os.ReadFile(name))(t)
		if strings.Contains(string(log), "ompi_coll_base_bcast_intra_pipeline") {
			return
		}
	}
	t.Errorf("no log of %q names the pipeline:\n%s", logs, said)
}
