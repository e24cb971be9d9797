#include "tree.h"

/* Returns the root of the tree. It is rank 0 if the operation does not commute, so that each subtree holds
 * consecutive ranks. */
static int top(const call *c) { return c->commutative ? c->root : 0; }

/* Sends the result from the tree's root to the call's root, if these are different ranks. */
static int hand_on(const call *c)
{
    if (top(c) == c->root)
        return MPI_SUCCESS;
    if (c->rank == top(c))
        return send_to(c, c->data, c->count, c->root);
    return c->rank == c->root ? receive_from(c, c->data, c->count, top(c)) : MPI_SUCCESS;
}

/* The root receives a vector from each other rank in turn, from the last rank to the first, and combines it with
 * its own. */
int reduce_linear(const call *c)
{
    int e;
    if (c->rank != c->root)
        return send_to(c, c->data, c->count, c->root);
    char *own = scratch(c, c->count), *tmp = scratch(c, c->count);
    e = own == NULL || tmp == NULL ? MPI_ERR_NO_MEM : copy(c, own, c->data, c->count);
    for (int r = c->size - 1; e == MPI_SUCCESS && r >= 0; r--) {
        char *other = r == c->root ? own : tmp;
        if (r != c->root)
            e = receive_from(c, r == c->size - 1 ? c->data : tmp, c->count, r);
        if (e == MPI_SUCCESS && r < c->size - 1)
            e = PMPI_Reduce_local(other, c->data, c->count, c->type, c->op);
    }
    scratch_free(c, own);
    scratch_free(c, tmp);
    return e;
}

/* Vectors travel up a binomial tree. Source: Thakur, Rabenseifner and Gropp (2005), 3.5. */
int reduce_binomial(const call *c)
{
    int v = after(c, c->rank, -top(c)), e, bit = 1;
    char *tmp = scratch(c, c->count);
    e = tmp == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    for (; e == MPI_SUCCESS && bit < c->size && !(v & bit); bit *= 2) {
        if (v + bit >= c->size)
            continue;
        e = receive_from(c, tmp, c->count, after(c, c->rank, bit));
        if (e == MPI_SUCCESS)
            e = combine(c, c->data, tmp, c->count, 0);
    }
    if (e == MPI_SUCCESS && v > 0)
        e = send_to(c, c->data, c->count, after(c, c->rank, -bit));
    scratch_free(c, tmp);
    return e != MPI_SUCCESS ? e : hand_on(c);
}

/* Vectors travel along a chain of ranks, segment by segment. Source: Pjesivac-Grbovic et al. (2007), 3.3. */
int reduce_pipeline(const call *c)
{
    int v = after(c, c->rank, -top(c)), step = segment_of(c, c->count), e;
    char *tmp = scratch(c, step);
    MPI_Request out = MPI_REQUEST_NULL;
    e = tmp == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    for (int from = 0; e == MPI_SUCCESS && from < c->count; from += step) {
        int n = c->count - from < step ? c->count - from : step;
        char *part = at(c, c->data, from);
        if (v < c->size - 1)
            e = receive_from(c, tmp, n, after(c, c->rank, 1));
        if (e == MPI_SUCCESS && v < c->size - 1)
            e = combine(c, part, tmp, n, 0);
        if (e == MPI_SUCCESS && v > 0)
            e = wait_all(&out, 1);
        if (e == MPI_SUCCESS && v > 0)
            e = start_send(c, part, n, after(c, c->rank, -1), &out);
    }
    if (e == MPI_SUCCESS)
        e = wait_all(&out, 1);
    scratch_free(c, tmp);
    return e != MPI_SUCCESS ? e : hand_on(c);
}

/* Reduces by recursive halving, then gathers the parts of the result on the root. If another rank takes part for
 * the root, this rank gathers the parts. Source: Rabenseifner (2004). */
int reduce_rabenseifner(const call *c)
{
    team m = team_of(c);
    int paired = c->root < 2 * m.pairs, stands = paired ? c->root | 1 : c->root; /* the rank that takes part for the root */
    int first, n, to = paired ? stands / 2 : stands - m.pairs;
    char *tmp = scratch(c, c->count);
    int e = tmp == NULL ? MPI_ERR_NO_MEM : team_join(c, &m, tmp);
    if (e == MPI_SUCCESS && m.number >= 0)
        e = halve(c, &m, m.number ^ to, tmp, &first, &n);
    if (e == MPI_SUCCESS && m.number >= 0)
        e = unhalve(c, &m, m.number ^ to, 1);
    scratch_free(c, tmp);
    if (e != MPI_SUCCESS || stands == c->root)
        return e;
    if (c->rank == stands)
        return send_to(c, c->data, c->count, c->root);
    return c->rank == c->root ? receive_from(c, c->data, c->count, stands) : e;
}

/* The following algorithms reduce along trees, from the leaves to the root. The bcast algorithm of the same name
 * uses the same tree. */

static int groups_up(const call *c, int level, tree_form form)
{
    tree t = tree_of_groups(c, level, (tree_shape){form, BINOMIAL, BINOMIAL, 2});
    return tree_up(c, &t);
}

int reduce_two_level(const call *c) { return groups_up(c, c->layout->levels - 1, BINOMIAL); }

int reduce_two_level_pipeline(const call *c) { return groups_up(c, c->layout->levels - 1, CHAIN); }

int reduce_magpie(const call *c) { return groups_up(c, 0, FLAT); }

int reduce_multi_level(const call *c) { return groups_up(c, 0, BINOMIAL); }

int reduce_pipeline_depth_first(const call *c)
{
    call there = by_position(c);
    return reduce_pipeline(&there);
}

int reduce_rabenseifner_depth_first(const call *c)
{
    call there = by_position(c);
    return reduce_rabenseifner(&there);
}
