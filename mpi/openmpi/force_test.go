package openmpi

import (
	"testing"

	"tutti/coll"
	"tutti/internal/testutil/mpilibrarytest"
)

func TestForce(t *testing.T) {
	mpilibrarytest.CheckForced(t, Library, []mpilibrarytest.Forced{
		{
			Name: "number", Release: "4.1.4", Collective: coll.Allgather, Algorithm: "ring",
			Env:      []string{mcaPrefix + "coll_tuned_use_dynamic_rules=1", mcaPrefix + "coll_hcoll_enable=0", mcaPrefix + "coll_tuned_allgather_algorithm=4"},
			Base:     []string{mcaPrefix + "coll_tuned_use_dynamic_rules=1", mcaPrefix + "coll_hcoll_enable=0"},
			Switches: []string{"coll_tuned_allgather_algorithm=4"},
			NewComm:  true,
		},
		{
			Name: "parameters", Release: "5.0.9", Collective: coll.Bcast, Algorithm: "chain(faninout=2,segsize=8192)",
			Env: []string{mcaPrefix + "coll_tuned_use_dynamic_rules=1", mcaPrefix + "coll_hcoll_enable=0", mcaPrefix + "coll_han_priority=0",
				mcaPrefix + "coll_tuned_bcast_algorithm=2", mcaPrefix + "coll_tuned_bcast_algorithm_segmentsize=8192", mcaPrefix + "coll_tuned_bcast_algorithm_chain_fanout=2"},
			Base:     []string{mcaPrefix + "coll_tuned_use_dynamic_rules=1", mcaPrefix + "coll_hcoll_enable=0", mcaPrefix + "coll_han_priority=0"},
			Switches: []string{"coll_tuned_bcast_algorithm=2", "coll_tuned_bcast_algorithm_segmentsize=8192", "coll_tuned_bcast_algorithm_chain_fanout=2"},
			NewComm:  true,
		},
		{
			Name: "parameters not named are 0", Release: "4.1.4", Collective: coll.Reduce, Algorithm: "linear",
			Env: []string{mcaPrefix + "coll_tuned_use_dynamic_rules=1", mcaPrefix + "coll_hcoll_enable=0",
				mcaPrefix + "coll_tuned_reduce_algorithm=1", mcaPrefix + "coll_tuned_reduce_algorithm_segmentsize=0", mcaPrefix + "coll_tuned_reduce_algorithm_chain_fanout=0"},
			Base:     []string{mcaPrefix + "coll_tuned_use_dynamic_rules=1", mcaPrefix + "coll_hcoll_enable=0"},
			Switches: []string{"coll_tuned_reduce_algorithm=1", "coll_tuned_reduce_algorithm_segmentsize=0", "coll_tuned_reduce_algorithm_chain_fanout=0"},
			NewComm:  true,
		},
		{
			Name: "radix of an allgather", Release: "6.0.x", Collective: coll.Allgather, Algorithm: "bruck-k-fanout(faninout=8)",
			Env: []string{mcaPrefix + "coll_tuned_use_dynamic_rules=1", mcaPrefix + "coll_hcoll_enable=0", mcaPrefix + "coll_han_priority=0",
				mcaPrefix + "coll_tuned_allgather_algorithm=2", mcaPrefix + "coll_tuned_allgather_algorithm_tree_fanout=8"},
			Base:     []string{mcaPrefix + "coll_tuned_use_dynamic_rules=1", mcaPrefix + "coll_hcoll_enable=0", mcaPrefix + "coll_han_priority=0"},
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
