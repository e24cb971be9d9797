package mpich

import (
	"os"
	"slices"
	"strings"
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

func algorithm(t testing.TB, text string) coll.Algorithm {
	t.Helper()
	return mpilibrarytest.Algorithm(t, text)
}

// TestTable checks that the rows of the table are in the order of their numbers, and that compositions (plans of the
// ch4 device) follow the algorithms. No row may have the number 0, with which MPICH selects the algorithm itself.
// Function names must be those of MPICH.
func TestTable(t *testing.T) {
	place := func(e mpi.Entry) int {
		if composes(e) {
			return 1000 + e.ID
		}
		return e.ID
	}
	functions := string(testutil.Must(os.ReadFile("trees/4.0.2.names"))(t))
	for _, cat := range Library.Releases() {
		for _, c := range coll.Collectives() {
			entries := cat.Entries(c)
			if len(entries) == 0 {
				t.Errorf("%s has no algorithm for %s", cat.Version, c)
			}
			for i, e := range entries {
				if e.ID < 1 || i > 0 && place(e) <= place(entries[i-1]) {
					t.Errorf("%s %s %s: number %d is 0, there twice or out of order", cat.Version, c, e.Name, e.ID)
				}
				name := strings.ToUpper(string(c[:1])) + string(c[1:])
				want := "MPIR_" + name + "_intra_" + e.Name
				if !strings.Contains(functions, "MPIR_"+name+"_intra_") { // MPICH has the same functions for intercommunicators
					want = "MPIR_" + name + "_allcomm_" + e.Name
				}
				if composes(e) {
					want = "MPIDI_" + name + "_intra_composition_" + e.Name
				}
				if e.Function != want {
					t.Errorf("%s %s %s: function %q, want %q", cat.Version, c, e.Name, e.Function, want)
				}
			}
		}
	}
}

func TestCheck(t *testing.T) {
	mpilibrarytest.Check(t, Library, `
4.0.2 allgather 4x1 8 recursive_doubling runs
4.0.2 allgather 6x1 8 recursive_doubling cannot
4.0.2 allgather 3x4 8 recursive_doubling cannot
4.0.2 allgather 2x8 8 recursive_doubling runs
4.0.2 allgatherv 5x1 8 recursive_doubling cannot
4.0.2 allgather 7x3 8 brucks runs
4.0.2 allreduce 12x1 32 reduce_scatter_allgather runs
4.0.2 allreduce 12x1 28 reduce_scatter_allgather cannot
4.0.2 allreduce 16x1 64 reduce_scatter_allgather runs
4.0.2 allreduce 16x1 32 reduce_scatter_allgather cannot
4.0.2 reduce 2x4 28 reduce_scatter_gather cannot
4.0.2 bcast 4x2 8 smp runs
4.0.2 bcast 4x1 8 smp cannot
4.0.2 barrier 4x1 0 smp cannot
4.0.2 scan 4x3 8 smp runs
4.0.2 alltoall 4x1 8 pairwise_sendrecv_replace cannot # in place only
4.0.2 alltoall 4x1 8 pairwise runs
4.0.2 reduce_scatter 8x1 8 noncommutative unknown # wrong for types with gaps
5.0.1 reduce_scatter_block 8x1 8 noncommutative unknown
4.0.2 reduce 4x2 8 alpha(inter=binomial) unknown # a root in place crashes
4.1.2 reduce 4x2 8 alpha unknown
4.2.3 reduce 4x2 8 alpha runs
4.0.2 allreduce 4x1 8 recexch(k=2,single_phase_recv=0) unknown # came with 4.1
4.1.2 allreduce 4x1 8 recexch unknown # MPICH has no default for k
4.1.2 allgather 4x1 8 k_brucks(k=2) unknown # in faults.csv
4.1.2 allreduce 4x1 8 recexch(k=2) unknown
4.1.2 allreduce 4x1 8 recexch(k=2,single_phase_recv=0) runs
4.0.2 bcast 4x1 8 binomial(segsize=8192) unknown
4.0.2 barrier 7x1 0 library_default runs
`)
}

func TestErrorsNameWhatIsAllowed(t *testing.T) {
	point := coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 1, MsgBytes: 8}
	tests := []struct{ version, algorithm, want string }{
		{"4.0.2", "ring", "mpich 4.0.2 bcast ring: not in the catalogue: want one of binomial, smp, scatter_recursive_doubling_allgather, scatter_ring_allgather, alpha, beta, gamma"},
		{"4.0.2", "smp", "bcast 4x1 8B smp: cannot run there: needs a node with two ranks or more"},
		{"4.0.2", "binomial(k=2)", "mpich 4.0.2 bcast binomial(k=2): parameter k: not in the catalogue: want none"},
		{"4.1.2", "tree(k=2,tree_type=kary)", "mpich 4.1.2 bcast tree(k=2,tree_type=kary): parameter is_non_blocking is missing: not in the catalogue"},
		{"4.0.2", "alpha(inter=smp)", "mpich 4.0.2 bcast alpha(inter=smp): inter=smp: not in the catalogue: want one of binomial, scatter_recursive_doubling_allgather, scatter_ring_allgather"},
	}
	for _, tc := range tests {
		err := release(t, tc.version).Check(coll.Candidate{Point: point, Algorithm: algorithm(t, tc.algorithm)})
		if err == nil || err.Error() != tc.want {
			t.Errorf("Check(%s) error\n got %v\nwant %s", tc.algorithm, err, tc.want)
		}
	}
}

func TestCheckParts(t *testing.T) {
	mpilibrarytest.Check(t, Library, `
4.0.2 bcast 4x2 8 alpha runs
4.0.2 bcast 4x1 8 alpha cannot
4.0.2 bcast 1x4 8 alpha cannot
4.0.2 bcast 4x2 8 alpha(inter=scatter_ring_allgather) runs
4.0.2 bcast 4x2 8 alpha(inter=binomial,node=scatter_ring_allgather) runs
4.0.2 bcast 2x2 8 beta(inter=binomial) runs
4.0.2 bcast 4x1 8 gamma runs
4.0.2 bcast 4x2 8 gamma(inter=binomial) unknown
4.0.2 bcast 4x2 8 alpha(inter=smp) unknown
4.0.2 bcast 4x2 8 alpha(inter=gamma) unknown
4.0.2 bcast 4x2 8 alpha(inter=pipeline) unknown
4.0.2 bcast 4x2 8 alpha(outer=binomial) unknown

# Floats between 4 nodes need 4 of them, on 6 ranks of a node as well.
4.0.2 allreduce 4x6 16 alpha(inter=reduce_scatter_allgather) runs
4.0.2 allreduce 4x6 12 alpha(inter=reduce_scatter_allgather) cannot
4.0.2 reduce 2x6 16 beta(node=reduce_scatter_gather) runs
4.0.2 reduce 2x6 12 beta(node=reduce_scatter_gather) cannot
4.0.2 allreduce 1x4 8 gamma runs
4.0.2 allreduce 2x4 8 gamma cannot
4.0.2 scan 3x2 8 alpha runs
4.0.2 barrier 3x1 0 alpha cannot
4.0.2 alltoall 3x1 8 alpha runs
`)
}

func TestHandsOn(t *testing.T) {
	want := map[coll.Collective]string{coll.Bcast: "gamma", coll.Allreduce: "beta", coll.Reduce: "gamma", coll.Barrier: "beta", coll.Scan: "beta"}
	cat := release(t, "4.0.2")
	for _, c := range coll.Collectives() {
		name := want[c]
		if name == "" {
			name = "alpha"
		}
		if e, ok := handsOn(cat, c); ok == c.Nonblocking() || ok && e.Name != name {
			t.Errorf("handsOn(%s) = %s, %t, want %s", c, e.Name, ok, name)
		}
	}
}

func TestAlgorithms(t *testing.T) {
	mpilibrarytest.CheckListed(t, Library, map[string]string{
		"4.0.2 bcast": "binomial smp scatter_recursive_doubling_allgather scatter_ring_allgather alpha(inter=binomial) " +
			"alpha(inter=scatter_recursive_doubling_allgather) alpha(inter=scatter_ring_allgather)",
		"4.0.2 allreduce": "smp recursive_doubling reduce_scatter_allgather alpha(inter=recursive_doubling) alpha(inter=reduce_scatter_allgather)",
		"4.0.2 reduce":    "binomial smp reduce_scatter_gather beta(inter=binomial) beta(inter=reduce_scatter_gather)",
		"4.0.2 barrier":   "smp dissemination alpha",
		"4.0.2 scan":      "smp recursive_doubling alpha",
		"4.0.2 alltoall":  "brucks pairwise scattered",
		"4.1.2 barrier":   "smp k_dissemination(k=2) k_dissemination(k=4) k_dissemination(k=8) alpha",
		"4.3.2 bcast": "binomial smp scatter_recursive_doubling_allgather scatter_ring_allgather " +
			"pipelined_tree(chunk_size=65536,is_non_blocking=1,k=2,recv_pre_posted=0,tree_type=kary) …",
	})
}

// TestAlgorithmsAreComplete checks that the candidates of each release contain every algorithm, with all its
// parameters. It does not check compositions (plans of the ch4 device).
func TestAlgorithmsAreComplete(t *testing.T) {
	for _, cat := range Library.Releases() {
		for _, c := range coll.Collectives() {
			for _, e := range cat.Entries(c) {
				if composes(e) || e.Has(mpi.InPlace) {
					continue
				}
				listed := slices.ContainsFunc(cat.Algorithms(c), func(a coll.Algorithm) bool {
					return a.Name == e.Name && len(a.Params()) == len(e.Params)
				})
				if !listed {
					t.Errorf("%s %s: %s is not listed", cat.Version, c, e.Name)
				}
			}
		}
	}
}

// TestRenamed checks that a tree kind written as a number is valid in releases before 4.3 only.
func TestRenamed(t *testing.T) {
	for version, want := range map[string]bool{"4.0.2": false, "4.2.3": false, "4.3.0": true, "4.10": true, "5.0.1": true} {
		if got := namesTrees(version); got != want {
			t.Errorf("namesTrees(%s) = %t", version, got)
		}
	}
	c := coll.Candidate{
		Point:     coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 1, MsgBytes: 64},
		Algorithm: algorithm(t, "tree(is_non_blocking=0,k=2,tree_type=1)"),
	}
	for measured, want := range map[string]bool{"4.2.3": false, "5.0.1": true} {
		if got := release(t, "4.3.2").ValidFrom(c, measured); got != want {
			t.Errorf("measured with %s: carried %t, want %t", measured, got, want)
		}
	}
}

func TestPartPoint(t *testing.T) {
	p := coll.Point{Collective: coll.Bcast, Nodes: 3, PPN: 4, MsgBytes: 8}
	want := []coll.Point{{Collective: coll.Bcast, Nodes: 3, PPN: 1, MsgBytes: 8}, {Collective: coll.Bcast, Nodes: 1, PPN: 4, MsgBytes: 8}}
	if d := cmp.Diff(want, []coll.Point{partPoint(p, interPart), partPoint(p, nodePart)}); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
