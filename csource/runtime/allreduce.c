#include "repository.h"

/* Reduces to rank 0 along a binomial tree. Then it broadcasts from rank 0 along a second binomial tree. */
void allreduce_nonoverlapping(const call *c)
{
    reduce_binomial(c);
    bcast_binomial(c);
}

/* Recursive doubling: pairs at distances 1, 2, 4 … combine their vectors in the order of the ranks, so that all ranks
 * get the same bits. Source: Thakur, Rabenseifner and Gropp (2005), 3.6. */
void allreduce_recursive_doubling(const call *c)
{
    team m = team_of(c);
    char *tmp = scratch(c, c->count);
    team_join(c, &m, tmp);
    for (int d = 1; m.number >= 0 && d < m.power; d *= 2) {
        int peer = team_rank(&m, m.number ^ d);
        send_receive(c, c->data, c->count, peer, tmp, c->count, peer);
        combine(c, c->data, tmp, c->count, peer < c->rank);
    }
    team_leave(c, &m);
    scratch_free(c, tmp);
}

static void by_halves(const call *c, team m)
{
    int first, n;
    char *tmp = scratch(c, c->count);
    team_join(c, &m, tmp);
    if (m.number >= 0) {
        halve(c, &m, m.number, tmp, &first, &n);
        unhalve(c, &m, m.number, 0);
    }
    team_leave(c, &m);
    scratch_free(c, tmp);
}

/* Reduces by recursive halving, then gathers by recursive doubling. Source: Rabenseifner (2004). */
void allreduce_rabenseifner(const call *c) { by_halves(c, team_of(c)); }

/* Rabenseifner's algorithm, except that the longest messages are exchanged by ranks that are far from each other. */
void allreduce_rabenseifner_far(const call *c) { by_halves(c, team_far(c)); }

/* Returns the index of the first element of part i of the vector. The first parts may have one element more
 * than the others. */
static int begins(const call *c, int i)
{
    int share = c->count / c->size, more = c->count % c->size;
    return i * share + (i < more ? i : more);
}

static int length(const call *c, int i) { return begins(c, i + 1) - begins(c, i); }

/* Sends n elements of this rank's vector, from index `out` on, to the rank `to`. Receives m elements from the rank
 * `from`, and combines them with this rank's elements from index `in` on. Messages are split into segments of `step`
 * elements. A segment is combined while the next one is received; `tmp` has memory for two segments. */
static void swap_and_combine(const call *c, int out, int n, int to, int in, int m, int from, char *tmp, int step)
{
    MPI_Request sent[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, got[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int most = n > m ? n : m;
    for (int k = 0, at_k = 0; at_k < most + step; k++, at_k += step) {
        int w = k % 2, before = at_k - step;
        if (at_k < m)
            start_receive(c, at(c, tmp, w * step), at_most(step, m - at_k), from, &got[w]);
        wait_all(&sent[w], 1);
        if (at_k < n)
            start_send(c, at(c, c->data, out + at_k), at_most(step, n - at_k), to, &sent[w]);
        if (before < 0 || before >= m)
            continue;
        wait_receives(c, &got[!w], 1, at_most(step, m - before));
        combine(c, at(c, c->data, in + before), at(c, tmp, !w * step), at_most(step, m - before), 1);
    }
    wait_all(sent, 2);
}

/* Ring: first partial results travel round the ring, then the results. Source: Patarasuk and Yuan, Bandwidth optimal
 * all-reduce algorithms for clusters of workstations (2009). */
void allreduce_ring(const call *c)
{
    int next = after(c, c->rank, 1), before = after(c, c->rank, -1), step = segment_of(c, c->count / c->size + 1);
    char *tmp = scratch(c, 2 * step);
    for (int k = 0; k < c->size - 1; k++) {
        int out = after(c, c->rank, -k), in = after(c, before, -k);
        swap_and_combine(c, begins(c, out), length(c, out), next, begins(c, in), length(c, in), before, tmp, step);
    }
    for (int k = 0; k < c->size - 1; k++) {
        int out = after(c, next, -k), in = after(c, c->rank, -k);
        send_receive(c, at(c, c->data, begins(c, out)), length(c, out), next, at(c, c->data, begins(c, in)), length(c, in), before);
    }
    scratch_free(c, tmp);
}

/* The ring algorithm on ranks in the depth-first order of switches and nodes. Source: Faraj and Yuan, Automatic
 * generation and tuning of MPI collective communication routines (2005), 3.1. */
void allreduce_ring_depth_first(const call *c)
{
    call there = by_position(c);
    allreduce_ring(&there);
}

void allreduce_recursive_doubling_depth_first(const call *c)
{
    call there = by_position(c);
    allreduce_recursive_doubling(&there);
}

void allreduce_rabenseifner_depth_first(const call *c)
{
    call there = by_position(c);
    allreduce_rabenseifner(&there);
}
