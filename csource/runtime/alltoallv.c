#include "repository.h"

#include <stdlib.h>

/* A rank does not know the message sizes of other ranks, so ranks may run different algorithms of this file in the same
 * call. In each algorithm a rank sends one message to each other rank, so the n-th message between two ranks belongs to
 * the n-th call.
 *
 * The algorithms cannot deadlock. A rank that exchanges with one rank at a time only waits for messages that the others
 * have sent by the same round. In the earliest round of any rank, all partners are in this round or a later one. A rank
 * that starts all messages at once is past all rounds. With MPI_IN_PLACE all ranks run the same algorithm. */

static char *into(const call *c, int rank) { return at(c, c->data, c->starts[rank]); }

static int start_get_from(const call *c, int rank, MPI_Request *r)
{
    return start_receive(c, into(c, rank), c->counts[rank], rank, r);
}

static int start_put_to(const call *c, int rank, MPI_Request *r)
{
    const char *from = moved(c->send, (MPI_Aint)c->sends.starts[rank] * c->sends.extent);
    return noted(PMPI_Isend(from, c->sends.counts[rank], c->sends.type, rank, TAG, c->comm, r));
}

/* Replaces blocks in place. In round k, a rank exchanges blocks with the rank for which the sum of both rank
 * numbers, modulo the number of ranks, is k. */
static int replace(const call *c)
{
    for (int k = 0; k < c->size; k++) {
        int peer = after(c, k, -c->rank);
        if (peer != c->rank && bytes_of(c->counts[peer], c->type) > 0)
            noted(PMPI_Sendrecv_replace(into(c, peer), c->counts[peer], c->type, peer, TAG, peer, TAG, c->comm, MPI_STATUS_IGNORE));
    }
    return MPI_SUCCESS;
}

/* Each rank exchanges blocks with all others at once. */
int alltoallv_linear(const call *c)
{
    int n = 0, e = MPI_SUCCESS;
    if (c->sends.in_place)
        return replace(c);
    MPI_Request *all = malloc(2 * (size_t)c->size * sizeof *all);
    if (all == NULL)
        return MPI_ERR_NO_MEM;
    for (int k = 0; e == MPI_SUCCESS && k < c->size; k++)
        e = start_get_from(c, after(c, c->rank, -k), &all[n++]);
    for (int k = 0; e == MPI_SUCCESS && k < c->size; k++)
        e = start_put_to(c, after(c, c->rank, k), &all[n++]);
    if (e == MPI_SUCCESS)
        e = wait_all(all, n);
    free(all);
    return e;
}

/* Each rank exchanges blocks with one other rank at a time. Source: Thakur, Rabenseifner and Gropp (2005), 3.4. */
int alltoallv_pairwise(const call *c)
{
    int e = MPI_SUCCESS;
    if (c->sends.in_place)
        return replace(c);
    for (int k = 0; e == MPI_SUCCESS && k < c->size; k++) {
        MPI_Request both[2];
        e = start_get_from(c, after(c, c->rank, -k), &both[0]);
        if (e == MPI_SUCCESS)
            e = start_put_to(c, after(c, c->rank, k), &both[1]);
        if (e == MPI_SUCCESS)
            e = wait_all(both, 2);
    }
    return e;
}
