package mpich

import (
	"errors"
	"strings"
	"testing"

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
4.0.2 bcast 2x1 8 smp cannot needs parent
4.1.2 bcast 2x1 8 tree(is_non_blocking=1,k=2,tree_type=7) cannot tree_type: "7": want 0, 1, 2 or one of kary
4.1.2 allreduce 2x1 8 recexch(k=two,single_phase_recv=0) cannot parameter k=two: want a whole number
`)
}

// TestCheckAlgorithm checks an error stack that does not name an algorithm, as in MPICH 4.2. Such a stack
// does not contradict the requested algorithm.
func TestCheckAlgorithm(t *testing.T) {
	alg := testutil.Must(coll.ParseAlgorithm("tree(is_non_blocking=1,k=2,tree_type=0)"))(t)
	c := coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 1, PPN: 2, MsgBytes: 64}, Algorithm: alg}
	const stack = "PMPI_Bcast MPID_Bcast MPIDI_Bcast_allcomm_composition_json "
	for _, tc := range []struct {
		stack, want string
		other       bool
	}{
		{stack + "MPIDI_Bcast_intra_composition_gamma", "names no algorithm", false},
		{stack + "MPIDI_Bcast_intra_composition_gamma MPIR_Bcast_intra_binomial", "MPIR_Bcast_intra_binomial instead of MPIR_Bcast_intra_tree", true},
		{stack + "MPIDI_Bcast_intra_composition_alpha", "alpha instead of MPIR_Bcast_intra_tree", true},
	} {
		err := Library.CheckAlgorithm(release(t, "4.2.3"), c, [][]string{strings.Fields(tc.stack)})
		if err == nil || !strings.Contains(err.Error(), tc.want) || errors.Is(err, mpi.ErrOtherAlgorithm) != tc.other {
			t.Errorf("%s: %v, want %q", tc.stack, err, tc.want)
		}
	}
}
