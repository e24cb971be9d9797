package csource_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/csource"
	"tutti/internal/testutil"
)

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

// TestLiveMixed checks that algorithms of the MPI library and of libtutti compute correct data, and that
// the MPI library runs the selected algorithm. A table for another build selects nothing, nor does a table
// with variables that cannot be written.
func TestLiveMixed(t *testing.T) {
	for _, m := range mpis() {
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
