#include "repository.h"

/* The root receives a block from each rank in turn. */
int gather_linear(const call *c)
{
    int e = MPI_SUCCESS;
    if (c->rank != c->root)
        return send_to(c, c->data, c->count, c->root);
    for (int r = 0; e == MPI_SUCCESS && r < c->size; r++)
        if (r != c->root)
            e = receive_from(c, at(c, c->data, r * c->count), c->count, r);
    return e;
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
int gather_binomial(const call *c)
{
    int v = after(c, c->rank, -c->root), n = c->count, e;
    const char *own = c->rank == c->root ? at(c, c->data, c->root * n) : c->data;
    char *all = scratch(c, subtree(c, v) * n);
    if (all == NULL)
        return MPI_ERR_NO_MEM;
    e = copy(c, all, own, n);
    for (int bit = 1; e == MPI_SUCCESS && bit < c->size && !(v & bit); bit *= 2)
        if (v + bit < c->size)
            e = receive_from(c, at(c, all, bit * n), subtree(c, v + bit) * n, after(c, c->rank, bit));
    if (e == MPI_SUCCESS && v > 0) {
        e = send_to(c, all, subtree(c, v) * n, after(c, c->root, v & (v - 1)));
    } else if (e == MPI_SUCCESS) {
        e = copy(c, at(c, c->data, c->root * n), all, (c->size - c->root) * n);
        if (e == MPI_SUCCESS)
            e = copy(c, c->data, at(c, all, (c->size - c->root) * n), c->root * n);
    }
    scratch_free(c, all);
    return e;
}

/* The root sends a block to each rank in turn. */
int scatter_linear(const call *c)
{
    int e = MPI_SUCCESS;
    if (c->rank != c->root)
        return receive_from(c, c->data, c->count, c->root);
    for (int r = 0; e == MPI_SUCCESS && r < c->size; r++)
        if (r != c->root)
            e = send_to(c, at(c, c->send, r * c->count), c->count, r);
    return e != MPI_SUCCESS ? e : copy(c, c->data, at(c, c->send, c->root * c->count), c->count);
}

/* Blocks travel down a binomial tree. They are sorted by the distance between the rank that gets them and the
 * root. Source: Thakur, Rabenseifner and Gropp (2005), 3. */
int scatter_binomial(const call *c)
{
    int v = after(c, c->rank, -c->root), n = c->count, bit = 1, e;
    char *all = scratch(c, subtree(c, v) * n);
    if (all == NULL)
        return MPI_ERR_NO_MEM;
    while (bit < c->size && !(v & bit))
        bit *= 2;
    if (v > 0) {
        e = receive_from(c, all, subtree(c, v) * n, after(c, c->rank, -bit));
    } else {
        e = copy(c, all, at(c, c->send, c->root * n), (c->size - c->root) * n);
        if (e == MPI_SUCCESS)
            e = copy(c, at(c, all, (c->size - c->root) * n), c->send, c->root * n);
    }
    for (bit /= 2; e == MPI_SUCCESS && bit > 0; bit /= 2)
        if (v + bit < c->size)
            e = send_to(c, at(c, all, bit * n), subtree(c, v + bit) * n, after(c, c->rank, bit));
    if (e == MPI_SUCCESS)
        e = copy(c, c->data, all, n);
    scratch_free(c, all);
    return e;
}
