#include "repository.h"

static char *block(const call *c, int rank) { return at(c, c->data, c->starts[rank]); }

/* Reduces to rank 0 along a binomial tree. Rank 0 sends each rank its block. */
void reduce_scatter_nonoverlapping(const call *c)
{
    call sum = *c;
    sum.root = 0;
    reduce_binomial(&sum);
    if (c->rank != 0) {
        receive_from(c, block(c, c->rank), c->counts[c->rank], 0);
        return;
    }
    for (int r = 1; r < c->size; r++)
        send_to(c, block(c, r), c->counts[r], r);
}

/* For long messages. In each round, a rank sends to one other rank the block that this other rank must reduce. It
 * combines the block that it receives with its own. Source: Thakur, Rabenseifner and Gropp (2005), 3.5. */
void reduce_scatter_pairwise(const call *c)
{
    char *own = block(c, c->rank), *tmp = scratch(c, c->counts[c->rank]);
    int n = c->counts[c->rank];
    for (int k = 1; k < c->size; k++) {
        int to = after(c, c->rank, k), from = after(c, c->rank, -k);
        send_receive(c, block(c, to), c->counts[to], to, tmp, n, from);
        combine(c, own, tmp, n, 0);
    }
    scratch_free(c, tmp);
}

static int largest(const call *c)
{
    int most = 0;
    for (int r = 0; r < c->size; r++)
        most = c->counts[r] > most ? c->counts[r] : most;
    return most;
}

/* Partial results travel round a ring. The partial result of a block ends at the rank that gets this block. Source:
 * Patarasuk and Yuan (2009). */
void reduce_scatter_ring(const call *c)
{
    int next = after(c, c->rank, 1), before = after(c, c->rank, -1);
    char *tmp = scratch(c, largest(c));
    for (int k = 1; k < c->size; k++) {
        int out = after(c, c->rank, -k), in = after(c, before, -k);
        send_receive(c, block(c, out), c->counts[out], next, tmp, c->counts[in], before);
        combine(c, block(c, in), tmp, c->counts[in], 1);
    }
    scratch_free(c, tmp);
}

/* For short messages. Recursive halving: two ranks exchange blocks, and each sends the half for which the other one
 * is responsible. Source: Thakur, Rabenseifner and Gropp (2005), 3.5. */
void reduce_scatter_halving(const call *c)
{
    char *tmp = scratch(c, c->count);
    int low = 0;
    for (int d = c->size / 2; d > 0; d /= 2) {
        int peer = c->rank ^ d, middle = low + d, end = middle + d;
        int cut = c->starts[middle], start = c->starts[low], stop = c->starts[end - 1] + c->counts[end - 1];
        int upper = (c->rank & d) != 0, own = upper ? cut : start, n = upper ? stop - cut : cut - start;
        send_receive(c, at(c, c->data, upper ? start : cut), stop - start - n, peer, tmp, n, peer);
        combine(c, at(c, c->data, own), tmp, n, 0);
        low = upper ? middle : low;
    }
    scratch_free(c, tmp);
}
