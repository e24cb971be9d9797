package mpich

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
)

func TestForce(t *testing.T) {
	const cvar = "MPIR_CVAR_"
	mpilibrarytest.CheckForced(t, Library, []mpilibrarytest.Forced{
		{
			Name: "flat", Release: "4.0.2", Collective: coll.Bcast, Algorithm: "binomial",
			Env:      []string{cvar + "COLLECTIVE_FALLBACK=error", cvar + "BCAST_DEVICE_COLLECTIVE=0", cvar + "BCAST_INTRA_ALGORITHM=binomial"},
			Base:     []string{cvar + "COLLECTIVE_FALLBACK=error"},
			Switches: []string{cvar + "COLLECTIVE_FALLBACK=0", cvar + "BCAST_DEVICE_COLLECTIVE=0", cvar + "BCAST_INTRA_ALGORITHM=1"},
		},
		{
			Name: "algorithm that calls itself", Release: "4.0.2", Collective: coll.Scan, Algorithm: "smp",
			Env:      []string{cvar + "COLLECTIVE_FALLBACK=silent", cvar + "SCAN_DEVICE_COLLECTIVE=0", cvar + "SCAN_INTRA_ALGORITHM=smp"},
			Base:     []string{cvar + "COLLECTIVE_FALLBACK=error"},
			Switches: []string{cvar + "COLLECTIVE_FALLBACK=2", cvar + "SCAN_DEVICE_COLLECTIVE=0", cvar + "SCAN_INTRA_ALGORITHM=2"},
		},
		{
			Name: "default", Release: "4.0.2", Collective: coll.ReduceScatterBlock, Algorithm: "library_default",
			Base:     []string{cvar + "COLLECTIVE_FALLBACK=error"},
			Switches: []string{cvar + "COLLECTIVE_FALLBACK=0", cvar + "REDUCE_SCATTER_BLOCK_DEVICE_COLLECTIVE=1", cvar + "REDUCE_SCATTER_BLOCK_INTRA_ALGORITHM=0"},
		},
		{
			Name: "parameters", Release: "4.3.2", Collective: coll.Allreduce, Algorithm: "recexch(k=4,single_phase_recv=1)",
			Env: []string{cvar + "COLLECTIVE_FALLBACK=error", cvar + "ALLREDUCE_DEVICE_COLLECTIVE=0", cvar + "ALLREDUCE_INTRA_ALGORITHM=recexch",
				cvar + "ALLREDUCE_RECEXCH_KVAL=4", cvar + "ALLREDUCE_RECEXCH_SINGLE_PHASE_RECV=1"},
			Base: []string{cvar + "COLLECTIVE_FALLBACK=error"},
			Switches: []string{cvar + "COLLECTIVE_FALLBACK=0", cvar + "ALLREDUCE_DEVICE_COLLECTIVE=0", cvar + "ALLREDUCE_INTRA_ALGORITHM=7", cvar + "ALLREDUCE_COMPOSITION=0",
				cvar + "ALLREDUCE_RECURSIVE_MULTIPLYING_KVAL=2", cvar + "ALLREDUCE_RECEXCH_KVAL=4", cvar + "ALLREDUCE_RECEXCH_SINGLE_PHASE_RECV=1"},
		},
		{
			Name: "parameters are set back", Release: "4.3.2", Collective: coll.Bcast, Algorithm: "library_default",
			Base: []string{cvar + "COLLECTIVE_FALLBACK=error"},
			Switches: []string{cvar + "COLLECTIVE_FALLBACK=0", cvar + "BCAST_DEVICE_COLLECTIVE=1", cvar + "BCAST_INTRA_ALGORITHM=0", cvar + "BCAST_COMPOSITION=0",
				cvar + "BCAST_TREE_KVAL=2", cvar + "BCAST_IS_NON_BLOCKING=1", cvar + "BCAST_TREE_PIPELINE_CHUNK_SIZE=8192", cvar + "BCAST_RECV_PRE_POST=0"},
		},
		{
			Name: "kind of tree, before 4.3 a number", Release: "4.1.2", Collective: coll.Bcast, Algorithm: "tree(is_non_blocking=0,k=3,tree_type=1)",
			Env: []string{cvar + "COLLECTIVE_FALLBACK=error", cvar + "BCAST_DEVICE_COLLECTIVE=0", cvar + "BCAST_INTRA_ALGORITHM=tree",
				cvar + "BCAST_IS_NON_BLOCKING=0", cvar + "BCAST_TREE_KVAL=3", cvar + "BCAST_TREE_TYPE=knomial_1"},
			Base: []string{cvar + "COLLECTIVE_FALLBACK=error", cvar + "BCAST_TREE_TYPE=knomial_1"},
			Switches: []string{cvar + "COLLECTIVE_FALLBACK=0", cvar + "BCAST_DEVICE_COLLECTIVE=0", cvar + "BCAST_INTRA_ALGORITHM=7", cvar + "BCAST_COMPOSITION=0",
				cvar + "BCAST_TREE_KVAL=3", cvar + "BCAST_IS_NON_BLOCKING=0", cvar + "BCAST_TREE_PIPELINE_CHUNK_SIZE=8192", cvar + "BCAST_RECV_PRE_POST=0"},
		},
	})
}

func TestForceRefuses(t *testing.T) {
	mpilibrarytest.CheckRefused(t, Library, `
4.0.2 bcast 2x1 8 ring unknown want one of binomial
4.0.2 bcast 2x1 8 smp cannot needs a node with two ranks or more
4.1.2 bcast 2x1 8 tree(is_non_blocking=1,k=2,tree_type=7) cannot tree_type: "7": want 0, 1, 2 or one of kary
4.1.2 allreduce 2x1 8 recexch(k=two,single_phase_recv=0) cannot parameter k=two: want a whole number
`)
}

// TestCheckAlgorithm checks that an error stack without an algorithm, as in MPICH 4.2, does not count as another
// algorithm.
func TestCheckAlgorithm(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	alg := testutil.Must(coll.ParseAlgorithm("tree(is_non_blocking=1,k=2,tree_type=0)"))(t)
	c := coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 1, PPN: 2, MsgBytes: 64}, Algorithm: alg}
	const stack = "PMPI_Bcast MPID_Bcast MPIDI_Bcast_allcomm_composition_json "
	for _, tc := range []struct {
		stack string
		other bool
	}{
		{stack + "MPIDI_Bcast_intra_composition_gamma", false},
		{stack + "MPIDI_Bcast_intra_composition_gamma MPIR_Bcast_intra_binomial", true},
		{stack + "MPIDI_Bcast_intra_composition_alpha", true},
	} {
		err := Library.CheckAlgorithm(release(t, "4.2.3"), c, [][]string{strings.Fields(tc.stack)})
		golden(tc.stack, err)
		if errors.Is(err, mpi.ErrOtherAlgorithm) != tc.other {
			t.Errorf("%s: %v, want %v: %t", tc.stack, err, mpi.ErrOtherAlgorithm, tc.other)
		}
	}
}

const (
	chosenByDevice = "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE is a file"
	chosenFlat     = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE is a file"
)

func TestCompositions(t *testing.T) {
	tests := []struct {
		version, algorithm string
		want               []string
		fault              error
	}{
		{version: "4.0.2", algorithm: "alpha", want: []string{chosenByDevice}},
		{version: "4.0.2", algorithm: "gamma", want: []string{chosenByDevice}},
		{version: "4.0.2", algorithm: "alpha(inter=binomial)", want: []string{chosenByDevice, chosenFlat}},
		{version: "4.0.2", algorithm: "beta(inter=binomial,node=scatter_ring_allgather)", want: []string{chosenByDevice, chosenFlat}},
		{version: "4.3.2", algorithm: "beta", want: []string{"MPIR_CVAR_COLLECTIVE_FALLBACK=silent", "MPIR_CVAR_BCAST_COMPOSITION=2"}},
		{version: "4.3.2", algorithm: "alpha(inter=binomial)", fault: mpi.ErrUnknown},
	}
	for _, tc := range tests {
		c := mpilibrarytest.Candidate(t, coll.Bcast, coll.Layout{Nodes: 2, PPN: 2}, 4096, tc.algorithm)
		f, err := mpi.Force(Library, release(t, tc.version), c)
		if !errors.Is(err, tc.fault) {
			t.Errorf("%s %v: %v, want %v", tc.version, c, err, tc.fault)
		}
		if d := cmp.Diff(tc.want, mpilibrarytest.Vars(f.Env)); d != "" {
			t.Errorf("%s %v: settings (-want +got):\n%s", tc.version, c, d)
		}
	}
	scan := mpilibrarytest.Candidate(t, coll.Scan, coll.Layout{Nodes: 2, PPN: 2}, 8, "beta")
	if _, err := mpi.Force(Library, release(t, "4.2.3"), scan); !errors.Is(err, mpi.ErrInfeasible) {
		t.Errorf("%v of 4.2.3: %v, want ErrInfeasible: neither variable nor tree", scan, err)
	}
}

// TestCompositionFiles compares the selection files that force a composition (the device's plan) with the
// library's own trees. They may differ only for the composition's collective.
func TestCompositionFiles(t *testing.T) {
	lib := testutil.Must(embeddedTree("4.0.2"))(t)
	c := mpilibrarytest.Candidate(t, coll.Allreduce, coll.Layout{Nodes: 2, PPN: 2}, 4096, "alpha(inter=reduce_scatter_allgather)")
	f := testutil.Must(mpi.Force(Library, release(t, "4.0.2"), c))(t)
	for i, own := range []treeObject{lib.Device, lib.Tree} {
		tree := testutil.Must(parseTree(f.Env[i].File))(t)
		if len(tree) != len(own) {
			t.Fatalf("%s: %d collectives, want %d", f.Env[i].Name, len(tree), len(own))
		}
		for k, m := range tree {
			if same := cmp.Equal(m, own[k]); same == (m.Key == "collective=allreduce") {
				t.Errorf("%s: %s as the library's own: %t", f.Env[i].Name, m.Key, same)
			}
		}
	}
}

// functions returns the names of the library's functions that implement algorithms of blocking collectives.
func functions(t *testing.T) []string {
	t.Helper()
	lib := testutil.Must(embeddedTree("4.0.2"))(t)
	return slices.DeleteFunc(lib.Leaves, func(name string) bool {
		return strings.HasPrefix(name, "MPIR_I") || strings.HasPrefix(name, "MPIR_Neighbor") || strings.Contains(name, "_inter_")
	})
}

// TestLiveCompositions checks that the forced composition (the device's plan) and its parts run on 4 ranks
// of 2 simulated nodes. Rank 0 is the first rank of its node, rank 1 is not. The library places the ranks in
// block order.
func TestLiveCompositions(t *testing.T) {
	prog := buildTraced(t, functions(t))
	cat := release(t, "4.0.2")
	tests := []struct {
		collective  coll.Collective
		bytes       int64
		algorithm   string
		first, next string // what ranks 0 and 1 enter
	}{
		{coll.Bcast, 4096, "alpha", "Bcast_binomial Bcast_binomial", "Bcast_binomial"},
		{coll.Bcast, 4096, "gamma", "Bcast_binomial", "Bcast_binomial"},
		{coll.Bcast, 4096, "alpha(inter=scatter_ring_allgather)", "Bcast_scatter_ring_allgather Bcast_binomial", "Bcast_binomial"},
		{coll.Bcast, 4096, "beta(inter=scatter_recursive_doubling_allgather,node=scatter_ring_allgather)",
			"Bcast_scatter_recursive_doubling_allgather Bcast_scatter_ring_allgather", "Bcast_scatter_ring_allgather"},
		{coll.Allreduce, 4096, "alpha(inter=recursive_doubling)",
			"Reduce_reduce_scatter_gather Allreduce_recursive_doubling Bcast_binomial", "Reduce_reduce_scatter_gather Bcast_binomial"},
		{coll.Allreduce, 4096, "alpha(inter=reduce_scatter_allgather)",
			"Reduce_reduce_scatter_gather Allreduce_reduce_scatter_allgather Bcast_binomial", "Reduce_reduce_scatter_gather Bcast_binomial"},
		{coll.Reduce, 4096, "beta(inter=binomial)", "Reduce_binomial Reduce_reduce_scatter_gather", "Reduce_reduce_scatter_gather"},
		{coll.Barrier, 0, "alpha", "Barrier_dissemination Barrier_dissemination Bcast_binomial", "Barrier_dissemination Bcast_binomial"},
		{coll.Barrier, 0, "beta", "Barrier_smp Barrier_dissemination Barrier_dissemination Bcast_binomial", "Barrier_smp Barrier_dissemination Bcast_binomial"},
		{coll.Scan, 4096, "alpha", "Scan_recursive_doubling Scan_recursive_doubling Bcast_binomial", "Scan_recursive_doubling Bcast_binomial"},
	}
	if !testutil.AllCases() {
		tests = tests[len(tests)-3:]
	}
	for _, tc := range tests {
		c := mpilibrarytest.Candidate(t, tc.collective, coll.Layout{Nodes: 2, PPN: 2}, tc.bytes, tc.algorithm)
		f, err := mpi.Force(Library, cat, c)
		if err != nil {
			t.Error(err)
			continue
		}
		env := append(settings(t, f.Env), "MPIR_CVAR_NUM_CLIQUES=2", "MPIR_CVAR_CLIQUES_BY_BLOCK=1")
		out := testutil.RunProgram(t, env, "mpirun.mpich", "-n", "4", prog, "call", fmt.Sprint(tc.bytes), string(tc.collective))
		for rank, want := range []string{tc.first, tc.next} {
			got := strings.Join(enteredFunctions(out, rank), " ")
			got = strings.NewReplacer("MPIR_", "", "_intra", "").Replace(got)
			if got != want {
				t.Errorf("%v: rank %d ran %s, want %s", c, rank, got, want)
			}
		}
		if !testutil.AllRight(out) {
			t.Errorf("%v: not right:\n%s", c, out)
		}
	}
}

func settings(t *testing.T, list []mpi.Var) []string {
	t.Helper()
	var env []string
	dir := t.TempDir()
	for _, v := range list {
		if v.File != nil {
			v.Value = filepath.Join(dir, v.Name)
			testutil.NoError(t, os.WriteFile(v.Value, v.File, 0o644))
		}
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}
