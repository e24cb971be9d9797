package catalogue

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
)

// releases of the table, oldest first.
var releases = map[string][]string{
	MPICH:   {"4.0.2", "4.1.2", "4.2.3", "4.3.2", "5.0.1"},
	OpenMPI: {"4.1.4", "5.0.9", "6.0.x"},
}

func release(t *testing.T, library, version string) *Catalogue {
	t.Helper()
	c, err := For(library, version)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func algorithm(t *testing.T, s string) coll.Algorithm {
	t.Helper()
	a, err := coll.ParseAlgorithm(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func names(entries []Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Name)
	}
	return out
}

func TestVersions(t *testing.T) {
	for _, library := range Libraries() {
		if diff := cmp.Diff(releases[library], Versions(library)); diff != "" {
			t.Errorf("Versions(%s) (-want +got):\n%s", library, diff)
		}
	}
	if got := Versions("intelmpi"); got != nil {
		t.Errorf("Versions(intelmpi) = %v, want none", got)
	}
	_, err := For(MPICH, "4.0.3")
	if !errors.Is(err, ErrUnknown) {
		t.Fatalf("For(mpich, 4.0.3) error = %v, want one matching ErrUnknown", err)
	}
	for _, want := range []string{"mpich 4.0.3", "mpich 4.0.2", "openmpi 4.1.4"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("For(mpich, 4.0.3) error = %q, want it to name %s", err, want)
		}
	}
}

// Every row can be asked for, and what it says is of the kind that its library
// knows.
func TestTable(t *testing.T) {
	for _, library := range Libraries() {
		for _, version := range Versions(library) {
			cat := release(t, library, version)
			for _, collective := range coll.Collectives() {
				entries := cat.Entries(collective)
				if len(entries) == 0 {
					t.Errorf("%s %s has no algorithm for %s", library, version, collective)
				}
				if !slices.IsSortedFunc(entries, func(a, b Entry) int { return place(a) - place(b) }) {
					t.Errorf("%s %s %s: %v are not in the order of their numbers", library, version, collective, names(entries))
				}
				for i, e := range entries {
					checkEntry(t, cat, collective, e)
					if i > 0 && place(e) == place(entries[i-1]) || slices.Contains(names(entries[:i]), e.Name) {
						t.Errorf("%s %s %s: %s (%d) is there twice", library, version, collective, e.Name, e.ID)
					}
				}
			}
		}
	}
}

// place puts compositions behind the algorithms.
func place(e Entry) int {
	if e.Composition() {
		return 1000 + e.ID
	}
	return e.ID
}

func checkEntry(t *testing.T, cat *Catalogue, collective coll.Collective, e Entry) {
	t.Helper()
	var params []coll.Param
	for _, p := range e.Params {
		value := "1"
		if e.Composition() {
			value = parts[collective]
		}
		params = append(params, coll.Param{Name: p, Value: value})
	}
	alg, err := coll.NewAlgorithm(e.Name, params...)
	if err != nil {
		t.Errorf("%s %s %s: %v", cat.Library, cat.Version, collective, err)
		return
	}
	got, err := cat.Lookup(collective, alg)
	if err != nil || got.ID != e.ID {
		t.Errorf("Lookup(%s, %v) = number %d, %v, want %d", collective, alg, got.ID, err, e.ID)
	}
	if e.ID < 1 {
		t.Errorf("%s %s: number %d, want 1 or more: 0 leaves the choice to the library", collective, e.Name, e.ID)
	}
	switch cat.Library {
	case MPICH:
		name := strings.ToUpper(string(collective[:1])) + string(collective[1:])
		want := "MPIR_" + name + "_intra_" + e.Name
		if e.Composition() {
			want = "MPIDI_" + name + "_intra_composition_" + e.Name
		}
		if e.Leaf != want {
			t.Errorf("%s %s: leaf %q, want %q", collective, e.Name, e.Leaf, want)
		}
	case OpenMPI:
		if e.Leaf != "" {
			t.Errorf("%s %s: leaf %q, want none", collective, e.Name, e.Leaf)
		}
	}
	if !e.OpSafe && !collective.Reduces() {
		t.Errorf("%s %s is not safe for some operation, but has none", collective, e.Name)
	}
	if !e.OpSafe && !e.Has(Commutative) {
		t.Errorf("%s %s is not safe for every operation, but does not require a commutative one", collective, e.Name)
	}
}

// The rows of recorded libraries can be asked for, none twice.
func TestRecorded(t *testing.T) {
	for _, library := range Recorded() {
		versions := Versions(library)
		if len(versions) == 0 {
			t.Errorf("%s has no release", library)
		}
		for _, version := range versions {
			cat := release(t, library, version)
			for _, collective := range coll.Collectives() {
				entries := cat.Entries(collective)
				for i, e := range entries {
					got, err := cat.Lookup(collective, coll.Algorithm{Name: e.Name})
					if err != nil || got.ID != e.ID || e.ID < 0 || e.Leaf != "" {
						t.Errorf("%s %s %s: %+v, %v", library, version, collective, e, err)
					}
					if i > 0 && e.ID <= entries[i-1].ID || slices.Contains(names(entries[:i]), e.Name) {
						t.Errorf("%s %s %s: %s (%d) is there twice or out of order", library, version, collective, e.Name, e.ID)
					}
				}
			}
		}
	}
}

func TestCheckFeasible(t *testing.T) {
	const (
		here    = "here"
		refused = "refused"
		unknown = "unknown"
	)
	tests := []struct {
		library, version string
		collective       coll.Collective
		algorithm        string
		nodes, ppn       int
		bytes            int64
		want             string
	}{
		{MPICH, "4.0.2", coll.Allgather, "recursive_doubling", 4, 1, 8, here},
		{MPICH, "4.0.2", coll.Allgather, "recursive_doubling", 6, 1, 8, refused},
		{MPICH, "4.0.2", coll.Allgather, "recursive_doubling", 3, 4, 8, refused},
		{MPICH, "4.0.2", coll.Allgather, "recursive_doubling", 2, 8, 8, here},
		{MPICH, "4.0.2", coll.Allgatherv, "recursive_doubling", 5, 1, 8, refused},
		{MPICH, "4.0.2", coll.Allgather, "brucks", 7, 3, 8, here},

		// Floats: 12 processes have 8 as their largest power of two.
		{MPICH, "4.0.2", coll.Allreduce, "reduce_scatter_allgather", 12, 1, 32, here},
		{MPICH, "4.0.2", coll.Allreduce, "reduce_scatter_allgather", 12, 1, 28, refused},
		{MPICH, "4.0.2", coll.Allreduce, "reduce_scatter_allgather", 16, 1, 64, here},
		{MPICH, "4.0.2", coll.Allreduce, "reduce_scatter_allgather", 16, 1, 32, refused},
		{MPICH, "4.0.2", coll.Reduce, "reduce_scatter_gather", 2, 4, 28, refused},

		{MPICH, "4.0.2", coll.Bcast, "smp", 4, 2, 8, here},
		{MPICH, "4.0.2", coll.Bcast, "smp", 4, 1, 8, refused},
		{MPICH, "4.0.2", coll.Barrier, "smp", 4, 1, 0, refused},
		{MPICH, "4.0.2", coll.Scan, "smp", 4, 3, 8, here},
		{MPICH, "4.0.2", coll.Alltoall, "pairwise_sendrecv_replace", 4, 1, 8, refused}, // in place only
		{MPICH, "4.0.2", coll.Alltoall, "pairwise", 4, 1, 8, here},
		{MPICH, "4.0.2", coll.ReduceScatter, "noncommutative", 5, 1, 8, refused},
		{MPICH, "4.0.2", coll.ReduceScatter, "noncommutative", 8, 1, 8, here},
		{MPICH, "4.0.2", coll.Allgather, "k_brucks(k=2)", 4, 1, 8, unknown}, // came with 4.1
		{MPICH, "4.1.2", coll.Allgather, "k_brucks(k=2)", 4, 1, 8, here},
		{MPICH, "4.1.2", coll.Allgather, "k_brucks", 4, 1, 8, unknown}, // MPICH has no default for k
		{MPICH, "4.1.2", coll.Allreduce, "recexch(k=2)", 4, 1, 8, unknown},
		{MPICH, "4.1.2", coll.Allreduce, "recexch(k=2,single_phase_recv=0)", 4, 1, 8, here},
		{MPICH, "4.0.2", coll.Bcast, "binomial(segsize=8192)", 4, 1, 8, unknown},

		{OpenMPI, "4.1.4", coll.Allgather, "two_proc", 2, 1, 8, here},
		{OpenMPI, "4.1.4", coll.Allgather, "two_proc", 1, 2, 8, here},
		{OpenMPI, "4.1.4", coll.Barrier, "two_proc", 4, 1, 0, refused},
		{OpenMPI, "4.1.4", coll.Alltoall, "two_proc", 3, 1, 8, refused},
		{OpenMPI, "4.1.4", coll.Allgather, "neighbor", 6, 1, 8, here},
		{OpenMPI, "4.1.4", coll.Allgather, "neighbor", 3, 3, 8, refused},
		{OpenMPI, "4.1.4", coll.Allgatherv, "neighbor", 3, 1, 8, refused},
		{OpenMPI, "4.1.4", coll.Bcast, "scatter_allgather", 6, 1, 6, here},
		{OpenMPI, "4.1.4", coll.Bcast, "scatter_allgather", 6, 1, 5, refused},
		{OpenMPI, "4.1.4", coll.Allreduce, "ring", 6, 1, 24, here},
		{OpenMPI, "4.1.4", coll.Allreduce, "ring", 6, 1, 20, refused},
		{OpenMPI, "4.1.4", coll.Bcast, "chain", 4, 1, 8, here}, // 0 stands for what is not given
		{OpenMPI, "4.1.4", coll.Bcast, "chain(segsize=8192)", 4, 1, 8, here},
		{OpenMPI, "4.1.4", coll.Bcast, "chain(faninout=4,segsize=8192)", 4, 1, 8, here},
		{OpenMPI, "4.1.4", coll.Bcast, "chain(k=2)", 4, 1, 8, unknown},
		{OpenMPI, "4.1.4", coll.Bcast, "basic_linear(segsize=8192)", 4, 1, 8, unknown},
		{OpenMPI, "4.1.4", coll.Allgather, "sparbit", 4, 1, 8, unknown}, // came with 5.0
		{OpenMPI, "5.0.9", coll.Allgather, "sparbit", 4, 1, 8, here},

		{MPICH, "4.0.2", coll.Barrier, "library_default", 7, 1, 0, here},
		{OpenMPI, "4.1.4", coll.Gather, "library_default", 7, 1, 1, here},
	}
	for _, tc := range tests {
		cand := coll.Candidate{
			Point:     coll.Point{Collective: tc.collective, Nodes: tc.nodes, PPN: tc.ppn, MsgBytes: tc.bytes},
			Algorithm: algorithm(t, tc.algorithm),
		}
		t.Run(tc.library+" "+tc.version+" "+cand.String(), func(t *testing.T) {
			err := release(t, tc.library, tc.version).Check(cand)
			got := here
			switch {
			case errors.Is(err, ErrInfeasible):
				got = refused
			case errors.Is(err, ErrUnknown):
				got = unknown
			case err != nil:
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("Check(%v) = %v: %s, want %s", cand, err, got, tc.want)
			}
		})
	}
}

// The numbers of a rules file of Open MPI 4.1.4.
func TestNumbersOfOpenMPI(t *testing.T) {
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
	cat := release(t, OpenMPI, "4.1.4")
	for _, c := range coll.Collectives() {
		entries := cat.Entries(c)
		if diff := cmp.Diff(want[c], names(entries)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c, diff)
		}
		for i, e := range entries {
			if e.ID != i+1 {
				t.Errorf("%s %s has number %d, want %d", c, e.Name, e.ID, i+1)
			}
		}
	}
}

// What gives wrong results for non-commutative operations without a guard.
func TestOpSafety(t *testing.T) {
	want := []string{
		"allreduce ring", "allreduce segmented_ring",
		"reduce chain", "reduce pipeline", "reduce binary", "reduce binomial",
		"reduce_scatter recursive_halving", "reduce_scatter ring",
	}
	for _, version := range releases[OpenMPI] {
		var got []string
		for _, c := range coll.Collectives() {
			for _, e := range release(t, OpenMPI, version).Entries(c) {
				if !e.OpSafe {
					got = append(got, string(c)+" "+e.Name)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("unsafe in Open MPI %s (-want +got):\n%s", version, diff)
		}
	}
}

func TestErrorsNameWhatIsAllowed(t *testing.T) {
	point := coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 1, MsgBytes: 8}
	tests := []struct {
		library, version, algorithm string
		want                        string
	}{
		{MPICH, "4.0.2", "ring", "mpich 4.0.2 bcast ring: not in the catalogue: want one of binomial, smp, scatter_recursive_doubling_allgather, scatter_ring_allgather, alpha, beta, gamma"},
		{MPICH, "4.0.2", "smp", "bcast 4x1 8B smp: cannot run there: needs parent"},
		{MPICH, "4.0.2", "binomial(k=2)", "mpich 4.0.2 bcast binomial(k=2): parameter k: not in the catalogue: want none"},
		{MPICH, "4.1.2", "tree(k=2,tree_type=kary)", "mpich 4.1.2 bcast tree(k=2,tree_type=kary): parameter is_non_blocking is missing: not in the catalogue"},
		{OpenMPI, "4.1.4", "chain(k=2)", "openmpi 4.1.4 bcast chain(k=2): parameter k: not in the catalogue: want segsize, faninout"},
	}
	for _, tc := range tests {
		err := release(t, tc.library, tc.version).Check(coll.Candidate{Point: point, Algorithm: algorithm(t, tc.algorithm)})
		if err == nil || err.Error() != tc.want {
			t.Errorf("Check(%s) error\n got %v\nwant %s", tc.algorithm, err, tc.want)
		}
	}
}

// A caller may sort or cut what Entries returns.
func TestEntriesAreACopy(t *testing.T) {
	cat := release(t, MPICH, "4.0.2")
	cat.Entries(coll.Bcast)[0].Name = "mine"
	if got := cat.Entries(coll.Bcast)[0].Name; got != "binomial" {
		t.Errorf("first entry of bcast = %s, want binomial", got)
	}
}

func TestParseFaults(t *testing.T) {
	const header = "library,version,collective,algorithm,id,leaf,params,requires,op_safe\n"
	const good = "mpich,4.0.2,bcast,smp,3,,,parent,yes\n"
	if all, err := parse(header + good); err != nil || len(all) != 1 || !all[0].Entries(coll.Bcast)[0].Has(Parent) {
		t.Fatalf("parse of a good row = %v, %v", all, err)
	}
	tests := []struct{ name, row, want string }{
		{"collective", "mpich,4.0.2,broadcast,smp,3,,,,yes", "line 3: unknown collective"},
		{"number", "mpich,4.0.2,bcast,smp,three,,,,yes", "line 3"},
		{"requirement", "mpich,4.0.2,bcast,smp,3,,,pow3,yes", `line 3: requirement "pow3"`},
		{"columns", "mpich,4.0.2,bcast", "wrong number of fields"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parse(header + good + tc.row + "\n")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("parse error = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestFloorPowerOfTwo(t *testing.T) {
	for n := 1; n <= 1025; n++ {
		got := FloorPowerOfTwo(n)
		if got > n || 2*got <= n || got&(got-1) != 0 {
			t.Errorf("FloorPowerOfTwo(%d) = %d", n, got)
		}
	}
}
