#include "repository.h"

#include <stdlib.h>

static char *block(const call *c, int rank) { return at(c, c->data, rank_of(c, rank) * c->count); }

/* Ring: in each step a rank sends to the next rank the block that it received in the previous step. Source: Thakur,
 * Rabenseifner and Gropp, Optimization of collective communication operations in MPICH (2005), 3.1. */
void allgather_ring(const call *c)
{
    int next = after(c, c->rank, 1), before = after(c, c->rank, -1);
    for (int k = 0; k < c->size - 1; k++)
        send_receive(c, block(c, after(c, c->rank, -k)), c->count, next, block(c, after(c, before, -k)), c->count, before);
}

/* Recursive doubling: pairs at distances 1, 2, 4 … exchange all blocks that they have. Source: Thakur, Rabenseifner and
 * Gropp (2005), 3.1. */
void allgather_recursive_doubling(const call *c)
{
    for (int d = 1; d < c->size; d *= 2) {
        int peer = c->rank ^ d, own = c->rank & ~(d - 1), other = peer & ~(d - 1);
        send_receive(c, block(c, own), d * c->count, peer, block(c, other), d * c->count, peer);
    }
}

/* Each rank doubles its blocks by receiving from ranks at distances 1, 2, 4 …, and sorts them at the end. Source: Bruck
 * et al., Efficient algorithms for all-to-all communications in multiport message-passing systems (1997). */
void allgather_bruck(const call *c)
{
    int n = c->count, size = c->size;
    char *all = scratch(c, size * n);
    copy(c, all, block(c, c->rank), n);
    for (int d = 1; d < size; d *= 2) {
        int blocks = d < size - d ? d : size - d;
        send_receive(c, all, blocks * n, after(c, c->rank, -d), at(c, all, d * n), blocks * n, after(c, c->rank, d));
    }
    copy(c, block(c, c->rank), all, (size - c->rank) * n);
    copy(c, c->data, at(c, all, (size - c->rank) * n), c->rank * n);
    scratch_free(c, all);
}

/* Neighbor exchange: a rank exchanges two blocks at a time, alternately with its left and its right neighbor. Source: Chen
 * et al., Performance evaluation of allgather algorithms on terascale Linux cluster with fast Ethernet (2005). */
void allgather_neighbor(const call *c)
{
    int n = c->count, even = c->rank % 2 == 0, side[2], from[2], step[2];
    side[0] = after(c, c->rank, even ? 1 : -1);
    side[1] = after(c, c->rank, even ? -1 : 1);
    from[0] = from[1] = even ? c->rank : after(c, c->rank, -1);
    step[0] = even ? 2 : -2;
    step[1] = -step[0];
    send_receive(c, block(c, c->rank), n, side[0], block(c, side[0]), n, side[0]);
    for (int k = 1, have = from[0]; k < c->size / 2; k++) {
        int w = k % 2;
        from[w] = after(c, from[w], step[w]);
        send_receive(c, block(c, have), 2 * n, side[w], block(c, from[w]), 2 * n, side[w]);
        have = from[w];
    }
}

/* Each rank sends its block to all others at once. */
void allgather_linear(const call *c) { exchange_all(c, block(c, c->rank), 0, 1); }

/* All ranks send their blocks first to rank 0, then to rank 1, and so on. Source: Faraj and Yuan (2005), 3.1. */
void allgather_simple(const call *c) { exchange_all(c, block(c, c->rank), 0, 0); }

/* Each rank sends its block to one other rank at a time. Source: Faraj and Yuan (2005), 3.1. */
void allgather_pairwise(const call *c) { exchange_in_rounds(c, block(c, c->rank), 0, ALONG_RING, NOT_SEPARATED); }
void allgather_pairwise_light_barrier(const call *c) { exchange_in_rounds(c, block(c, c->rank), 0, ALONG_RING, BY_MESSAGES); }
void allgather_pairwise_barrier(const call *c) { exchange_in_rounds(c, block(c, c->rank), 0, ALONG_RING, BY_BARRIERS); }
void allgather_pair(const call *c) { exchange_in_rounds(c, block(c, c->rank), 0, BY_XOR, NOT_SEPARATED); }
void allgather_pair_light_barrier(const call *c) { exchange_in_rounds(c, block(c, c->rank), 0, BY_XOR, BY_MESSAGES); }
void allgather_pair_barrier(const call *c) { exchange_in_rounds(c, block(c, c->rank), 0, BY_XOR, BY_BARRIERS); }

/* Gathers all blocks at rank 0, then broadcasts them, both along binomial trees. Source: Faraj and Yuan (2005), 3.1. */
void allgather_gather_bcast(const call *c)
{
    call up = *c, down = *c;
    up.data = c->rank == 0 ? c->data : block(c, c->rank);
    up.root = down.root = 0;
    down.count = c->size * c->count;
    gather_binomial(&up);
    bcast_binomial(&down);
}

/* Gathers blocks along the dimensions of a mesh of ranks, one after another. The stride of a dimension is the
 * distance between ranks that are neighbors in it. Before the step for a dimension, a rank has the blocks of
 * `stride` consecutive ranks. Source: Faraj and Yuan (2005), 3.1. */
static void over_mesh(const call *c, int dimensions)
{
    mesh m = mesh_of(c->size, dimensions);
    int *ranks = memory((size_t)c->size * sizeof *ranks);
    for (int i = 0, stride = 1; i < dimensions; stride *= m.length[i++]) {
        call line = line_of(c, stride, m.length[i], stride * c->count, ranks);
        line.data = block(c, ranks[0] / stride * stride);
        exchange_all(&line, at(&line, line.data, line.rank * line.count), 0, 1);
    }
    free(ranks);
}

void allgather_mesh(const call *c) { over_mesh(c, 2); }
void allgather_mesh_3d(const call *c) { over_mesh(c, 3); }

/* The ring algorithm on ranks in the depth-first order of switches and nodes. Source: Faraj and Yuan, Automatic
 * generation and tuning of MPI collective communication routines (2005), 3.1. */
void allgather_ring_depth_first(const call *c)
{
    call there = by_position(c);
    allgather_ring(&there);
}
