/* Tables say which algorithm serves a call, by its collective, communicator and size. */
#ifndef TUTTI_TABLE_H
#define TUTTI_TABLE_H

#include "repository.h"

#pragma GCC visibility push(hidden)

#define MOST_BYTES ((uint64_t)1 << 62) /* of a message */

enum { WHY = 256 };               /* bytes of a reason, with the final 0 */
enum { MOST_TEXT = 4 << 20, MOST_LINES = 1 << 14 }; /* bytes and lines of a table */

/* A pick is an algorithm with the value of its parameter, as a line of the table selects it. */
typedef struct pick {
    const algorithm *algorithm; /* NULL: the MPI library's own choice */
    int parameter; /* 0: none */
    const char *text; /* its name in the table */
} pick;

/* A band is a range of sizes that one pick (an algorithm with its parameter) serves, for one collective and shape. */
typedef struct {
    uint64_t up_to; /* bytes, inclusive; the last band has no limit */
    pick pick;
} band;

struct row {
    uint16_t first[65]; /* by the number of bits of a size: the first band that may contain it */
    band bands[];
};

/* A mix is a line of the table that lists algorithms to explore. */
typedef struct mix {
    collective what;
    uint64_t low[3], high[3]; /* of ranks, ppn and bytes, inclusive */
    int n;
    pick *picks;
    double *sums; /* prefix sums of the weights, scaled so that the last is 1 */
    double budget; /* of each call, in times of the selected algorithm, in addition to the share of TUTTI_BUDGET */
    double *most; /* for each algorithm, the longest time of a call in times of the selected algorithm; 0: unknown */
} mix;

uint64_t checksum(const char *text, size_t n); /* FNV-1a */
int table_read(char *text, size_t length, char *why);             /* 0, or -1 with the reason */
const char *table_missing(void); /* the first algorithm of a user that no object has, or NULL */
const char *table_banner(void); /* of the MPI library that the table is for; empty: any */
/* Replaces all rules by a single rule for all calls of the collective `what`, or by none if `what` is NULL. Returns
 * 0, or -1 with the reason in `why`. */
int table_force(const char *what, const char *name, char *why);
pick table_find(collective what, int ranks, int ppn, unsigned orders, uint64_t bytes);
struct row *table_row(collective what, int ranks, int ppn, unsigned orders); /* NULL: no rule selects an algorithm */
/* Returns the mix (the line of algorithms to explore) for a call, or NULL. Sets *low and *high to the range of sizes
 * to which this mix applies. */
const mix *table_mix(collective what, int ranks, int ppn, uint64_t bytes, uint64_t *low, uint64_t *high);
int table_mixes(void); /* number of mixes */
int table_place(const mix *m); /* the number of a mix, from 0 */
int row_serves_all(const struct row *r);                          /* whether it selects an algorithm for every size; one that is TOGETHER must be the only one */

static inline const pick *row_pick(const struct row *r, uint64_t bytes)
{
    const band *b = &r->bands[r->first[bytes == 0 ? 0 : 64 - __builtin_clzll(bytes)]];
    while (bytes > b->up_to)
        b++;
    return &b->pick;
}

#pragma GCC visibility pop

#endif
