#include "bytes.h"
#include "next.h"
#include "repository.h"

#include <limits.h>
#include <stdlib.h>

/* A rank does not know the message sizes of other ranks. Ranks may therefore run different algorithms of this file
 * in the same call. Only the algorithms that send in phases serve either all ranks or none. In each algorithm, a
 * rank sends one message to each other rank. The n-th message between two ranks thus belongs to the n-th call.
 *
 * The algorithms without phases cannot deadlock. A rank that exchanges with one rank at a time, in rounds, waits
 * only for messages that its partners start in the same round or earlier. Consider the ranks in the earliest round:
 * their partners have reached this round, too, so these ranks can continue. A rank that starts all messages at once
 * makes no other rank wait. With MPI_IN_PLACE all ranks run the same algorithm. */

/* Starts a message with any number of elements. */
#if LONG_COUNTS
#define START(name, n, ...) note((n) > INT_MAX ? PMPI_##name##_c(__VA_ARGS__) : PMPI_##name(__VA_ARGS__))
#else
#define START(name, n, ...) note(PMPI_##name(__VA_ARGS__))
#endif

static void start_get_from(const call *c, int rank, MPI_Request *r)
{
    const tutti_block *b = &c->receives.at[rank];
    START(Irecv, b->count, moved(c->data, b->start), b->count, c->receives.type, rank, TAG, c->comm, r);
}

static void start_put_to(const call *c, int rank, MPI_Request *r)
{
    const tutti_block *b = &c->sends.at[rank];
    START(Isend, b->count, moved(c->send, b->start), b->count, c->sends.type, rank, TAG, c->comm, r);
}

/* Replaces blocks in place. In round k, a rank exchanges blocks with the rank for which the sum of both rank
 * numbers, modulo the number of ranks, is k. */
static void replace(const call *c)
{
    MPI_Datatype type = c->receives.type;
    for (int k = 0; k < c->size; k++) {
        int peer = after(c, k, -c->rank);
        const tutti_block *b = &c->receives.at[peer];
        if (peer != c->rank && bytes_of(b->count, type) > 0)
            START(Sendrecv_replace, b->count, moved(c->data, b->start), b->count, type, peer, TAG, peer, TAG, c->comm, MPI_STATUS_IGNORE);
    }
}

/* Exchanges blocks with all ranks at once. If `spread` is 1, a rank begins with itself and the ranks that follow it,
 * otherwise with rank 0. */
static void exchange_blocks(const call *c, int spread)
{
    int n = 0;
    if (c->in_place) {
        replace(c);
        return;
    }
    MPI_Request *all = requests_of(2 * c->size);
    for (int k = 0; k < c->size; k++)
        start_get_from(c, spread ? after(c, c->rank, -k) : k, &all[n++]);
    for (int k = 0; k < c->size; k++)
        start_put_to(c, spread ? after(c, c->rank, k) : k, &all[n++]);
    wait_all(all, n);
    free(all);
}

void alltoallv_linear(const call *c) { exchange_blocks(c, 1); }

/* All ranks send first to rank 0, then to rank 1, and so on. Source: Faraj and Yuan (2005), 3.1. */
void alltoallv_simple(const call *c) { exchange_blocks(c, 0); }

/* Each rank exchanges blocks with one other rank at a time. Source: Thakur, Rabenseifner and Gropp (2005), 3.4. */
void alltoallv_pairwise(const call *c)
{
    if (c->in_place) {
        replace(c);
        return;
    }
    for (int k = 0; k < c->size; k++) {
        MPI_Request both[2];
        start_get_from(c, after(c, c->rank, -k), &both[0]);
        start_put_to(c, after(c, c->rank, k), &both[1]);
        wait_all(both, 2);
    }
}

/* Sends the messages in phases, with barriers between the phases. Messages without elements are omitted. If there are
 * too many ranks to make a pattern of phases, ranks exchange in pairs. */
static void in_phases(const call *c, enum way by)
{
    if (c->in_place || (uint64_t)c->size * (uint64_t)c->size * sizeof(uint64_t) > MOST_GATHERED) {
        alltoallv_pairwise(c);
        return;
    }
    const phases_of_pattern *p = pattern_phases(c, by);
    MPI_Request *all = requests_of(2 * c->size);
    for (int k = 0; k <= p->n; k++) {
        int n = 0;
        if (k > 0 && k < p->n)
            barrier_bruck(c);
        for (int r = 0; r < c->size; r++)
            if (p->of[c->size + r] == k && bytes_of(c->receives.at[r].count, c->receives.type) > 0)
                start_get_from(c, r, &all[n++]);
        for (int r = 0; r < c->size; r++)
            if (p->of[r] == k && bytes_of(c->sends.at[r].count, c->sends.type) > 0)
                start_put_to(c, r, &all[n++]);
        wait_all(all, n);
    }
    free(all);
}

void alltoallv_greedy(const call *c) { in_phases(c, GREEDY); }

void alltoallv_scheduled_barrier(const call *c) { in_phases(c, FROM_ALLTOALL); }
