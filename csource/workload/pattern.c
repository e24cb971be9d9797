#include "workload.h"

#include <stdio.h>
#include <string.h>

#define UNTOUCHED 0xa5 /* a byte that holds no data */

/* A piece is a block and its expected content. In a collective that moves data, the block holds the data that rank
 * `from` sends to rank `to`; -1 means that all ranks get the same data. In a reduction the block holds elements of a
 * vector. */
typedef struct {
    char *at;
    const item *item;
    int items, from, to;
    size_t first; /* element of the vector */
} piece;

/* The vector that a reduction computes, which is periodic. Collectives that only move data do not use it. */
typedef struct {
    const float *table;
    int salt;
} pattern;

/* Returns the number of items that precede a block in the buffer. */
static size_t start(const workload *w, const item *of, int block)
{
    return w->what == REDUCE_SCATTER ? (size_t)w->displs[block] : (size_t)block * (size_t)of->count;
}

static int items(const workload *w, const item *of, int block) { return w->counts[block] == 0 ? 0 : of->count; }

static int inputs(const workload *w) { return workload_inputs(w->what, w->rank == w->form.root, w->size); }

static piece input(const workload *w, int i)
{
    int here = workload_in_place(w) && w->what != SCATTER, received = here || w->what == BCAST, block = 0;
    const item *of = received ? &w->received : &w->sent;
    piece p = {NULL, of, items(w, of, w->rank), w->rank, -1, 0};
    if (collective_has(w->what, BLOCKS_IN)) {
        block = i;
        p.items = items(w, of, i);
        p.to = collective_has(w->what, REDUCES) ? -1 : i;
    } else if (collective_has(w->what, BLOCKS_OUT))
        block = here ? w->rank : 0;
    p.first = start(w, of, block) * (size_t)of->elements;
    p.at = (received ? w->recv : w->send) + start(w, of, block) * item_bytes(of, w->what);
    return p;
}

/* Returns the number of blocks that this rank receives. The root of a scatter in place keeps its own. */
static int outputs(const workload *w)
{
    if ((w->what == EXSCAN && w->rank == 0) || (w->what == SCATTER && workload_in_place(w)))
        return 0;
    return workload_outputs(w->what, w->rank == w->form.root, w->size);
}

static piece output(const workload *w, int i)
{
    piece p = {w->recv, &w->received, items(w, &w->received, w->rank), w->form.root, -1, 0};
    if (collective_has(w->what, BLOCKS_OUT)) {
        p.from = i;
        p.items = items(w, p.item, i);
        p.at += start(w, p.item, i) * item_bytes(p.item, w->what);
    }
    if (collective_has(w->what, BLOCKS_IN) && collective_has(w->what, REDUCES))
        p.first = start(w, p.item, w->rank) * (size_t)p.item->elements;
    else if (collective_has(w->what, BLOCKS_IN))
        p.to = w->rank;
    return p;
}

static unsigned char byte_of(int from, int to, size_t i, int salt)
{
    return (unsigned char)((size_t)from * 31 + (size_t)(to + 1) * 101 + i + (i >> 8) * 17 + (size_t)salt);
}

static void put(const workload *w, piece p, pattern of)
{
    const size_t size = element_bytes(w->what);
    size_t i = 0;
    for (int k = 0; k < p.items; k++) {
        p.at += (size_t)p.item->before * size;
        for (int h = 0; h < p.item->elements; h++, i++, p.at += size)
            if (of.table != NULL)
                *(float *)(void *)p.at = of.table[(p.first + i) % PERIOD];
            else
                *p.at = (char)byte_of(p.from, p.to, i, of.salt);
        p.at += (size_t)p.item->after * size;
    }
}

static int gap_differs(const workload *w, const char *at, int elements, char *why)
{
    for (size_t i = 0; i < (size_t)elements * element_bytes(w->what); i++)
        if ((unsigned char)at[i] != UNTOUCHED) {
            snprintf(why, WHY, "wrong data: rank %d, a gap of the type was written to", w->rank);
            return 1;
        }
    return 0;
}

static int element_differs(const workload *w, const piece *p, size_t i, pattern of, char *why)
{
    if (of.table != NULL) {
        float got = *(const float *)(const void *)p->at, want = of.table[(p->first + i) % PERIOD];
        if (got == want)
            return 0;
        snprintf(why, WHY, "wrong data: rank %d, element %zu is %g, want %g", w->rank, i, (double)got, (double)want);
        return 1;
    }
    unsigned char got = (unsigned char)*p->at, want = byte_of(p->from, p->to, i, of.salt);
    if (got == want)
        return 0;
    snprintf(why, WHY, "wrong data: rank %d, byte %zu from rank %d is %d, want %d", w->rank, i, p->from, got, want);
    return 1;
}

static int differs(const workload *w, piece p, pattern of, char *why)
{
    const size_t size = element_bytes(w->what);
    size_t i = 0;
    for (int k = 0; k < p.items; k++) {
        if (gap_differs(w, p.at, p.item->before, why))
            return 1;
        p.at += (size_t)p.item->before * size;
        for (int h = 0; h < p.item->elements; h++, i++, p.at += size)
            if (element_differs(w, &p, i, of, why))
                return 1;
        if (gap_differs(w, p.at, p.item->after, why))
            return 1;
        p.at += (size_t)p.item->after * size;
    }
    return 0;
}

void workload_fill(workload *w, int salt)
{
    float table[PERIOD];
    pattern of = {collective_has(w->what, REDUCES) ? table : NULL, salt};
    operation_input(w->form.op, w->rank, salt, table);
    memset(w->send, UNTOUCHED, w->send_bytes + 1);
    memset(w->recv, UNTOUCHED, w->recv_bytes + 1);
    for (int i = 0; i < inputs(w); i++)
        put(w, input(w, i), of);
}

/* Returns whether the call left the send buffer unchanged. */
static int kept(const workload *w, pattern of, char *why)
{
    if (w->args.from == MPI_IN_PLACE || w->what == BCAST)
        return 1;
    for (int i = 0; i < inputs(w); i++)
        if (differs(w, input(w, i), of, why)) {
            snprintf(why, WHY, "wrong data: rank %d, the send buffer was written to", w->rank);
            return 0;
        }
    return 1;
}

int workload_right(const workload *w, int salt, char *why)
{
    float table[PERIOD];
    pattern of = {collective_has(w->what, REDUCES) ? table : NULL, salt};
    operation_input(w->form.op, w->rank, salt, table);
    if (!kept(w, of, why))
        return 0;
    operation_result(w->form.op, w->what == SCAN ? w->rank + 1 : w->what == EXSCAN ? w->rank : w->size, salt, table);
    for (int i = 0; i < outputs(w); i++)
        if (differs(w, output(w, i), of, why))
            return 0;
    if ((unsigned char)w->recv[w->recv_bytes] == UNTOUCHED)
        return 1;
    snprintf(why, WHY, "wrong data: rank %d, the end of the buffer was passed", w->rank);
    return 0;
}
