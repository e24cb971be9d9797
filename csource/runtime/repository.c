#include "bytes.h"
#include "users.h"

/* The algorithms of libtutti. Those that Open MPI also has are named as in Open MPI. */
const algorithm repository[] = {
    {ALLGATHER, "linear", allgather_linear, 0, NULL},
    {ALLGATHER, "bruck", allgather_bruck, 0, NULL},
    {ALLGATHER, "recursive_doubling", allgather_recursive_doubling, POWER_OF_TWO, NULL},
    {ALLGATHER, "ring", allgather_ring, 0, NULL},
    {ALLGATHER, "neighbor", allgather_neighbor, EVEN, NULL},
    {ALLGATHER, "two_level", allgather_two_level, LAYOUT, NULL},
    {ALLGATHER, "ring_depth_first", allgather_ring_depth_first, LAYOUT, NULL},
    {ALLGATHER, "simple", allgather_simple, 0, NULL},
    {ALLGATHER, "pairwise", allgather_pairwise, 0, NULL},
    {ALLGATHER, "pairwise_light_barrier", allgather_pairwise_light_barrier, 0, NULL},
    {ALLGATHER, "pairwise_barrier", allgather_pairwise_barrier, 0, "barriers"},
    {ALLGATHER, "pair", allgather_pair, POWER_OF_TWO, NULL},
    {ALLGATHER, "pair_light_barrier", allgather_pair_light_barrier, POWER_OF_TWO, NULL},
    {ALLGATHER, "pair_barrier", allgather_pair_barrier, POWER_OF_TWO, "barriers"},
    {ALLGATHER, "mesh", allgather_mesh, 0, NULL},
    {ALLGATHER, "mesh_3d", allgather_mesh_3d, 0, NULL},
    {ALLGATHER, "gather_bcast", allgather_gather_bcast, 0, NULL},
    {ALLGATHERV, "linear", allgatherv_linear, 0, NULL},
    {ALLGATHERV, "bruck", allgatherv_bruck, 0, NULL},
    {ALLGATHERV, "ring", allgatherv_ring, 0, NULL},
    {ALLGATHERV, "ring_depth_first", allgatherv_ring_depth_first, LAYOUT, NULL},
    {ALLGATHERV, "simple", allgatherv_simple, 0, NULL},
    {ALLGATHERV, "recursive_doubling", allgatherv_recursive_doubling, POWER_OF_TWO, NULL},
    {ALLGATHERV, "pairwise", allgatherv_pairwise, 0, NULL},
    {ALLGATHERV, "pairwise_light_barrier", allgatherv_pairwise_light_barrier, 0, NULL},
    {ALLGATHERV, "pairwise_barrier", allgatherv_pairwise_barrier, 0, "barriers"},
    {ALLGATHERV, "pair", allgatherv_pair, POWER_OF_TWO, NULL},
    {ALLGATHERV, "pair_light_barrier", allgatherv_pair_light_barrier, POWER_OF_TWO, NULL},
    {ALLGATHERV, "pair_barrier", allgatherv_pair_barrier, POWER_OF_TWO, "barriers"},
    {ALLREDUCE, "nonoverlapping", allreduce_nonoverlapping, 0, NULL},
    {ALLREDUCE, "recursive_doubling", allreduce_recursive_doubling, 0, NULL},
    {ALLREDUCE, "ring", allreduce_ring, COMMUTATIVE | COUNT_SIZE, NULL},
    {ALLREDUCE, "rabenseifner", allreduce_rabenseifner, COMMUTATIVE | COUNT_POWER_OF_TWO, NULL},
    {ALLREDUCE, "rabenseifner_far", allreduce_rabenseifner_far, COMMUTATIVE | COUNT_POWER_OF_TWO, NULL},
    {ALLREDUCE, "segmented_ring", allreduce_ring, COMMUTATIVE | COUNT_SIZE, "segsize"},
    {ALLREDUCE, "two_level", allreduce_two_level, COMMUTATIVE | LAYOUT, NULL},
    {ALLREDUCE, "two_level_rabenseifner", allreduce_two_level_rabenseifner, COMMUTATIVE | COUNT_POWER_OF_TWO | LAYOUT, NULL},
    {ALLREDUCE, "ring_depth_first", allreduce_ring_depth_first, COMMUTATIVE | COUNT_SIZE | LAYOUT, NULL},
    {ALLREDUCE, "recursive_doubling_depth_first", allreduce_recursive_doubling_depth_first, COMMUTATIVE | LAYOUT, NULL},
    {ALLREDUCE, "rabenseifner_depth_first", allreduce_rabenseifner_depth_first, COMMUTATIVE | COUNT_POWER_OF_TWO | LAYOUT, NULL},
    {ALLREDUCE, "allgather", allreduce_allgather, LAYOUT | GATHERS, NULL},
    {ALLREDUCE, "halving_allgather", allreduce_halving_allgather, POWER_OF_TWO | COMMUTATIVE | COUNT_SIZE | LAYOUT, NULL},
    {ALLREDUCE, "alltoall_allgather", allreduce_alltoall_allgather, COUNT_SIZE | LAYOUT, NULL},
    {ALLTOALL, "linear", alltoall_linear, 0, NULL},
    {ALLTOALL, "pairwise", alltoall_pairwise, 0, NULL},
    {ALLTOALL, "modified_bruck", alltoall_bruck, 0, "radix"},
    {ALLTOALL, "windows", alltoall_windows, 0, "window"},
    {ALLTOALL, "mesh", alltoall_mesh, 0, NULL},
    {ALLTOALL, "scheduled", alltoall_scheduled, LAYOUT | SIGNALS, NULL},
    {ALLTOALL, "scheduled_barrier", alltoall_scheduled_barrier, LAYOUT, NULL},
    {ALLTOALL, "pair", alltoall_pair, POWER_OF_TWO, NULL},
    {ALLTOALL, "pair_light_barrier", alltoall_pair_light_barrier, POWER_OF_TWO, NULL},
    {ALLTOALL, "pair_barrier", alltoall_pair_barrier, POWER_OF_TWO, "barriers"},
    {ALLTOALL, "pairwise_light_barrier", alltoall_pairwise_light_barrier, 0, NULL},
    {ALLTOALL, "pairwise_barrier", alltoall_pairwise_barrier, 0, "barriers"},
    {ALLTOALL, "simple", alltoall_simple, 0, NULL},
    {ALLTOALL, "mesh_3d", alltoall_mesh_3d, 0, NULL},
    {ALLTOALL, "recursive_doubling", alltoall_recursive_doubling, POWER_OF_TWO, NULL},
    {ALLTOALLV, "linear", alltoallv_linear, 0, NULL},
    {ALLTOALLV, "pairwise", alltoallv_pairwise, 0, NULL},
    {ALLTOALLV, "greedy", alltoallv_greedy, LAYOUT | TOGETHER, NULL},
    {ALLTOALLV, "scheduled_barrier", alltoallv_scheduled_barrier, LAYOUT | TOGETHER, NULL},
    {ALLTOALLV, "simple", alltoallv_simple, 0, NULL},
    {BARRIER, "linear", barrier_linear, ONE_BY_ONE, NULL},
    {BARRIER, "recursive_doubling", barrier_recursive_doubling, 0, NULL},
    {BARRIER, "bruck", barrier_bruck, 0, NULL},
    {BCAST, "basic_linear", bcast_linear, ONE_BY_ONE, NULL},
    {BCAST, "pipeline", bcast_pipeline, ONE_BY_ONE, "segsize"},
    {BCAST, "binary_tree", bcast_binary_tree, 0, "segsize"},
    {BCAST, "binomial", bcast_binomial, 0, "segsize"},
    {BCAST, "scatter_allgather_ring", bcast_scatter_ring, 0, NULL},
    {BCAST, "knomial", bcast_knomial, 0, "radix"},
    {BCAST, "split_binary_tree", bcast_split_binary, 0, "segsize"},
    {BCAST, "two_level", bcast_two_level, LAYOUT, "segsize"},
    {BCAST, "two_level_pipeline", bcast_two_level_pipeline, LAYOUT, "segsize"},
    {BCAST, "two_level_binary", bcast_two_level_binary, LAYOUT, "segsize"},
    {BCAST, "magpie", bcast_magpie, LAYOUT, "segsize"},
    {BCAST, "multi_level", bcast_multi_level, LAYOUT, "segsize"},
    {BCAST, "binomial_depth_first", bcast_binomial_depth_first, LAYOUT, "segsize"},
    {BCAST, "pipeline_depth_first", bcast_pipeline_depth_first, LAYOUT | ONE_BY_ONE, "segsize"},
    {BCAST, "scatter_ring_depth_first", bcast_scatter_ring_depth_first, LAYOUT, NULL},
    {BCAST, "two_level_postal", bcast_two_level_postal, LAYOUT, "radix"},
    {BCAST, "multi_level_pipeline", bcast_multi_level_pipeline, LAYOUT, "segsize"},
    {BCAST, "multi_level_binary", bcast_multi_level_binary, LAYOUT, "segsize"},
    {BCAST, "chain", bcast_chain, ONE_BY_ONE, "segsize"},
    {BCAST, "k_chain", bcast_k_chain, ONE_BY_ONE, "radix"},
    {EXSCAN, "linear", exscan_linear, ONE_BY_ONE, NULL},
    {EXSCAN, "recursive_doubling", exscan_recursive_doubling, 0, NULL},
    {GATHER, "basic_linear", gather_linear, 0, NULL},
    {GATHER, "binomial", gather_binomial, 0, NULL},
    {REDUCE, "linear", reduce_linear, ONE_BY_ONE, NULL},
    {REDUCE, "pipeline", reduce_pipeline, ONE_BY_ONE, "segsize"},
    {REDUCE, "binomial", reduce_binomial, 0, NULL},
    {REDUCE, "rabenseifner", reduce_rabenseifner, COMMUTATIVE | COUNT_POWER_OF_TWO, NULL},
    {REDUCE, "two_level", reduce_two_level, COMMUTATIVE | LAYOUT, "segsize"},
    {REDUCE, "two_level_pipeline", reduce_two_level_pipeline, COMMUTATIVE | LAYOUT, "segsize"},
    {REDUCE, "magpie", reduce_magpie, COMMUTATIVE | LAYOUT, "segsize"},
    {REDUCE, "multi_level", reduce_multi_level, COMMUTATIVE | LAYOUT, "segsize"},
    {REDUCE, "pipeline_depth_first", reduce_pipeline_depth_first, COMMUTATIVE | LAYOUT | ONE_BY_ONE, "segsize"},
    {REDUCE, "rabenseifner_depth_first", reduce_rabenseifner_depth_first, COMMUTATIVE | COUNT_POWER_OF_TWO | LAYOUT, NULL},
    {REDUCE_SCATTER, "non-overlapping", reduce_scatter_nonoverlapping, 0, NULL},
    {REDUCE_SCATTER, "recursive_halving", reduce_scatter_halving, POWER_OF_TWO | COMMUTATIVE, NULL},
    {REDUCE_SCATTER, "ring", reduce_scatter_ring, COMMUTATIVE, NULL},
    {REDUCE_SCATTER, "pairwise", reduce_scatter_pairwise, COMMUTATIVE, NULL},
    {REDUCE_SCATTER_BLOCK, "non-overlapping", reduce_scatter_nonoverlapping, 0, NULL},
    {REDUCE_SCATTER_BLOCK, "recursive_halving", reduce_scatter_halving, POWER_OF_TWO | COMMUTATIVE, NULL},
    {REDUCE_SCATTER_BLOCK, "ring", reduce_scatter_ring, COMMUTATIVE, NULL},
    {REDUCE_SCATTER_BLOCK, "pairwise", reduce_scatter_pairwise, COMMUTATIVE, NULL},
    {SCAN, "linear", scan_linear, ONE_BY_ONE, NULL},
    {SCAN, "recursive_doubling", scan_recursive_doubling, 0, NULL},
    {SCATTER, "basic_linear", scatter_linear, 0, NULL},
    {SCATTER, "binomial", scatter_binomial, 0, NULL},
    {COLLECTIVES, NULL, NULL, 0, NULL},
};

int repository_fits(const algorithm *a, int ranks)
{
    const tutti_algorithm *own = a->needs & USERS && a != &user_missing ? ((const user_algorithm *)a)->own : NULL;
    if (a == &user_missing || (own != NULL && (ranks < own->min_ranks || (own->max_ranks > 0 && ranks > own->max_ranks))))
        return 0;
    if ((a->needs & TOGETHER) && ranks > MOST_TOGETHER)
        return 0;
    if ((a->needs & POWER_OF_TWO) && ranks != floor_power_of_two(ranks))
        return 0;
    return !(a->needs & EVEN) || ranks % 2 == 0;
}

int repository_can(const algorithm *a, const call *c)
{
    if ((a->needs & COMMUTATIVE) && !c->commutative)
        return 0;
    if ((a->needs & COUNT_SIZE) && c->count < c->size)
        return 0;
    if ((a->needs & GATHERS) && (uint64_t)c->size * bytes_of(c->count, c->type) > MOST_GATHERED)
        return 0;
    return !(a->needs & COUNT_POWER_OF_TWO) || c->count >= floor_power_of_two(c->size);
}

void repository_run(const algorithm *a, const call *c)
{
    if (a->needs & USERS)
        note(((const user_algorithm *)a)->own->run(c));
    else
        a->run(c);
}
