/* Algorithms that use the distribution of ranks over nodes. The leader of a node is its first rank in depth-first
 * order. */
#include "comm.h"
#include "tree.h"

#include <stdlib.h>

/* The nodes of a communicator. Ranks have positions in depth-first order, and the ranks of a node have consecutive
 * positions. */
typedef struct {
    int n, own;    /* the number of nodes, and this rank's node */
    int *first;    /* the position at which each node begins, and the end of the last one */
} nodes;

static nodes nodes_of(const call *c)
{
    const layout *l = c->layout;
    nodes all = {0, 0, memory((size_t)(c->size + 1) * sizeof(int))};
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

/* Returns a copy of the call in which only the leaders take part: one rank of each node. */
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
static void allreduce_by_nodes(const call *c, void (*run)(const call *))
{
    nodes all = nodes_of(c);
    int *leaders = memory((size_t)c->size * sizeof *leaders);
    call in = inside(c, &all), top = among_leaders(c, &all, leaders);
    reduce_binomial(&in);
    if (leads(c, &all))
        run(&top);
    bcast_binomial(&in);
    free(leaders);
    free(all.first);
}

/* An allreduce on two levels, with recursive doubling among the nodes. Source: Karonis et al., Exploiting
 * hierarchy in parallel computer networks to optimize collective operation performance (2000). */
void allreduce_two_level(const call *c) { allreduce_by_nodes(c, allreduce_recursive_doubling); }

/* The allreduce on two levels for long vectors, with Rabenseifner's algorithm among the nodes. */
void allreduce_two_level_rabenseifner(const call *c) { allreduce_by_nodes(c, allreduce_rabenseifner); }

/* Passes the blocks of all nodes round a ring of leaders. In each step a leader sends the blocks of one node to the
 * next leader, and receives the blocks of another node from the previous leader. The memory at `blocks` holds the blocks
 * of all ranks, sorted by position. */
static void pass_on(const call *top, const nodes *all, char *blocks)
{
    int n = top->count, next = after(top, top->rank, 1), before = after(top, top->rank, -1);
    for (int k = 0; k < top->size - 1; k++) {
        int out = after(top, top->rank, -k), in = after(top, before, -k);
        const int *f = all->first;
        send_receive(top, at(top, blocks, f[out] * n), (f[out + 1] - f[out]) * n, next,
                 at(top, blocks, f[in] * n), (f[in + 1] - f[in]) * n, before);
    }
}

/* Sends all blocks round a ring of leaders, and then from each leader to all ranks of its node. Source: Karonis et al.
 * (2000). */
static void gather_by_nodes(const call *c, const nodes *all, char *blocks, int *leaders)
{
    call in = inside(c, all), top = among_leaders(c, all, leaders), whole = in;
    in.data = leads(c, all) ? at(c, blocks, all->first[all->own] * c->count) : at(c, c->data, c->rank * c->count);
    if (leads(c, all))
        copy(c, in.data, at(c, c->data, c->rank * c->count), c->count);
    gather_binomial(&in);
    if (leads(c, all))
        pass_on(&top, all, blocks);
    whole.data = blocks;
    whole.count = c->count * c->size;
    whole.parameter = 0;
    bcast_binomial(&whole);
}

void allgather_two_level(const call *c)
{
    nodes all = nodes_of(c);
    int *leaders = memory((size_t)c->size * sizeof *leaders);
    char *blocks = scratch(c, c->size * c->count);
    gather_by_nodes(c, &all, blocks, leaders);
    for (int i = 0; i < c->size; i++)
        copy(c, at(c, c->data, c->layout->order[i] * c->count), at(c, blocks, i * c->count), c->count);
    free(leaders);
    free(all.first);
    scratch_free(c, blocks);
}
