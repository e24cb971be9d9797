#include "repository.h"

static char *block(const call *c, int rank) { return at(c, c->data, c->starts[rank]); }

/* Reduces to rank 0 along a binomial tree. Rank 0 sends each rank its block. */
int reduce_scatter_nonoverlapping(const call *c)
{
    call sum = *c;
    sum.root = 0;
    int e = reduce_binomial(&sum);
    if (e != MPI_SUCCESS)
        return e;
    if (c->rank != 0)
        return receive_from(c, block(c, c->rank), c->counts[c->rank], 0);
    for (int r = 1; e == MPI_SUCCESS && r < c->size; r++)
        e = send_to(c, block(c, r), c->counts[r], r);
    return e;
}

/* For long messages. Each rank sends every other rank the block of that rank, to one rank at a time. Source:
 * Thakur, Rabenseifner and Gropp (2005), 3.5. */
int reduce_scatter_pairwise(const call *c)
{
    char *own = block(c, c->rank), *tmp = scratch(c, c->counts[c->rank]);
    int n = c->counts[c->rank], e = tmp == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    for (int k = 1; e == MPI_SUCCESS && k < c->size; k++) {
        int to = after(c, c->rank, k), from = after(c, c->rank, -k);
        e = send_receive(c, block(c, to), c->counts[to], to, tmp, n, from);
        if (e == MPI_SUCCESS)
            e = combine(c, own, tmp, n, 0);
    }
    scratch_free(c, tmp);
    return e;
}

static int largest(const call *c)
{
    int most = 0;
    for (int r = 0; r < c->size; r++)
        most = c->counts[r] > most ? c->counts[r] : most;
    return most;
}

/* Partial results travel round a ring. Each of them arrives last at the rank that gets this block. Source:
 * Patarasuk and Yuan (2009). */
int reduce_scatter_ring(const call *c)
{
    int next = after(c, c->rank, 1), before = after(c, c->rank, -1), e;
    char *tmp = scratch(c, largest(c));
    e = tmp == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    for (int k = 1; e == MPI_SUCCESS && k < c->size; k++) {
        int out = after(c, c->rank, -k), in = after(c, before, -k);
        e = send_receive(c, block(c, out), c->counts[out], next, tmp, c->counts[in], before);
        if (e == MPI_SUCCESS)
            e = combine(c, block(c, in), tmp, c->counts[in], 1);
    }
    scratch_free(c, tmp);
    return e;
}

/* For short messages. Recursive halving: two ranks exchange blocks, and each sends the half that the other one is
 * responsible for. Source: Thakur, Rabenseifner and Gropp (2005), 3.5. */
int reduce_scatter_halving(const call *c)
{
    char *tmp = scratch(c, c->count);
    int low = 0, e = tmp == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    for (int d = c->size / 2; e == MPI_SUCCESS && d > 0; d /= 2) {
        int peer = c->rank ^ d, middle = low + d, end = middle + d;
        int cut = c->starts[middle], start = c->starts[low], stop = c->starts[end - 1] + c->counts[end - 1];
        int upper = (c->rank & d) != 0, own = upper ? cut : start, n = upper ? stop - cut : cut - start;
        e = send_receive(c, at(c, c->data, upper ? start : cut), stop - start - n, peer, tmp, n, peer);
        if (e == MPI_SUCCESS)
            e = combine(c, at(c, c->data, own), tmp, n, 0);
        low = upper ? middle : low;
    }
    scratch_free(c, tmp);
    return e;
}
