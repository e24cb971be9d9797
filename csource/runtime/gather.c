#include "repository.h"

/* The root receives a block from each rank in turn. */
void gather_linear(const call *c)
{
    if (c->rank != c->root) {
        send_to(c, c->data, c->count, c->root);
        return;
    }
    for (int r = 0; r < c->size; r++)
        if (r != c->root)
            receive_from(c, at(c, c->data, r * c->count), c->count, r);
}

/* Returns the number of ranks in the subtree of rank v in a binomial tree. */
static int subtree(const call *c, int v)
{
    int bit = 1;
    while (bit < c->size && !(v & bit))
        bit *= 2;
    return v + bit < c->size ? bit : c->size - v;
}

/* Blocks travel up a binomial tree, and the root sorts them by rank. Source: Thakur, Rabenseifner and Gropp (2005), 3. */
void gather_binomial(const call *c)
{
    int v = after(c, c->rank, -c->root), n = c->count;
    const char *own = c->rank == c->root ? at(c, c->data, c->root * n) : c->data;
    char *all = scratch(c, subtree(c, v) * n);
    copy(c, all, own, n);
    for (int bit = 1; bit < c->size && !(v & bit); bit *= 2)
        if (v + bit < c->size)
            receive_from(c, at(c, all, bit * n), subtree(c, v + bit) * n, after(c, c->rank, bit));
    if (v > 0) {
        send_to(c, all, subtree(c, v) * n, after(c, c->root, v & (v - 1)));
    } else {
        copy(c, at(c, c->data, c->root * n), all, (c->size - c->root) * n);
        copy(c, c->data, at(c, all, (c->size - c->root) * n), c->root * n);
    }
    scratch_free(c, all);
}

/* The root sends a block to each rank in turn. */
void scatter_linear(const call *c)
{
    if (c->rank != c->root) {
        receive_from(c, c->data, c->count, c->root);
        return;
    }
    for (int r = 0; r < c->size; r++)
        if (r != c->root)
            send_to(c, at(c, c->send, r * c->count), c->count, r);
    copy(c, c->data, at(c, c->send, c->root * c->count), c->count);
}

/* Blocks travel down a binomial tree. They are sorted by the distance between the rank that gets them and the
 * root. Source: Thakur, Rabenseifner and Gropp (2005), 3. */
void scatter_binomial(const call *c)
{
    int v = after(c, c->rank, -c->root), n = c->count, bit = 1;
    char *all = scratch(c, subtree(c, v) * n);
    while (bit < c->size && !(v & bit))
        bit *= 2;
    if (v > 0) {
        receive_from(c, all, subtree(c, v) * n, after(c, c->rank, -bit));
    } else {
        copy(c, all, at(c, c->send, c->root * n), (c->size - c->root) * n);
        copy(c, at(c, all, (c->size - c->root) * n), c->send, c->root * n);
    }
    for (bit /= 2; bit > 0; bit /= 2)
        if (v + bit < c->size)
            send_to(c, at(c, all, bit * n), subtree(c, v + bit) * n, after(c, c->rank, bit));
    copy(c, c->data, all, n);
    scratch_free(c, all);
}
