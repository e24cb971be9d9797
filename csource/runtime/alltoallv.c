#include "next.h"
#include "repository.h"

#include <limits.h>
#include <stdlib.h>

/* A rank does not know the message sizes of other ranks, so ranks may run different algorithms of this file in the same
 * call. In each algorithm a rank sends one message to each other rank, so the n-th message between two ranks belongs to
 * the n-th call.
 *
 * The algorithms cannot deadlock. A rank that exchanges with one rank at a time only waits for messages that the others
 * have sent by the same round. In the earliest round of any rank, all partners are in this round or a later one. A rank
 * that starts all messages at once is past all rounds. With MPI_IN_PLACE all ranks run the same algorithm. */

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

/* Each rank exchanges blocks with all others at once. */
void alltoallv_linear(const call *c)
{
    int n = 0;
    if (c->in_place) {
        replace(c);
        return;
    }
    MPI_Request *all = requests_of(2 * c->size);
    for (int k = 0; k < c->size; k++)
        start_get_from(c, after(c, c->rank, -k), &all[n++]);
    for (int k = 0; k < c->size; k++)
        start_put_to(c, after(c, c->rank, k), &all[n++]);
    wait_all(all, n);
    free(all);
}

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
