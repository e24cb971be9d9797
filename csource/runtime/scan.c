#include "repository.h"

/* Partial results travel along a chain of ranks. */
void scan_linear(const call *c)
{
    char *tmp = scratch(c, c->count);
    if (c->rank > 0) {
        receive_from(c, tmp, c->count, c->rank - 1);
        combine(c, c->data, tmp, c->count, 1);
    }
    if (c->rank < c->size - 1)
        send_to(c, c->data, c->count, c->rank + 1);
    scratch_free(c, tmp);
}

/* Partial results travel along a chain of ranks, as in scan_linear. A rank's result is the vector that it
 * receives. */
void exscan_linear(const call *c)
{
    char *before = scratch(c, c->count), *sum = scratch(c, c->count);
    if (c->rank > 0) {
        receive_from(c, before, c->count, c->rank - 1);
        copy(c, sum, before, c->count);
    }
    if (c->rank > 0 && c->rank < c->size - 1)
        combine(c, c->data, sum, c->count, 1);
    if (c->rank < c->size - 1)
        send_to(c, c->data, c->count, c->rank + 1);
    if (c->rank > 0)
        copy(c, c->data, before, c->count);
    scratch_free(c, before);
    scratch_free(c, sum);
}

/* Recursive doubling: a block of ranks exchanges the combined vectors of all its members with the neighboring block.
 * The parameter `before` receives the combined vectors of all lower ranks. Source: Hillis and Steele, Data parallel
 * algorithms (1986). */
static void doubling(const call *c, char *all, char *before, int *received)
{
    char *tmp = scratch(c, c->count), *other = scratch(c, c->count);
    copy(c, all, c->data, c->count);
    *received = 0;
    for (int d = 1; d < c->size; d *= 2) {
        int peer = c->rank ^ d;
        if (peer >= c->size)
            continue;
        send_receive(c, all, c->count, peer, tmp, c->count, peer);
        if (peer < c->rank)
            copy(c, other, tmp, c->count);
        if (peer < c->rank && *received)
            combine(c, before, other, c->count, 1);
        else if (peer < c->rank)
            copy(c, before, other, c->count);
        *received |= peer < c->rank;
        combine(c, all, tmp, c->count, peer < c->rank);
    }
    scratch_free(c, tmp);
    scratch_free(c, other);
}

static void with_doubling(const call *c, int own)
{
    int received = 0;
    char *all = scratch(c, c->count), *before = scratch(c, c->count);
    doubling(c, all, before, &received);
    if (received && own)
        combine(c, c->data, before, c->count, 1);
    else if (received)
        copy(c, c->data, before, c->count);
    scratch_free(c, all);
    scratch_free(c, before);
}

void scan_recursive_doubling(const call *c) { with_doubling(c, 1); }

void exscan_recursive_doubling(const call *c) { with_doubling(c, 0); }
