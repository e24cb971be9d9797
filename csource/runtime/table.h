/* Tables: which algorithm serves which calls. */
#ifndef TUTTI_TABLE_H
#define TUTTI_TABLE_H

#include "repository.h"

#pragma GCC visibility push(hidden)

enum { WHY = 256 };               /* bytes of a reason, its end included */
enum { MOST_TEXT = 16 << 20 };    /* bytes of a table */

/* An algorithm with its parameter. */
typedef struct pick {
    const algorithm *algorithm; /* NULL: the library's own */
    int parameter; /* 0: none */
    const char *text; /* as it stands in the table, which keeps it */
} pick;

/* All that is selected for one collective on communicators of one shape. */
typedef struct {
    uint64_t up_to; /* bytes, included; the last band goes up to all */
    pick pick;
} band;

struct row {
    uint16_t first[65]; /* of each number of bits of a size: the first band that may hold it */
    band bands[];
};

/* What is drawn where calls are explored. */
typedef struct mix {
    collective what;
    uint64_t low[3], high[3]; /* ranks, ppn, bytes; both included */
    int n;
    pick *picks;
    double *sums; /* of the weights up to each, as shares of all; the last is 1 */
    double budget; /* of each call, in times of the selected algorithm, besides the share of TUTTI_BUDGET */
    double *most; /* how many times what is selected a call of each may take; 0: not said */
} mix;

int table_read(char *text, size_t length, char *why);             /* 0, or -1 with the reason */
const char *table_banner(void); /* of the MPI library that the table is for; empty: any */
int table_force(const char *what, const char *name, char *why); /* one rule for all calls of a collective; without a collective none */
pick table_find(collective what, int ranks, int ppn, unsigned orders, uint64_t bytes);
struct row *table_row(collective what, int ranks, int ppn, unsigned orders); /* NULL: the library's for all sizes */
/* The mix of a call, NULL where there is none, and within *low to *high the sizes around
 * that have the same. */
const mix *table_mix(collective what, int ranks, int ppn, uint64_t bytes, uint64_t *low, uint64_t *high);
int table_mixes(void); /* how many there are */
int table_place(const mix *m); /* which of them it is, from 0 */
int row_serves_all(const struct row *r);                          /* whether no size is left to the library */

static inline const pick *row_pick(const struct row *r, uint64_t bytes)
{
    const band *b = &r->bands[r->first[bytes == 0 ? 0 : 64 - __builtin_clzll(bytes)]];
    while (bytes > b->up_to)
        b++;
    return &b->pick;
}

#pragma GCC visibility pop

#endif
