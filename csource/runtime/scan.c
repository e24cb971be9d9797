#include "repository.h"

/* Partial results travel along a chain of ranks. */
int scan_linear(const call *c)
{
    int e = MPI_SUCCESS;
    char *tmp = scratch(c, c->count);
    if (tmp == NULL)
        return MPI_ERR_NO_MEM;
    if (c->rank > 0)
        e = receive_from(c, tmp, c->count, c->rank - 1);
    if (e == MPI_SUCCESS && c->rank > 0)
        e = combine(c, c->data, tmp, c->count, 1);
    if (e == MPI_SUCCESS && c->rank < c->size - 1)
        e = send_to(c, c->data, c->count, c->rank + 1);
    scratch_free(c, tmp);
    return e;
}

/* Partial results travel along a chain of ranks, as in scan_linear. A rank's result is the vector that it
 * receives. */
int exscan_linear(const call *c)
{
    int e = MPI_SUCCESS;
    char *before = scratch(c, c->count), *sum = scratch(c, c->count);
    if (before == NULL || sum == NULL)
        e = MPI_ERR_NO_MEM;
    if (e == MPI_SUCCESS && c->rank > 0)
        e = receive_from(c, before, c->count, c->rank - 1);
    if (e == MPI_SUCCESS && c->rank > 0)
        e = copy(c, sum, before, c->count);
    if (e == MPI_SUCCESS && c->rank > 0 && c->rank < c->size - 1)
        e = combine(c, c->data, sum, c->count, 1);
    if (e == MPI_SUCCESS && c->rank < c->size - 1)
        e = send_to(c, c->data, c->count, c->rank + 1);
    if (e == MPI_SUCCESS && c->rank > 0)
        e = copy(c, c->data, before, c->count);
    scratch_free(c, before);
    scratch_free(c, sum);
    return e;
}

/* Recursive doubling: a block of ranks exchanges the combined vectors of all its members with the neighboring
 * block. The parameter before receives the combination of the vectors of all lower ranks. Source: Hillis and
 * Steele, Data parallel algorithms (1986). */
static int doubling(const call *c, char *all, char *before, int *received)
{
    char *tmp = scratch(c, c->count), *other = scratch(c, c->count);
    int e = tmp == NULL || other == NULL ? MPI_ERR_NO_MEM : copy(c, all, c->data, c->count);
    *received = 0;
    for (int d = 1; e == MPI_SUCCESS && d < c->size; d *= 2) {
        int peer = c->rank ^ d;
        if (peer >= c->size)
            continue;
        e = send_receive(c, all, c->count, peer, tmp, c->count, peer);
        if (e == MPI_SUCCESS && peer < c->rank)
            e = copy(c, other, tmp, c->count);
        if (e == MPI_SUCCESS && peer < c->rank && *received)
            e = combine(c, before, other, c->count, 1);
        else if (e == MPI_SUCCESS && peer < c->rank)
            e = copy(c, before, other, c->count);
        *received |= peer < c->rank;
        if (e == MPI_SUCCESS)
            e = combine(c, all, tmp, c->count, peer < c->rank);
    }
    scratch_free(c, tmp);
    scratch_free(c, other);
    return e;
}

static int with_doubling(const call *c, int own)
{
    int received = 0, e;
    char *all = scratch(c, c->count), *before = scratch(c, c->count);
    e = all == NULL || before == NULL ? MPI_ERR_NO_MEM : doubling(c, all, before, &received);
    if (e == MPI_SUCCESS && received)
        e = own ? combine(c, c->data, before, c->count, 1) : copy(c, c->data, before, c->count);
    scratch_free(c, all);
    scratch_free(c, before);
    return e;
}

int scan_recursive_doubling(const call *c) { return with_doubling(c, 1); }

int exscan_recursive_doubling(const call *c) { return with_doubling(c, 0); }
