package openmpi

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
)

func release(t testing.TB, version string) *mpi.Catalogue {
	t.Helper()
	return mpilibrarytest.Release(t, Library, version)
}

func TestCheck(t *testing.T) {
	mpilibrarytest.Check(t, Library, `
4.1.4 allgather 2x1 8 two_proc runs
4.1.4 allgather 1x2 8 two_proc runs
4.1.4 barrier 4x1 0 two_proc cannot
4.1.4 alltoall 3x1 8 two_proc cannot
4.1.4 allgather 6x1 8 neighbor runs
4.1.4 allgather 3x3 8 neighbor cannot
4.1.4 allgatherv 3x1 8 neighbor cannot
4.1.4 bcast 6x1 6 scatter_allgather runs
4.1.4 bcast 6x1 5 scatter_allgather cannot
4.1.4 allreduce 6x1 24 ring runs
4.1.4 allreduce 6x1 20 ring cannot
4.1.4 bcast 4x1 8 chain runs # 0 stands for what is not given
4.1.4 bcast 4x1 8 chain(segsize=8192) runs
4.1.4 bcast 4x1 8 chain(faninout=4,segsize=8192) runs
4.1.4 bcast 4x1 8 chain(k=2) unknown
4.1.4 bcast 4x1 8 basic_linear(segsize=8192) unknown
4.1.4 allgather 4x1 8 sparbit unknown # came with 5.0
5.0.9 allgather 4x1 8 sparbit runs
4.1.4 gather 7x1 1 library_default runs
6.0.x allgather 4x1 8 bruck-k-fanout(faninout=2) runs
6.0.x allgather 4x1 8 bruck-k-fanout unknown # never ends without a radix
6.0.x allgather 4x1 8 bruck-k-fanout(faninout=1) unknown
6.0.x reduce 4x1 8 knomial(faninout=4) runs
6.0.x reduce 4x1 8 knomial unknown
6.0.x reduce 4x1 8 knomial(faninout=0) unknown
`)
}

// TestNumbers checks that the catalogue of 4.1.4 has Open MPI's algorithms in the order of their numbers.
func TestNumbers(t *testing.T) {
	want := map[coll.Collective][]string{
		coll.Allgather:          {"linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc"},
		coll.Allgatherv:         {"default", "bruck", "ring", "neighbor", "two_proc"},
		coll.Allreduce:          {"basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"},
		coll.Alltoall:           {"linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"},
		coll.Alltoallv:          {"basic_linear", "pairwise"},
		coll.Barrier:            {"linear", "double_ring", "recursive_doubling", "bruck", "two_proc", "tree"},
		coll.Bcast:              {"basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial", "scatter_allgather", "scatter_allgather_ring"},
		coll.Exscan:             {"linear", "recursive_doubling"},
		coll.Gather:             {"basic_linear", "binomial", "linear_sync"},
		coll.Reduce:             {"linear", "chain", "pipeline", "binary", "binomial", "in-order_binary", "rabenseifner"},
		coll.ReduceScatter:      {"non-overlapping", "recursive_halving", "ring", "butterfly"},
		coll.ReduceScatterBlock: {"basic_linear", "recursive_doubling", "recursive_halving", "butterfly"},
		coll.Scan:               {"linear", "recursive_doubling"},
		coll.Scatter:            {"basic_linear", "binomial", "linear_nb"},
	}
	cat := release(t, "4.1.4")
	for _, c := range coll.Collectives() {
		var names []string
		for i, e := range cat.Entries(c) {
			names = append(names, e.Name)
			if e.ID != i+1 {
				t.Errorf("%s %s has number %d, want %d", c, e.Name, e.ID, i+1)
			}
		}
		if diff := cmp.Diff(want[c], names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c, diff)
		}
	}
}

// TestTable checks that the table has algorithms of the collectives that coll/tuned has rules for, in the order of their
// numbers. No row may have the number 0, with which Open MPI selects the algorithm itself.
func TestTable(t *testing.T) {
	for _, cat := range Library.Releases() {
		for _, c := range coll.Collectives() {
			entries := cat.Entries(c)
			if ruled := slices.Contains(numbers, c); ruled != (len(entries) > 0) {
				t.Errorf("%s has %d algorithms for %s, rules: %t", cat.Version, len(entries), c, ruled)
			}
			for i, e := range entries {
				if e.ID < 1 || i > 0 && e.ID <= entries[i-1].ID {
					t.Errorf("%s %s: %+v: want ascending numbers", cat.Version, c, e)
				}
			}
		}
	}
}

// TestOpSafety checks which algorithms are wrong for operations that do not commute or for some types.
func TestOpSafety(t *testing.T) {
	want := map[string][]string{
		"4.1.4": {
			"allgather linear", "allreduce ring", "allreduce segmented_ring", "alltoall modified_bruck",
			"bcast chain with segsize", "bcast pipeline with segsize", "bcast split_binary_tree", "bcast binary_tree with segsize", "bcast binomial with segsize",
			"bcast knomial with segsize", "bcast scatter_allgather", "bcast scatter_allgather_ring", "gather binomial", "gather linear_sync with segsize",
			"reduce chain", "reduce pipeline", "reduce binary", "reduce binomial",
			"reduce_scatter recursive_halving", "reduce_scatter ring",
		},
		"5.0.9": {
			"allgather linear", "allgather sparbit", "allreduce ring", "allreduce segmented_ring", "alltoall modified_bruck",
			"bcast chain with segsize", "bcast pipeline with segsize", "bcast split_binary_tree", "bcast binary_tree with segsize", "bcast binomial with segsize",
			"bcast knomial with segsize", "bcast scatter_allgather", "bcast scatter_allgather_ring", "bcast han",
			"gather binomial", "gather linear_sync with segsize",
			"reduce chain", "reduce pipeline", "reduce binary", "reduce binomial", "reduce_scatter recursive_halving", "reduce_scatter ring",
		},
		"6.0.x": {
			"allgather linear", "allgather sparbit", "allgather direct-messaging", "allreduce ring", "allreduce segmented_ring", "allreduce allgather_reduce",
			"alltoall modified_bruck",
			"bcast chain with segsize", "bcast pipeline with segsize", "bcast split_binary_tree", "bcast binary_tree with segsize", "bcast binomial with segsize",
			"bcast knomial with segsize", "bcast scatter_allgather", "bcast scatter_allgather_ring", "bcast han",
			"gather binomial", "gather linear_sync with segsize", "reduce chain", "reduce pipeline", "reduce binary", "reduce binomial", "reduce knomial",
			"reduce_scatter recursive_halving", "reduce_scatter ring",
		},
	}
	for _, cat := range Library.Releases() {
		var got []string
		for _, c := range coll.Collectives() {
			for _, alg := range cat.Algorithms(c) {
				if name := testutil.Must(cat.Lookup(c, alg))(t).Unsafe(alg); name != "" {
					got = append(got, string(c)+" "+name)
				}
			}
		}
		if diff := cmp.Diff(want[cat.Version], slices.Compact(got)); diff != "" {
			t.Errorf("unsafe in %s (-want +got):\n%s", cat.Version, diff)
		}
	}
}

func TestAlgorithms(t *testing.T) {
	mpilibrarytest.CheckListed(t, Library, map[string]string{
		"4.1.4 bcast": "basic_linear chain(faninout=2,segsize=0) chain(faninout=2,segsize=65536) chain(faninout=2,segsize=8192) " +
			"chain(faninout=4,segsize=0) chain(faninout=4,segsize=65536) chain(faninout=4,segsize=8192) pipeline(segsize=0) …",
		"4.1.4 barrier":   "linear double_ring recursive_doubling bruck two_proc tree",
		"4.1.4 allreduce": "basic_linear nonoverlapping recursive_doubling ring segmented_ring(segsize=65536) segmented_ring(segsize=8192) rabenseifner",
		"6.0.x allgather": "linear bruck-k-fanout(faninout=2) bruck-k-fanout(faninout=4) bruck-k-fanout(faninout=8) recursive_doubling ring …",
		"5.0.9 alltoall":  "linear pairwise modified_bruck linear_sync(max_requests=0) two_proc",
	})
}

// TestAlgorithmsAreComplete checks that all algorithms are listed, and that each of their parameters has a
// value.
func TestAlgorithmsAreComplete(t *testing.T) {
	for _, cat := range Library.Releases() {
		for _, c := range coll.Collectives() {
			names := map[string]int{}
			for _, a := range cat.Algorithms(c) {
				names[a.Name] = len(a.Params())
			}
			for _, e := range cat.Entries(c) {
				if n, ok := names[e.Name]; !ok || n != len(e.Params) {
					t.Errorf("%s %s: %s has %d values: want those of %v", cat.Version, c, e.Name, n, e.Params)
				}
			}
		}
	}
}
