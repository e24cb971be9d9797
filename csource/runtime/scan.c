#include "repository.h"

/* From each rank to the next. */
int scan_linear(const call *c)
{
    int e = MPI_SUCCESS;
    char *tmp = scratch(c, c->count);
    if (tmp == NULL)
        return MPI_ERR_NO_MEM;
    if (c->rank > 0)
        e = get(c, tmp, c->count, c->rank - 1);
    if (e == MPI_SUCCESS && c->rank > 0)
        e = combine(c, c->data, tmp, c->count, 1);
    if (e == MPI_SUCCESS && c->rank < c->size - 1)
        e = put(c, c->data, c->count, c->rank + 1);
    scratch_free(c, tmp);
    return e;
}

/* As scan_linear; what was received is the result. */
int exscan_linear(const call *c)
{
    int e = MPI_SUCCESS;
    char *before = scratch(c, c->count), *sum = scratch(c, c->count);
    if (before == NULL || sum == NULL)
        e = MPI_ERR_NO_MEM;
    if (e == MPI_SUCCESS && c->rank > 0)
        e = get(c, before, c->count, c->rank - 1);
    if (e == MPI_SUCCESS && c->rank > 0)
        e = copy(c, sum, before, c->count);
    if (e == MPI_SUCCESS && c->rank > 0 && c->rank < c->size - 1)
        e = combine(c, c->data, sum, c->count, 1);
    if (e == MPI_SUCCESS && c->rank < c->size - 1)
        e = put(c, c->data, c->count, c->rank + 1);
    if (e == MPI_SUCCESS && c->rank > 0)
        e = copy(c, c->data, before, c->count);
    scratch_free(c, before);
    scratch_free(c, sum);
    return e;
}

/* What the ranks of one block have together is exchanged with the neighbouring
 * block; lower ones count for the result. Hillis and Steele, Data parallel
 * algorithms (1986). before holds what lower ranks have together. */
static int doubling(const call *c, char *all, char *before, int *heard)
{
    char *tmp = scratch(c, c->count), *theirs = scratch(c, c->count);
    int e = tmp == NULL || theirs == NULL ? MPI_ERR_NO_MEM : copy(c, all, c->data, c->count);
    *heard = 0;
    for (int d = 1; e == MPI_SUCCESS && d < c->size; d *= 2) {
        int peer = c->rank ^ d;
        if (peer >= c->size)
            continue;
        e = swap(c, all, c->count, peer, tmp, c->count, peer);
        if (e == MPI_SUCCESS && peer < c->rank)
            e = copy(c, theirs, tmp, c->count);
        if (e == MPI_SUCCESS && peer < c->rank && *heard)
            e = combine(c, before, theirs, c->count, 1);
        else if (e == MPI_SUCCESS && peer < c->rank)
            e = copy(c, before, theirs, c->count);
        *heard |= peer < c->rank;
        if (e == MPI_SUCCESS)
            e = combine(c, all, tmp, c->count, peer < c->rank);
    }
    scratch_free(c, tmp);
    scratch_free(c, theirs);
    return e;
}

static int with_doubling(const call *c, int own)
{
    int heard = 0, e;
    char *all = scratch(c, c->count), *before = scratch(c, c->count);
    e = all == NULL || before == NULL ? MPI_ERR_NO_MEM : doubling(c, all, before, &heard);
    if (e == MPI_SUCCESS && heard)
        e = own ? combine(c, c->data, before, c->count, 1) : copy(c, c->data, before, c->count);
    scratch_free(c, all);
    scratch_free(c, before);
    return e;
}

int scan_recursive_doubling(const call *c) { return with_doubling(c, 1); }

int exscan_recursive_doubling(const call *c) { return with_doubling(c, 0); }
