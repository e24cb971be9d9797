#include "repository.h"

#include <stdlib.h>

/* The block that a rank sends to this rank: its place and its number of elements. */
static char *place(const call *c, int from) { return at(c, c->data, c->counts == NULL ? from * c->count : c->starts[from]); }
static int elements(const call *c, int from) { return c->counts == NULL ? c->count : c->counts[from]; }

void exchange_all(const call *c, const char *out, int step, int spread)
{
    int n = 0;
    MPI_Request *all = requests_of(2 * c->size);
    for (int k = 0; k < c->size; k++) {
        int from = spread ? after(c, c->rank, -k) : k;
        if (from != c->rank)
            start_receive(c, place(c, from), elements(c, from), from, &all[n++]);
    }
    for (int k = 0; k < c->size; k++) {
        int to = spread ? after(c, c->rank, k) : k;
        if (to != c->rank)
            start_send(c, at(c, out, to * step), elements(c, c->rank), to, &all[n++]);
    }
    for (int k = 0, i = 0; k < c->size; k++) {
        int from = spread ? after(c, c->rank, -k) : k;
        if (from != c->rank)
            wait_receives(c, &all[i++], 1, elements(c, from));
    }
    wait_all(all + c->size - 1, c->size - 1);
    free(all);
}

/* Returns whether a barrier precedes round k of an exchange. Barriers are spread evenly over the rounds. */
static int barrier_before(const call *c, int k)
{
    long rounds = c->size - 1, barriers = c->parameter > 0 ? at_most(c->parameter, c->size - 2) : c->size - 2;
    return (k - 1) * (barriers + 1) / rounds != (k - 2) * (barriers + 1) / rounds;
}

void exchange_in_rounds(const call *c, const char *out, int step, enum partner by, enum separation s)
{
    for (int k = 1; k < c->size; k++) {
        int to = by == BY_XOR ? c->rank ^ k : after(c, c->rank, k), from = by == BY_XOR ? to : after(c, c->rank, -k);
        if (s == BY_MESSAGES && k > 1)
            send_receive(c, NULL, 0, from, NULL, 0, to);
        else if (s == BY_BARRIERS && k > 1 && barrier_before(c, k))
            barrier_bruck(c);
        send_receive(c, at(c, out, to * step), elements(c, c->rank), to, place(c, from), elements(c, from), from);
    }
}

static int power_at_most(int d, int n, int limit)
{
    long power = 1;
    while (n-- > 0 && power <= limit)
        power *= d;
    return power <= limit;
}

mesh mesh_of(int size, int dimensions)
{
    mesh m = {dimensions, {0}};
    for (int i = 0; i < dimensions; i++) {
        int length = i == dimensions - 1 ? size : 1;
        for (int d = 2; power_at_most(d, dimensions - i, size); d++)
            length = size % d == 0 ? d : length;
        m.length[i] = length;
        size /= length;
    }
    return m;
}

call line_of(const call *c, int stride, int length, int count, int *ranks)
{
    call line = *c;
    line.map = ranks;
    line.size = length;
    line.rank = c->rank / stride % length;
    line.count = count;
    for (int i = 0; i < length; i++)
        ranks[i] = c->rank + (i - line.rank) * stride;
    return line;
}
