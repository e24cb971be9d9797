/* Algorithms that use the distribution of ranks over nodes. The leader of a node is its first rank in depth-first
 * order. */
#include "tree.h"

#include <stdlib.h>

/* The nodes of a communicator, by the positions of their ranks. */
typedef struct {
    int n, own;    /* the number of nodes, and this rank's node */
    int *first;    /* the position at which each node begins, and the end of the last one */
    int error;
} nodes;

static nodes nodes_of(const call *c)
{
    const layout *l = c->layout;
    nodes all = {0, 0, malloc((size_t)(c->size + 1) * sizeof *all.first), MPI_SUCCESS};
    if (all.first == NULL) {
        all.error = MPI_ERR_NO_MEM;
        return all;
    }
    for (int i = 0; i < c->size; i++) {
        if (i == 0 || group_of(l, l->levels - 1, i) != group_of(l, l->levels - 1, i - 1))
            all.first[all.n++] = i;
        if (l->order[i] == c->rank)
            all.own = all.n - 1;
    }
    all.first[all.n] = c->size;
    return all;
}

static int leads(const call *c, const nodes *all) { return c->layout->order[all->first[all->own]] == c->rank; }

/* Returns a copy of the call that is limited to the leaders of the nodes. */
static call among_leaders(const call *c, const nodes *all, int *leaders)
{
    call top = *c;
    for (int i = 0; i < all->n; i++)
        leaders[i] = c->layout->order[all->first[i]];
    top.map = leaders;
    top.size = all->n;
    top.rank = all->own;
    top.root = 0;
    return top;
}

/* Returns a copy of the call that is limited to the ranks of this rank's node. */
static call inside(const call *c, const nodes *all)
{
    call in = *c;
    in.map = c->layout->order + all->first[all->own];
    in.size = all->first[all->own + 1] - all->first[all->own];
    in.rank = c->layout->position[c->rank] - all->first[all->own];
    in.root = 0;
    return in;
}

/* Reduces inside each node, runs an allreduce algorithm among the leaders of the nodes, and broadcasts inside each
 * node. */
static int allreduce_by_nodes(const call *c, int (*run)(const call *))
{
    nodes all = nodes_of(c);
    int *leaders = malloc((size_t)c->size * sizeof *leaders);
    int e = leaders == NULL ? MPI_ERR_NO_MEM : all.error;
    if (e == MPI_SUCCESS) {
        call in = inside(c, &all), top = among_leaders(c, &all, leaders);
        e = reduce_binomial(&in);
        if (e == MPI_SUCCESS && leads(c, &all))
            e = run(&top);
        if (e == MPI_SUCCESS)
            e = bcast_binomial(&in);
    }
    free(leaders);
    free(all.first);
    return e;
}

/* An allreduce on two levels, with recursive doubling among the nodes. Source: Karonis et al., Exploiting
 * hierarchy in parallel computer networks to optimize collective operation performance (2000). */
int allreduce_two_level(const call *c) { return allreduce_by_nodes(c, allreduce_recursive_doubling); }

/* The allreduce on two levels for long vectors, with Rabenseifner's algorithm among the nodes. */
int allreduce_two_level_rabenseifner(const call *c) { return allreduce_by_nodes(c, allreduce_rabenseifner); }

/* Sends the blocks of some nodes to the next node, and receives blocks from the previous node. The array blocks is
 * sorted by position. */
static int pass_on(const call *top, const nodes *all, char *blocks)
{
    int e = MPI_SUCCESS, n = top->count, next = after(top, top->rank, 1), before = after(top, top->rank, -1);
    for (int k = 0; e == MPI_SUCCESS && k < top->size - 1; k++) {
        int out = after(top, top->rank, -k), in = after(top, before, -k);
        const int *f = all->first;
        e = send_receive(top, at(top, blocks, f[out] * n), (f[out + 1] - f[out]) * n, next,
                 at(top, blocks, f[in] * n), (f[in + 1] - f[in]) * n, before);
    }
    return e;
}

/* Sends all blocks round a ring of leaders, and then from each leader to all ranks of its node. Source: Karonis et al.
 * (2000). */
static int gather_by_nodes(const call *c, const nodes *all, char *blocks, int *leaders)
{
    call in = inside(c, all), top = among_leaders(c, all, leaders), whole = in;
    in.data = leads(c, all) ? at(c, blocks, all->first[all->own] * c->count) : at(c, c->data, c->rank * c->count);
    int e = leads(c, all) ? copy(c, in.data, at(c, c->data, c->rank * c->count), c->count) : MPI_SUCCESS;
    if (e == MPI_SUCCESS)
        e = gather_binomial(&in);
    if (e == MPI_SUCCESS && leads(c, all))
        e = pass_on(&top, all, blocks);
    whole.data = blocks;
    whole.count = c->count * c->size;
    whole.parameter = 0;
    return e != MPI_SUCCESS ? e : bcast_binomial(&whole);
}

int allgather_two_level(const call *c)
{
    nodes all = nodes_of(c);
    int *leaders = malloc((size_t)c->size * sizeof *leaders);
    char *blocks = scratch(c, c->size * c->count);
    int e = leaders == NULL || blocks == NULL ? MPI_ERR_NO_MEM : all.error;
    if (e == MPI_SUCCESS)
        e = gather_by_nodes(c, &all, blocks, leaders);
    for (int i = 0; e == MPI_SUCCESS && i < c->size; i++)
        e = copy(c, at(c, c->data, c->layout->order[i] * c->count), at(c, blocks, i * c->count), c->count);
    free(leaders);
    free(all.first);
    scratch_free(c, blocks);
    return e;
}
