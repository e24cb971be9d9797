package libraries_test

import (
	"fmt"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi/libraries"
	"tutti/mpi/libtutti"
	"tutti/selection"
)

// TestAbove tests libtutti above MPICH and Open MPI. It must then have the algorithms of both libraries, and
// force each one as the algorithm's own library does.
func TestAbove(t *testing.T) {
	lib, ok := libraries.Named("libtutti")
	if !ok {
		t.Fatal("there is no libtutti")
	}
	mpilibrarytest.Check(t, lib, `
1+mpich-4.0.2 bcast 4x2 1024 binomial runs
1+mpich-4.0.2 bcast 4x2 1024 mpich.binomial runs
1+mpich-4.0.2 bcast 4x2 0 mpich.binomial cannot
1+mpich-4.0.2 allgather 3x1 8 mpich.recursive_doubling cannot
1+mpich-4.0.2 bcast 4x2 1024 mpich.alpha unknown      # by files, at the start
1+mpich-4.0.2 alltoallv 4x2 1024 mpich.scattered unknown
1 bcast 4x2 1024 mpich.binomial unknown
1+openmpi-4.1.4 bcast 4x2 8193 openmpi.pipeline runs
1+openmpi-4.1.4 bcast 4x2 8193 openmpi.pipeline(segsize=8192) unknown # wrong for some calls
1+openmpi-4.1.4 reduce 4x2 8193 openmpi.pipeline(segsize=8192) runs
1+openmpi-4.1.4 bcast 4x2 1024 openmpi.pipeline(chunk=8192) unknown
1+openmpi-4.1.4 bcast 4x2 1024 mpich.binomial unknown`)
	mpilibrarytest.CheckForced(t, lib, []mpilibrarytest.Forced{
		{Name: "the default above Open MPI", Release: "1+openmpi-4.1.4", Collective: coll.Barrier, Algorithm: "library_default", NewComm: true},
		{Name: "one of findings above it", Release: "1+openmpi-4.1.4", Collective: coll.Barrier, Algorithm: "bruck", Env: []string{"TUTTI_TABLE is a file"}, NewComm: true},
	})
}

// TestAboveRanges checks in which ranges campaigns search the parameters of algorithms: those of libtutti, and
// those of the library below it.
func TestAboveRanges(t *testing.T) {
	for text, want := range map[string]string{
		"reduce openmpi.chain(faninout=4,segsize=8192)": "[{segsize 1024 1048576}]",
		"bcast openmpi.chain(faninout=4)":               "[]",
		"bcast knomial":                                 "[{radix 2 64}]",
	} {
		_, cat, err := libraries.Release("libtutti", "1+openmpi-4.1.4")
		testutil.NoError(t, err)
		collective, name, _ := strings.Cut(text, " ")
		if got := fmt.Sprint(cat.Ranges(coll.Collective(collective), mpilibrarytest.Algorithm(t, name))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestMixedTable checks a table that selects an algorithm of the MPI library. It checks the control variables in the
// table, and the settings with which the MPI library must start.
func TestMixedTable(t *testing.T) {
	tests := []struct{ release, algorithm, settings string }{
		{"1+mpich-4.0.2", "mpich.reduce_scatter_allgather", "TUTTI_TABLE LD_PRELOAD"},
		{"1+openmpi-4.1.4", "openmpi.segmented_ring(segsize=1024)", "TUTTI_TABLE OMPI_MCA_coll_tuned_use_dynamic_rules OMPI_MCA_coll_hcoll_enable OMPI_MCA_coll_ucc_enable OMPI_MCA_coll_acoll_priority OMPI_MCA_coll_adapt_priority OMPI_MCA_coll_han_priority OMPI_MCA_coll_sm_priority OMPI_MCA_coll_xhc_priority LD_PRELOAD"},
	}
	want := []string{`tutti-table 1
for MPICH Version: 4.0.2
algorithm allreduce mpich.reduce_scatter_allgather count_ge_pof2,builtin_op same MPIR_CVAR_COLLECTIVE_FALLBACK=2 MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE=0 MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=4
allreduce ranks 8-8 ppn 2-2 bytes 1048576-1048576 mpich.reduce_scatter_allgather
`, `tutti-table 1
for Open MPI v4.1.4
algorithm allreduce openmpi.segmented_ring(segsize=1024) commutative,count_ge_size,builtin_op new coll_tuned_use_dynamic_rules=1 coll_tuned_allreduce_algorithm=5 coll_tuned_allreduce_algorithm_segmentsize=1024
allreduce ranks 8-8 ppn 2-2 bytes 1048576-1048576 openmpi.segmented_ring(segsize=1024)
`}
	for i, tc := range tests {
		lib, cat, err := libraries.Release("libtutti", tc.release)
		testutil.NoError(t, err)
		rows := []selection.Row{{
			Point:   coll.Point{Collective: coll.Allreduce, Nodes: 4, PPN: 2, MsgBytes: 1 << 20},
			Options: []selection.Option{{Algorithm: coll.Default, Seconds: 2e-3}, {Algorithm: mpilibrarytest.Algorithm(t, tc.algorithm), Seconds: 1e-3}},
		}}
		b := testutil.Must(lib.Open(cat, "/lib/libtutti.so"))(t)
		sel := testutil.Must(b.Merge(rows, 0))(t)
		x := testutil.Must(b.Export(sel, "/tuned"))(t)
		if text := string(x.Files[0].Content); !strings.HasPrefix(text, want[i]+"end ") {
			t.Errorf("table\n%swant\n%s", text, want[i])
		}
		if _, err := libtutti.Parse(x.Files[0].Content); err != nil {
			t.Error(err)
		}
		var names []string
		for _, s := range x.Setup.Settings {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != tc.settings {
			t.Errorf("settings %s, want %s", got, tc.settings)
		}
	}
}
