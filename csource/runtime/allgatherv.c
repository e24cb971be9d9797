#include "repository.h"

static char *block(const call *c, int rank) { return at(c, c->data, c->starts[rank_of(c, rank)]); }

static int count(const call *c, int rank) { return c->counts[rank_of(c, rank)]; }

/* The ring algorithm of allgather, with blocks of different sizes. */
void allgatherv_ring(const call *c)
{
    int next = after(c, c->rank, 1), before = after(c, c->rank, -1);
    for (int k = 0; k < c->size - 1; k++) {
        int out = after(c, c->rank, -k), in = after(c, before, -k);
        send_receive(c, block(c, out), count(c, out), next, block(c, in), count(c, in), before);
    }
}

/* The ring algorithm on ranks in the depth-first order of switches and nodes. Source: Faraj and Yuan, Automatic
 * generation and tuning of MPI collective communication routines (2005), 3.1. */
void allgatherv_ring_depth_first(const call *c)
{
    call there = by_position(c);
    allgatherv_ring(&there);
}

/* Each rank sends its block to all others at once. */
void allgatherv_linear(const call *c) { exchange_all(c, block(c, c->rank), 0, 1); }

/* The algorithms simple, ring family and pair family of allgather, with blocks of different sizes. Source: Faraj and
 * Yuan (2005), 3.1. */
void allgatherv_simple(const call *c) { exchange_all(c, block(c, c->rank), 0, 0); }
void allgatherv_pairwise(const call *c) { exchange_in_rounds(c, block(c, c->rank), 0, ALONG_RING, NOT_SEPARATED); }
void allgatherv_pairwise_light_barrier(const call *c) { exchange_in_rounds(c, block(c, c->rank), 0, ALONG_RING, BY_MESSAGES); }
void allgatherv_pairwise_barrier(const call *c) { exchange_in_rounds(c, block(c, c->rank), 0, ALONG_RING, BY_BARRIERS); }
void allgatherv_pair(const call *c) { exchange_in_rounds(c, block(c, c->rank), 0, BY_XOR, NOT_SEPARATED); }
void allgatherv_pair_light_barrier(const call *c) { exchange_in_rounds(c, block(c, c->rank), 0, BY_XOR, BY_MESSAGES); }
void allgatherv_pair_barrier(const call *c) { exchange_in_rounds(c, block(c, c->rank), 0, BY_XOR, BY_BARRIERS); }

/* Returns the sum of the counts of n consecutive ranks, from the given rank on. Rank 0 follows the last rank. */
static int sum(const call *c, int rank, int n)
{
    int all = 0;
    for (int i = 0; i < n; i++)
        all += c->counts[after(c, rank, i)];
    return all;
}

/* Copies the blocks of the other ranks to their places. `all` has the blocks of consecutive ranks, from the given rank
 * on. Rank 0 follows the last rank. */
static void place_blocks(const call *c, const char *all, int first)
{
    for (int i = 0, done = 0; i < c->size; i++) {
        int r = after(c, first, i);
        if (r != c->rank)
            copy(c, block(c, r), at(c, all, done), c->counts[r]);
        done += c->counts[r];
    }
}

/* The recursive doubling algorithm of allgather, with blocks of different sizes. */
void allgatherv_recursive_doubling(const call *c)
{
    char *all = scratch(c, sum(c, 0, c->size));
    copy(c, at(c, all, sum(c, 0, c->rank)), block(c, c->rank), c->counts[c->rank]);
    for (int d = 1; d < c->size; d *= 2) {
        int peer = c->rank ^ d, own = c->rank & ~(d - 1), other = peer & ~(d - 1);
        send_receive(c, at(c, all, sum(c, 0, own)), sum(c, own, d), peer, at(c, all, sum(c, 0, other)), sum(c, other, d), peer);
    }
    place_blocks(c, all, 0);
    scratch_free(c, all);
}

/* The Bruck algorithm of allgather, with blocks of different sizes. */
void allgatherv_bruck(const call *c)
{
    char *all = scratch(c, sum(c, 0, c->size));
    copy(c, all, block(c, c->rank), c->counts[c->rank]);
    for (int d = 1; d < c->size; d *= 2) {
        int blocks = at_most(d, c->size - d), from = after(c, c->rank, d);
        send_receive(c, all, sum(c, c->rank, blocks), after(c, c->rank, -d), at(c, all, sum(c, c->rank, d)), sum(c, from, blocks), from);
    }
    place_blocks(c, all, c->rank);
    scratch_free(c, all);
}
