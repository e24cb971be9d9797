#include "tree.h"

/* Returns the root of the tree. If the operation does not commute, this is rank 0 instead of the call's root, so that
 * each subtree holds consecutive ranks. */
static int top(const call *c) { return c->commutative ? c->root : 0; }

/* Sends the result from the tree's root to the call's root, if these are different ranks. */
static void hand_on(const call *c)
{
    if (top(c) == c->root)
        return;
    if (c->rank == top(c))
        send_to(c, c->data, c->count, c->root);
    else if (c->rank == c->root)
        receive_from(c, c->data, c->count, top(c));
}

/* The root receives the vectors of all other ranks, from the last rank to the first, and combines each with its own. */
void reduce_linear(const call *c)
{
    if (c->rank != c->root) {
        send_to(c, c->data, c->count, c->root);
        return;
    }
    char *own = scratch(c, c->count), *tmp = scratch(c, c->count);
    copy(c, own, c->data, c->count);
    for (int r = c->size - 1; r >= 0; r--) {
        char *other = r == c->root ? own : tmp;
        if (r != c->root)
            receive_from(c, r == c->size - 1 ? c->data : tmp, c->count, r);
        if (r < c->size - 1)
            note(PMPI_Reduce_local(other, c->data, c->count, c->type, c->op));
    }
    scratch_free(c, own);
    scratch_free(c, tmp);
}

/* Vectors travel up a binomial tree. Source: Thakur, Rabenseifner and Gropp (2005), 3.5. */
void reduce_binomial(const call *c)
{
    int v = after(c, c->rank, -top(c)), bit = 1;
    char *tmp = scratch(c, c->count);
    for (; bit < c->size && !(v & bit); bit *= 2) {
        if (v + bit >= c->size)
            continue;
        receive_from(c, tmp, c->count, after(c, c->rank, bit));
        combine(c, c->data, tmp, c->count, 0);
    }
    if (v > 0)
        send_to(c, c->data, c->count, after(c, c->rank, -bit));
    scratch_free(c, tmp);
    hand_on(c);
}

/* Vectors travel along a chain of ranks, segment by segment. Source: Pjesivac-Grbovic et al. (2007), 3.3. */
void reduce_pipeline(const call *c)
{
    int v = after(c, c->rank, -top(c)), step = segment_of(c, c->count);
    char *tmp = scratch(c, step);
    MPI_Request out = MPI_REQUEST_NULL;
    for (int from = 0; from < c->count; from += step) {
        int n = c->count - from < step ? c->count - from : step;
        char *part = at(c, c->data, from);
        if (v < c->size - 1) {
            receive_from(c, tmp, n, after(c, c->rank, 1));
            combine(c, part, tmp, n, 0);
        }
        wait_all(&out, 1);
        if (v > 0)
            start_send(c, part, n, after(c, c->rank, -1), &out);
    }
    wait_all(&out, 1);
    scratch_free(c, tmp);
    hand_on(c);
}

/* Reduces by recursive halving, then gathers the parts of the result on the root. If the root is not a member of the
 * halving, another rank gathers the parts and sends the result to the root. Source: Rabenseifner (2004). */
void reduce_rabenseifner(const call *c)
{
    team m = team_of(c);
    int paired = c->root < 2 * m.pairs, stands = paired ? c->root | 1 : c->root; /* the rank that takes part for the root */
    int first, n, to = paired ? stands / 2 : stands - m.pairs;
    char *tmp = scratch(c, c->count);
    team_join(c, &m, tmp);
    if (m.number >= 0) {
        halve(c, &m, m.number ^ to, tmp, &first, &n);
        unhalve(c, &m, m.number ^ to, 1);
    }
    scratch_free(c, tmp);
    if (stands != c->root && c->rank == stands)
        send_to(c, c->data, c->count, c->root);
    else if (stands != c->root && c->rank == c->root)
        receive_from(c, c->data, c->count, stands);
}

/* The following algorithms reduce along trees, from the leaves to the root. The bcast algorithm of the same name
 * uses the same tree. */

static void groups_up(const call *c, int level, tree_form form)
{
    tree t = tree_of_groups(c, level, (tree_shape){form, BINOMIAL, BINOMIAL, 2});
    tree_up(c, &t);
}

void reduce_two_level(const call *c) { groups_up(c, c->layout->levels - 1, BINOMIAL); }

void reduce_two_level_pipeline(const call *c) { groups_up(c, c->layout->levels - 1, CHAIN); }

void reduce_magpie(const call *c) { groups_up(c, 0, FLAT); }

void reduce_multi_level(const call *c) { groups_up(c, 0, BINOMIAL); }

void reduce_pipeline_depth_first(const call *c)
{
    call there = by_position(c);
    reduce_pipeline(&there);
}

void reduce_rabenseifner_depth_first(const call *c)
{
    call there = by_position(c);
    reduce_rabenseifner(&there);
}
