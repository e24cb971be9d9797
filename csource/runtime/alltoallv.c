#include "repository.h"

#include <stdlib.h>

/* Ranks do not know the sizes of others, so that each may run another of these
 * algorithms: between two ranks there is one message each way in all of them, so that the
 * n-th message is of the n-th call. Nobody waits round a ring: who takes one partner at a
 * time waits for what the others have posted by the same round, and in the earliest round
 * that anyone is in, all partners are in it or past it; who posts all at once is past all
 * rounds. In place all ranks run the same. */

static char *into(const call *c, int rank) { return at(c, c->data, c->starts[rank]); }

static int start_get_from(const call *c, int rank, MPI_Request *r)
{
    return PMPI_Irecv(into(c, rank), c->counts[rank], c->type, rank, TAG, c->comm, r);
}

static int start_put_to(const call *c, int rank, MPI_Request *r)
{
    const char *from = c->send + (MPI_Aint)c->sends.starts[rank] * c->sends.extent;
    return PMPI_Isend(from, c->sends.counts[rank], c->sends.type, rank, TAG, c->comm, r);
}

/* Where blocks are replaced, pairs meet one after another: in round k the ranks whose
 * sum is k, round the ring. */
static int replace(const call *c)
{
    int e = MPI_SUCCESS;
    for (int k = 0; e == MPI_SUCCESS && k < c->size; k++) {
        int peer = after(c, k, -c->rank);
        if (peer != c->rank && bytes_of(c->counts[peer], c->type) > 0)
            e = PMPI_Sendrecv_replace(into(c, peer), c->counts[peer], c->type, peer, TAG, peer, TAG, c->comm, MPI_STATUS_IGNORE);
    }
    return e;
}

/* Everybody sends to everybody, all at once. */
int alltoallv_linear(const call *c)
{
    int n = 0, e = MPI_SUCCESS;
    if (c->send == NULL)
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

/* One partner at a time. Thakur, Rabenseifner and Gropp (2005), 3.4. */
int alltoallv_pairwise(const call *c)
{
    int e = MPI_SUCCESS;
    if (c->send == NULL)
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
