/* Allreduce algorithms that are composed of other collectives. Each part runs the algorithm that the table selects for that
 * collective. Source: Faraj and Yuan, Automatic generation and tuning of MPI collective communication routines (2005), 3.1. */
#include "library.h"

#include <stdlib.h>

/* Runs the selected algorithm of a collective on a call of libtutti. It runs the function otherwise if the table selects an
 * algorithm of the MPI library, or one that cannot serve the call. */
static int selected(const call *c, collective what, int (*otherwise)(const call *))
{
    const struct row *r = c->rows[what];
    const pick *p = r == NULL ? NULL : row_pick(r, bytes_of(c->count, c->type));
    if (p == NULL || p->algorithm == NULL || is_library(p->algorithm) || (p->algorithm->needs & SIGNALS) || !repository_fits(p->algorithm, c->size) ||
        !repository_can(p->algorithm, c))
        return otherwise(c);
    call part = *c;
    part.parameter = p->parameter;
    return p->algorithm->run(&part);
}

/* Combines the vectors of all ranks, of n elements each, in the order of the ranks. The last vector becomes the result. */
static int combine_all(const call *c, char *vectors, int n)
{
    int e = MPI_SUCCESS;
    for (int r = 1; e == MPI_SUCCESS && r < c->size; r++)
        e = combine(c, at(c, vectors, r * n), at(c, vectors, (r - 1) * n), n, 1);
    return e;
}

/* Gathers the vectors of all ranks. Each rank then combines them. */
int allreduce_allgather(const call *c)
{
    call all = *c;
    all.parameter = 0;
    all.data = scratch(c, c->size * c->count);
    int e = all.data == NULL ? MPI_ERR_NO_MEM : copy(c, at(c, all.data, c->rank * c->count), c->data, c->count);
    if (e == MPI_SUCCESS)
        e = selected(&all, ALLGATHER, allgather_bruck);
    if (e == MPI_SUCCESS)
        e = combine_all(c, all.data, c->count);
    if (e == MPI_SUCCESS)
        e = copy(c, c->data, at(c, all.data, (c->size - 1) * c->count), c->count);
    scratch_free(c, all.data);
    return e;
}

/* Reduces each block by an alltoall. */
static int reduce_by_alltoall(const call *c)
{
    call in = *c;
    int n = c->count;
    in.send = c->data;
    in.data = scratch(c, c->size * n);
    int e = in.data == NULL ? MPI_ERR_NO_MEM : selected(&in, ALLTOALL, alltoall_pairwise);
    if (e == MPI_SUCCESS)
        e = combine_all(c, in.data, n);
    if (e == MPI_SUCCESS)
        e = copy(c, at(c, c->data, c->rank * n), at(c, in.data, (c->size - 1) * n), n);
    scratch_free(c, in.data);
    return e;
}

/* Reduces each block by recursive halving. */
static int reduce_by_halving(const call *c)
{
    call whole = *c;
    int *numbers = malloc(2 * (size_t)c->size * sizeof *numbers);
    if (numbers == NULL)
        return MPI_ERR_NO_MEM;
    for (int r = 0; r < c->size; r++) {
        numbers[r] = r * c->count;
        numbers[c->size + r] = c->count;
    }
    whole.starts = numbers;
    whole.counts = numbers + c->size;
    whole.count = c->size * c->count;
    int e = reduce_scatter_halving(&whole);
    free(numbers);
    return e;
}

/* Gives each rank one block of the result, then gathers the blocks. Blocks have equal lengths. The last one is filled up with
 * elements from the beginning of the vector. */
static int by_blocks(const call *c, int (*reduce)(const call *))
{
    call blocks = *c;
    int n = (c->count - 1) / c->size + 1, rest = c->size * n - c->count;
    blocks.parameter = 0;
    blocks.count = n;
    blocks.data = scratch(c, c->size * n);
    int e = blocks.data == NULL ? MPI_ERR_NO_MEM : copy(c, blocks.data, c->data, c->count);
    if (e == MPI_SUCCESS)
        e = copy(c, at(c, blocks.data, c->count), c->data, rest);
    if (e == MPI_SUCCESS)
        e = reduce(&blocks);
    if (e == MPI_SUCCESS)
        e = selected(&blocks, ALLGATHER, allgather_ring);
    if (e == MPI_SUCCESS)
        e = copy(c, c->data, blocks.data, c->count);
    scratch_free(c, blocks.data);
    return e;
}

/* Rabenseifner's algorithm with the selected allgather. */
int allreduce_halving_allgather(const call *c) { return by_blocks(c, reduce_by_halving); }

/* Rabenseifner's algorithm with the selected alltoall and the selected allgather. */
int allreduce_alltoall_allgather(const call *c) { return by_blocks(c, reduce_by_alltoall); }
