/* Allreduce algorithms that are composed of other collectives. The table of rules says which algorithm runs each of
 * these collectives. Source: Faraj and Yuan, Automatic generation and tuning of MPI collective communication
 * routines (2005), 3.1. */
#include "bytes.h"
#include "library.h"

#include <stdlib.h>

/* Runs the algorithm of libtutti that the table selects for a collective. If the table selects none, or one that cannot
 * serve the call, the function `otherwise` runs. */
static void selected(const call *c, collective what, void (*otherwise)(const call *))
{
    const struct row *r = c->rows[what];
    const pick *p = r == NULL ? NULL : row_pick(r, bytes_of(c->count, c->type));
    if (p == NULL || p->algorithm == NULL || is_library(p->algorithm) || (p->algorithm->needs & SIGNALS) || !repository_fits(p->algorithm, c->size) ||
        !repository_can(p->algorithm, c)) {
        otherwise(c);
        return;
    }
    call part = *c;
    part.parameter = p->parameter;
    repository_run(p->algorithm, &part);
}

/* Combines the vectors of all ranks, of n elements each, in the order of the ranks. The last vector becomes the result. */
static void combine_all(const call *c, char *vectors, int n)
{
    for (int r = 1; r < c->size; r++)
        combine(c, at(c, vectors, r * n), at(c, vectors, (r - 1) * n), n, 1);
}

/* Gathers the vectors of all ranks. Each rank then combines them. */
void allreduce_allgather(const call *c)
{
    call all = *c;
    all.parameter = 0;
    all.data = scratch(c, c->size * c->count);
    copy(c, at(c, all.data, c->rank * c->count), c->data, c->count);
    selected(&all, ALLGATHER, allgather_bruck);
    combine_all(c, all.data, c->count);
    copy(c, c->data, at(c, all.data, (c->size - 1) * c->count), c->count);
    scratch_free(c, all.data);
}

/* Gives each rank one block of the result: it gets its block from all ranks by an alltoall, and combines them. */
static void reduce_by_alltoall(const call *c)
{
    call in = *c;
    int n = c->count;
    in.send = c->data;
    in.data = scratch(c, c->size * n);
    selected(&in, ALLTOALL, alltoall_pairwise);
    combine_all(c, in.data, n);
    copy(c, at(c, c->data, c->rank * n), at(c, in.data, (c->size - 1) * n), n);
    scratch_free(c, in.data);
}

/* Gives each rank one block of the result, by recursive halving. */
static void reduce_by_halving(const call *c)
{
    call whole = *c;
    int *numbers = memory(2 * (size_t)c->size * sizeof *numbers);
    for (int r = 0; r < c->size; r++) {
        numbers[r] = r * c->count;
        numbers[c->size + r] = c->count;
    }
    whole.starts = numbers;
    whole.counts = numbers + c->size;
    whole.count = c->size * c->count;
    reduce_scatter_halving(&whole);
    free(numbers);
}

/* Lets the function `reduce` compute one block of the result on each rank, then gathers all blocks. All blocks have
 * the same length. If the last block is too short, elements from the beginning of the vector fill it up. */
static void by_blocks(const call *c, void (*reduce)(const call *))
{
    call blocks = *c;
    int n = (c->count - 1) / c->size + 1, rest = c->size * n - c->count;
    blocks.parameter = 0;
    blocks.count = n;
    blocks.data = scratch(c, c->size * n);
    copy(c, blocks.data, c->data, c->count);
    copy(c, at(c, blocks.data, c->count), c->data, rest);
    reduce(&blocks);
    selected(&blocks, ALLGATHER, allgather_ring);
    copy(c, c->data, blocks.data, c->count);
    scratch_free(c, blocks.data);
}

/* Rabenseifner's algorithm, but the table selects the algorithm of the allgather. */
void allreduce_halving_allgather(const call *c) { by_blocks(c, reduce_by_halving); }

/* Rabenseifner's algorithm, but with an alltoall and an allgather whose algorithms the table selects. */
void allreduce_alltoall_allgather(const call *c) { by_blocks(c, reduce_by_alltoall); }
