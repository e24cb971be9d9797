#include "repository.h"

#include <stdlib.h>

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
void allgatherv_linear(const call *c)
{
    int n = 0;
    MPI_Request *all = requests_of(2 * c->size);
    for (int k = 1; k < c->size; k++) {
        int from = after(c, c->rank, -k);
        start_receive(c, block(c, from), c->counts[from], from, &all[n++]);
    }
    for (int k = 1; k < c->size; k++)
        start_send(c, block(c, c->rank), c->counts[c->rank], after(c, c->rank, k), &all[n++]);
    wait_all(all, n);
    free(all);
}

/* Returns the sum of the counts of n consecutive ranks, from the given rank on. Rank 0 follows the last rank. */
static int sum(const call *c, int rank, int n)
{
    int all = 0;
    for (int i = 0; i < n; i++)
        all += c->counts[after(c, rank, i)];
    return all;
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
    for (int i = 1, done = c->counts[c->rank]; i < c->size; i++) {
        int r = after(c, c->rank, i);
        copy(c, block(c, r), at(c, all, done), c->counts[r]);
        done += c->counts[r];
    }
    scratch_free(c, all);
}
