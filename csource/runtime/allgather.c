#include "repository.h"

#include <stdlib.h>

static char *block(const call *c, int rank) { return at(c, c->data, rank_of(c, rank) * c->count); }

/* Ring: in each step a rank sends to the next rank the block that it received in the previous step. Source: Thakur,
 * Rabenseifner and Gropp, Optimization of collective communication operations in MPICH (2005), 3.1. */
int allgather_ring(const call *c)
{
    int e = MPI_SUCCESS, next = after(c, c->rank, 1), before = after(c, c->rank, -1);
    for (int k = 0; e == MPI_SUCCESS && k < c->size - 1; k++)
        e = send_receive(c, block(c, after(c, c->rank, -k)), c->count, next, block(c, after(c, before, -k)), c->count, before);
    return e;
}

/* Recursive doubling: pairs at distances 1, 2, 4 … exchange all blocks that they have. Source: Thakur, Rabenseifner and
 * Gropp (2005), 3.1. */
int allgather_recursive_doubling(const call *c)
{
    int e = MPI_SUCCESS;
    for (int d = 1; e == MPI_SUCCESS && d < c->size; d *= 2) {
        int peer = c->rank ^ d, own = c->rank & ~(d - 1), other = peer & ~(d - 1);
        e = send_receive(c, block(c, own), d * c->count, peer, block(c, other), d * c->count, peer);
    }
    return e;
}

/* Each rank doubles its blocks by receiving from ranks at distances 1, 2, 4 …, and sorts them at the end. Source: Bruck
 * et al., Efficient algorithms for all-to-all communications in multiport message-passing systems (1997). */
int allgather_bruck(const call *c)
{
    int n = c->count, size = c->size, e;
    char *all = scratch(c, size * n);
    if (all == NULL)
        return MPI_ERR_NO_MEM;
    e = copy(c, all, block(c, c->rank), n);
    for (int d = 1; e == MPI_SUCCESS && d < size; d *= 2) {
        int blocks = d < size - d ? d : size - d;
        e = send_receive(c, all, blocks * n, after(c, c->rank, -d), at(c, all, d * n), blocks * n, after(c, c->rank, d));
    }
    if (e == MPI_SUCCESS)
        e = copy(c, block(c, c->rank), all, (size - c->rank) * n);
    if (e == MPI_SUCCESS)
        e = copy(c, c->data, at(c, all, (size - c->rank) * n), c->rank * n);
    scratch_free(c, all);
    return e;
}

/* Neighbor exchange: neighbors exchange two blocks at a time, alternately with the left and the right one. Source: Chen
 * et al., Performance evaluation of allgather algorithms on terascale Linux cluster with fast Ethernet (2005). */
int allgather_neighbor(const call *c)
{
    int n = c->count, even = c->rank % 2 == 0, side[2], from[2], step[2];
    side[0] = after(c, c->rank, even ? 1 : -1);
    side[1] = after(c, c->rank, even ? -1 : 1);
    from[0] = from[1] = even ? c->rank : after(c, c->rank, -1);
    step[0] = even ? 2 : -2;
    step[1] = -step[0];
    int e = send_receive(c, block(c, c->rank), n, side[0], block(c, side[0]), n, side[0]);
    for (int k = 1, have = from[0]; e == MPI_SUCCESS && k < c->size / 2; k++) {
        int w = k % 2;
        from[w] = after(c, from[w], step[w]);
        e = send_receive(c, block(c, have), 2 * n, side[w], block(c, from[w]), 2 * n, side[w]);
        have = from[w];
    }
    return e;
}

/* Each rank sends its block to all others at once. */
int allgather_linear(const call *c) { return exchange_all(c, block(c, c->rank), 0, 1); }

/* Like allgather_linear, but all ranks send first to rank 0, then to rank 1, and so on. Source: Faraj and Yuan (2005), 3.1. */
int allgather_simple(const call *c) { return exchange_all(c, block(c, c->rank), 0, 0); }

/* Each rank sends its block to one other rank at a time. Source: Faraj and Yuan (2005), 3.1. */
int allgather_pairwise(const call *c) { return exchange_in_rounds(c, block(c, c->rank), 0, ALONG_RING, NOT_SEPARATED); }
int allgather_pairwise_light_barrier(const call *c) { return exchange_in_rounds(c, block(c, c->rank), 0, ALONG_RING, BY_MESSAGES); }
int allgather_pairwise_barrier(const call *c) { return exchange_in_rounds(c, block(c, c->rank), 0, ALONG_RING, BY_BARRIERS); }
int allgather_pair(const call *c) { return exchange_in_rounds(c, block(c, c->rank), 0, BY_XOR, NOT_SEPARATED); }
int allgather_pair_light_barrier(const call *c) { return exchange_in_rounds(c, block(c, c->rank), 0, BY_XOR, BY_MESSAGES); }
int allgather_pair_barrier(const call *c) { return exchange_in_rounds(c, block(c, c->rank), 0, BY_XOR, BY_BARRIERS); }

/* Gathers all blocks at rank 0, then broadcasts them, both along binomial trees. Source: Faraj and Yuan (2005), 3.1. */
int allgather_gather_bcast(const call *c)
{
    call up = *c, down = *c;
    up.data = c->rank == 0 ? c->data : block(c, c->rank);
    up.root = down.root = 0;
    down.count = c->size * c->count;
    int e = gather_binomial(&up);
    return e != MPI_SUCCESS ? e : bcast_binomial(&down);
}

/* Gathers along each dimension of a mesh of ranks in turn. Before a dimension with the given stride, a rank has the blocks of
 * stride consecutive ranks. Source: Faraj and Yuan (2005), 3.1. */
static int over_mesh(const call *c, int dimensions)
{
    mesh m = mesh_of(c->size, dimensions);
    int *ranks = malloc((size_t)c->size * sizeof *ranks), e = ranks == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    for (int i = 0, stride = 1; e == MPI_SUCCESS && i < dimensions; stride *= m.length[i++]) {
        call line = line_of(c, stride, m.length[i], stride * c->count, ranks);
        line.data = block(c, ranks[0] / stride * stride);
        e = exchange_all(&line, at(&line, line.data, line.rank * line.count), 0, 1);
    }
    free(ranks);
    return e;
}

int allgather_mesh(const call *c) { return over_mesh(c, 2); }
int allgather_mesh_3d(const call *c) { return over_mesh(c, 3); }

/* A ring in the depth-first order of switches and nodes. Source: Faraj and Yuan, Automatic generation and tuning of MPI
 * collective communication routines (2005), 3.1. */
int allgather_ring_depth_first(const call *c)
{
    call there = by_position(c);
    return allgather_ring(&there);
}
