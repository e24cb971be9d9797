package openmpi

import (
	"errors"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
)

// forcing returns the variables that every measurement needs, followed by the given ones.
func forcing(more ...string) []string {
	out := []string{mcaPrefix + "coll_tuned_use_dynamic_rules=1", mcaPrefix + "coll_hcoll_enable=0", mcaPrefix + "coll_ucc_enable=0"}
	for _, component := range []string{"acoll", "adapt", "han", "sm", "xhc"} {
		out = append(out, mcaPrefix+"coll_"+component+"_priority=0")
	}
	return append(out, more...)
}

func TestForce(t *testing.T) {
	mpilibrarytest.CheckForced(t, Library, []mpilibrarytest.Forced{
		{
			Name: "number", Release: "4.1.4", Collective: coll.Allgather, Algorithm: "ring",
			Env:      forcing(mcaPrefix + "coll_tuned_allgather_algorithm=4"),
			Base:     forcing(),
			Switches: []string{"coll_tuned_allgather_algorithm=4"},
			NewComm:  true,
		},
		{
			Name: "parameters", Release: "5.0.9", Collective: coll.Bcast, Algorithm: "chain(faninout=2,segsize=8192)",
			Env:      forcing(mcaPrefix+"coll_tuned_bcast_algorithm=2", mcaPrefix+"coll_tuned_bcast_algorithm_segmentsize=8192", mcaPrefix+"coll_tuned_bcast_algorithm_chain_fanout=2"),
			Base:     forcing(),
			Switches: []string{"coll_tuned_bcast_algorithm=2", "coll_tuned_bcast_algorithm_segmentsize=8192", "coll_tuned_bcast_algorithm_chain_fanout=2"},
			NewComm:  true,
		},
		{
			Name: "parameters not named are 0", Release: "4.1.4", Collective: coll.Reduce, Algorithm: "linear",
			Env:      forcing(mcaPrefix+"coll_tuned_reduce_algorithm=1", mcaPrefix+"coll_tuned_reduce_algorithm_segmentsize=0", mcaPrefix+"coll_tuned_reduce_algorithm_chain_fanout=0"),
			Base:     forcing(),
			Switches: []string{"coll_tuned_reduce_algorithm=1", "coll_tuned_reduce_algorithm_segmentsize=0", "coll_tuned_reduce_algorithm_chain_fanout=0"},
			NewComm:  true,
		},
		{
			Name: "radix of an allgather", Release: "6.0.x", Collective: coll.Allgather, Algorithm: "bruck-k-fanout(faninout=8)",
			Env:      forcing(mcaPrefix+"coll_tuned_allgather_algorithm=2", mcaPrefix+"coll_tuned_allgather_algorithm_tree_fanout=8"),
			Base:     forcing(),
			Switches: []string{"coll_tuned_allgather_algorithm=2", "coll_tuned_allgather_algorithm_tree_fanout=8"},
			NewComm:  true,
		},
		{
			Name: "default", Release: "5.0.9", Collective: coll.Bcast, Algorithm: "library_default",
			NewComm: true,
		},
	})
}

func TestForceRefuses(t *testing.T) {
	mpilibrarytest.CheckRefused(t, Library, `
4.1.4 bcast 2x1 8 pipeline(segsize=8k) cannot parameter segsize=8k: want a whole number
4.1.4 bcast 2x1 8 pipeline(segsize=-1) cannot segsize=-1
`)
}

func TestObeyed(t *testing.T) {
	tests := []struct {
		release    string
		collective coll.Collective
		algorithm  string
		stacks     [][]string
		ran        bool
		ignored    bool
	}{
		{"4.1.4", coll.Bcast, "knomial", [][]string{{"ompi_coll_base_bcast_intra_knomial"}}, true, false},
		{"4.1.4", coll.Bcast, "knomial", [][]string{{"ompi_coll_base_bcast_intra_binomial"}}, false, true},
		{"4.1.4", coll.Bcast, "knomial", [][]string{{"coll/adapt"}}, false, true},
		{"4.1.4", coll.Bcast, "knomial", [][]string{{"MPI_Bcast"}}, false, false},
		{"6.0.x", coll.Allgather, "bruck-k-fanout(faninout=4)", [][]string{{"ompi_coll_base_allgather_intra_k_bruck"}}, true, false},
		{"6.0.x", coll.Allgather, "direct-messaging", [][]string{{"ompi_coll_base_allgather_direct_messaging"}}, true, false},
		{"6.0.x", coll.Reduce, "knomial(faninout=2)", [][]string{{"ompi_coll_base_reduce_intra_knomial"}}, true, false},
	}
	for _, tc := range tests {
		c := mpilibrarytest.Candidate(t, tc.collective, coll.Layout{Nodes: 1, PPN: 4}, 64, tc.algorithm)
		err := Library.CheckAlgorithm(release(t, tc.release), c, tc.stacks)
		if (err == nil) != tc.ran || errors.Is(err, mpi.ErrOtherAlgorithm) != tc.ignored {
			t.Errorf("%v, %v: %v, want ran %t, ignored %t", c, tc.stacks, err, tc.ran, tc.ignored)
		}
	}
}
