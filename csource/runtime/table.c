#include "comm.h"
#include "library.h"
#include "users.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This file reads tables. docs/reference/runtime-table.md has their grammar. If several rules apply to a call, the
 * first one counts. */


enum { MOST_WEIGHT = 1000000, MOST_CHOICES = 256, MOST_CHOICE = 250 }; /* limits of weights and of MOST, of choices in a line, and of the letters of a name */

typedef struct {
    collective what;
    uint64_t low[3], high[3]; /* of ranks, ppn and bytes, inclusive */
    unsigned order;           /* of the ranks; 0: any */
    pick pick;
} rule;

static rule *rules;
static int nrules;
static mix *mixes;
static int nmixes;
static char banner[128];

const char *table_banner(void) { return banner; }

static int refuse(char *why, int line, const char *want)
{
    snprintf(why, WHY, "line %d: want %.200s", line, want);
    return -1;
}

/* Moves *p past the given text. Returns 0 if *p points to another text. */
static int literal(const char **p, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(*p, text, n) != 0)
        return 0;
    *p += n;
    return 1;
}

static int number(const char **p, uint64_t most, uint64_t *value)
{
    const char *from = *p;
    *value = 0;
    while (**p >= '0' && **p <= '9' && *p - from < 19)
        *value = *value * 10 + (uint64_t)(*(*p)++ - '0');
    return *p > from && !(*from == '0' && *p - from > 1) && *value <= most;
}

/* Reads NAME LOW-HIGH; both numbers must be within limits. */
static int range(const char **p, const char *name, uint64_t least, uint64_t most, uint64_t *low, uint64_t *high)
{
    return literal(p, name) && number(p, most, low) && literal(p, "-") && number(p, most, high) && *low >= least && *low <= *high;
}

static int collective_of(const char **p, collective *what)
{
    size_t n = strcspn(*p, " ");
    if (!collective_named(*p, n, what) || (*p)[n] == 0)
        return 0;
    *p += n;
    return 1;
}

/* Reads (PARAMETER=NUMBER) or nothing up to the end of the line. */
static int parameter_of(const char *p, const char *parameter, int *to)
{
    uint64_t value = 0;
    if (parameter != NULL && literal(&p, "(") && !(literal(&p, parameter) && literal(&p, "=") && number(&p, INT_MAX, &value) && value > 0 && literal(&p, ")")))
        return 0;
    *to = (int)value;
    return *p == 0;
}

/* Reads user.NAME or user.NAME(PARAMETER=NUMBER) up to the end of the line. */
static int user_of(const char *p, collective what, pick *to)
{
    size_t n = 0;
    if (!literal(&p, "user."))
        return 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    for (const char *const *parameter = user_parameters; n > 0 && *parameter != NULL; parameter++)
        if (parameter_of(p + n, *parameter, &to->parameter)) {
            to->algorithm = users_find(what, p, n, to->parameter > 0 ? *parameter : NULL);
            return 1;
        }
    return 0;
}

/* Reads NAME or NAME(PARAMETER=NUMBER) up to the end of the line. */
static int algorithm_of(const char *p, collective what, pick *to)
{
    if (strcmp(p, "library_default") == 0)
        return 1;
    for (const algorithm *a = repository; a->name != NULL; a++) {
        const char *rest = p;
        if (a->what == what && literal(&rest, a->name) && parameter_of(rest, a->parameter, &to->parameter)) {
            to->algorithm = a;
            return 1;
        }
    }
    to->algorithm = library_find(what, p);
    return to->algorithm != NULL || user_of(p, what, to);
}

static void mix_free(mix *m)
{
    for (int i = 0; i < m->n; i++)
        free((char *)m->picks[i].text);
    free(m->picks);
    free(m->sums);
    free(m->most);
}

/* Frees all rules and mixes (see table.h). Allocates memory for a new table with at most `most` lines. */
static void empty(int most)
{
    for (rule *r = rules; r < rules + nrules; r++)
        free((char *)r->pick.text);
    free(rules);
    for (mix *m = mixes; m < mixes + nmixes; m++)
        mix_free(m);
    free(mixes);
    library_forget();
    banner[0] = 0;
    nrules = nmixes = 0;
    rules = allocate((size_t)most + 1, sizeof *rules);
    mixes = allocate((size_t)most + 1, sizeof *mixes);
}

static const char *copy_of(const char *name)
{
    char *text = allocate(strlen(name) + 1, 1);
    memcpy(text, name, strlen(name));
    return text;
}

static int keep_rule(rule r, const char *name)
{
    r.pick.text = copy_of(name);
    rules[nrules++] = r;
    return 0;
}

static int communicators(const char **p, uint64_t *low, uint64_t *high)
{
    return range(p, " ranks ", 1, INT_MAX, &low[0], &high[0]) && range(p, " ppn ", 1, INT_MAX, &low[1], &high[1]);
}

static int sizes(const char **p, uint64_t *low, uint64_t *high)
{
    return range(p, " bytes ", 0, MOST_BYTES, &low[2], &high[2]) && literal(p, " ");
}

/* Reads the order of ranks in a rule, which is optional. */
static int order_of(const char **p, unsigned *order)
{
    *order = 0;
    if (!literal(p, " order "))
        return 1;
    *order = literal(p, "block") ? ORDER_BLOCK : literal(p, "cyclic") ? ORDER_CYCLIC : 0;
    return *order != 0;
}

static int read_rule(const char *p, int line, char *why)
{
    rule r = {.order = 0, .pick = {NULL, 0, NULL}};
    if (!collective_of(&p, &r.what))
        return refuse(why, line, "a rule that begins with a collective, or end");
    if (!communicators(&p, r.low, r.high) || !order_of(&p, &r.order) || !sizes(&p, r.low, r.high))
        return refuse(why, line, "COLLECTIVE ranks LOW-HIGH ppn LOW-HIGH [order block|cyclic] bytes LOW-HIGH ALGORITHM");
    if (!algorithm_of(p, r.what, &r.pick))
        return refuse(why, line, "an algorithm of this library");
    return keep_rule(r, p);
}

/* Reads WEIGHT[/MOST] ALGORITHM. MOST is the algorithm's time limit in thousandths of the selected algorithm's
 * time. */
static int read_choice(const char **p, mix *m)
{
    char name[MOST_CHOICE + 1];
    uint64_t weight, most = 0;
    pick *to = &m->picks[m->n];
    if (!number(p, MOST_WEIGHT, &weight) || weight == 0)
        return 0;
    if (literal(p, "/") && (!number(p, MOST_WEIGHT, &most) || most == 0))
        return 0;
    if (!literal(p, " "))
        return 0;
    size_t n = strcspn(*p, " ");
    if (n > MOST_CHOICE)
        return 0;
    memcpy(name, *p, n);
    name[n] = 0;
    *p += n;
    if (!algorithm_of(name, m->what, to))
        return 0;
    to->text = copy_of(name);
    m->most[m->n] = (double)most / 1000;
    m->sums[m->n] = (double)weight + (m->n > 0 ? m->sums[m->n - 1] : 0);
    m->n++;
    return 1;
}

/* Reads the optional budget of a mix (see table.h), in thousandths of the selected algorithm's time. */
static int read_budget(const char **p, mix *m)
{
    uint64_t budget = 0;
    int ok = !literal(p, "budget ") || (number(p, MOST_WEIGHT, &budget) && budget > 0 && literal(p, " "));
    m->budget = (double)budget / 1000;
    return ok;
}

/* Reads a line with algorithms to explore. `p` points to the place after the word "explore". */
static int read_mix(const char *p, int line, char *why)
{
    mix *m = &mixes[nmixes++];
    memset(m, 0, sizeof *m);
    if (!collective_of(&p, &m->what) || !communicators(&p, m->low, m->high) || !sizes(&p, m->low, m->high) || !read_budget(&p, m))
        return refuse(why, line, "explore COLLECTIVE ranks LOW-HIGH ppn LOW-HIGH bytes LOW-HIGH [budget NUMBER]");
    if (collective_has(m->what, SIZES_DIFFER) && (m->low[2] > 0 || m->high[2] < MOST_BYTES))
        return refuse(why, line, "bytes 0-4611686018427387904, because ranks do not know each other's sizes");
    size_t most = 1; /* choices have two words each */
    for (const char *c = p; *c && most < MOST_CHOICES; c++)
        most += *c == ' ';
    m->picks = allocate(most, sizeof *m->picks);
    m->sums = allocate(most, sizeof *m->sums);
    m->most = allocate(most, sizeof *m->most);
    do
        if (m->n == MOST_CHOICES || !read_choice(&p, m))
            return refuse(why, line, "a weight, and what a call may take, of 1 to 1000000, and an algorithm of this library, up to 256 times");
    while (literal(&p, " "));
    for (int i = 0; i < m->n; i++) /* the last sum comes last, because it is the divisor */
        m->sums[i] /= m->sums[m->n - 1];
    return 0;
}

uint64_t checksum(const char *text, size_t n)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return h;
}

/* Returns where the last line begins. The last line holds the checksum of all lines before it. Returns NULL if the
 * checksum is missing or wrong. */
static char *last_line(char *text, size_t length)
{
    enum { END = 4 + 16 + 1 };
    char want[END + 1];
    if (length < END || memchr(text, 0, length) != NULL)
        return NULL;
    char *last = text + length - END;
    snprintf(want, sizeof want, "end %016llx\n", (unsigned long long)checksum(text, length - END));
    return memcmp(last, want, END) == 0 && (last == text || last[-1] == '\n') ? last : NULL;
}

/* Reads the banner, which is a part of the MPI library's version text, from a line "for BANNER". A table has at most
 * one such line. */
static int read_banner(const char *p, int line, char *why)
{
    size_t n = strlen(p);
    for (const char *c = p; *c; c++)
        if (*c < ' ' || *c > '~')
            return refuse(why, line, "printable ASCII");
    if (banner[0] != 0 || n == 0 || n >= sizeof banner || *p == ' ' || p[n - 1] == ' ')
        return refuse(why, line, "the version text of an MPI library, once, in at most 127 letters");
    memcpy(banner, p, n + 1);
    return 0;
}

static int read_statement(const char *p, int line, char *why)
{
    char want[WHY];
    if (*p == '#')
        return 0;
    if (literal(&p, "for "))
        return read_banner(p, line, why);
    if (literal(&p, "explore "))
        return read_mix(p, line, why);
    if (!literal(&p, "algorithm "))
        return read_rule(p, line, why);
    return library_read(p, want) ? refuse(why, line, want) : 0;
}

/* Parses a table and overwrites the text. All ranks get the same result. */
int table_read(char *text, size_t length, char *why)
{
    int line = 1, lines = 0;
    char *last = last_line(text, length), *p = text;
    if (last == NULL) {
        snprintf(why, WHY, "no table, one that is cut off, or one that was changed: its checksum is not right");
        return -1;
    }
    for (const char *c = text; c < last; c++)
        lines += *c == '\n';
    if (lines > MOST_LINES) {
        snprintf(why, WHY, "%d lines: want at most %d", lines, MOST_LINES);
        return -1;
    }
    empty(lines);
    for (; p < last; line++) {
        char *end = strchr(p, '\n');
        *end = 0;
        if (line == 1 && strcmp(p, "tutti-table 1") != 0)
            return refuse(why, line, "tutti-table 1");
        if (line > 1 && read_statement(p, line, why))
            return -1;
        p = end + 1;
    }
    return line > 1 ? 0 : refuse(why, line, "tutti-table 1");
}

const char *table_missing(void)
{
    for (const rule *r = rules; r < rules + nrules; r++)
        if (r->pick.algorithm == &user_missing)
            return r->pick.text;
    for (const mix *m = mixes; m < mixes + nmixes; m++)
        for (int i = 0; i < m->n; i++)
            if (m->picks[i].algorithm == &user_missing)
                return m->picks[i].text;
    return NULL;
}

int table_force(const char *what, const char *name, char *why)
{
    rule r = {.low = {1, 1, 0}, .high = {INT_MAX, INT_MAX, MOST_BYTES}};
    empty(1);
    if (what == NULL)
        return 0;
    if (collective_named(what, strlen(what), &r.what) && algorithm_of(name, r.what, &r.pick) && r.pick.algorithm != &user_missing)
        return keep_rule(r, name);
    snprintf(why, WHY, "%s %s: not an algorithm of libtutti", what, name);
    return -1;
}

const mix *table_mix(collective what, int ranks, int ppn, uint64_t bytes, uint64_t *low, uint64_t *high)
{
    uint64_t at[] = {(uint64_t)ranks, (uint64_t)ppn};
    for (const mix *m = mixes; m < mixes + nmixes; m++) {
        if (m->what != what || at[0] < m->low[0] || at[0] > m->high[0] || at[1] < m->low[1] || at[1] > m->high[1])
            continue;
        if (bytes >= m->low[2] && bytes <= m->high[2]) {
            *low = m->low[2] > *low ? m->low[2] : *low;
            *high = m->high[2] < *high ? m->high[2] : *high;
            return m;
        }
        if (m->high[2] < bytes && m->high[2] >= *low)
            *low = m->high[2] + 1;
        if (m->low[2] > bytes && m->low[2] <= *high)
            *high = m->low[2] - 1;
    }
    return NULL;
}

int table_mixes(void) { return nmixes; }

int table_place(const mix *m) { return (int)(m - mixes); }

static int applies(const rule *r, collective what, int ranks, int ppn, unsigned orders)
{
    uint64_t n = (uint64_t)ranks, k = (uint64_t)ppn;
    return r->what == what && (r->order == 0 || (r->order & orders)) && n >= r->low[0] && n <= r->high[0] && k >= r->low[1] && k <= r->high[1];
}

pick table_find(collective what, int ranks, int ppn, unsigned orders, uint64_t bytes)
{
    pick none = {NULL, 0, NULL};
    for (const rule *r = rules; r < rules + nrules; r++)
        if (applies(r, what, ranks, ppn, orders) && bytes >= r->low[2] && bytes <= r->high[2])
            return r->pick;
    return none;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Computes the sizes at which bands (ranges of sizes) may begin, in ascending order. The first is 0. */
static int begins(uint64_t *at, collective what, int ranks, int ppn, unsigned orders)
{
    int n = 0, kept = 1;
    at[n++] = 0;
    for (const rule *r = rules; r < rules + nrules; r++)
        if (applies(r, what, ranks, ppn, orders)) {
            at[n++] = r->low[2];
            at[n++] = r->high[2] + 1;
        }
    qsort(at, (size_t)n, sizeof *at, ascending);
    for (int i = 1; i < n; i++)
        if (at[i] != at[kept - 1])
            at[kept++] = at[i];
    return kept;
}

/* Returns the first index from i on that has no rule yet. For an index k without a rule, next[k] is k. Otherwise
 * next[k] is a later index, at which the search continues. */
static int place_from(int *next, int i)
{
    while (next[i] != i)
        i = next[i] = next[next[i]];
    return i;
}

/* Finds the first rule that applies to calls of each of the n ascending sizes in `at`, or NULL if there is none. */
static void first_rules(const rule **of, const uint64_t *at, int n, collective what, int ranks, int ppn, unsigned orders)
{
    int *next = allocate((size_t)n + 1, sizeof *next);
    for (int i = 0; i <= n; i++)
        next[i] = i;
    for (const rule *r = rules; r < rules + nrules; r++) {
        if (!applies(r, what, ranks, ppn, orders))
            continue;
        const uint64_t *low = bsearch(&r->low[2], at, (size_t)n, sizeof *at, ascending);
        for (int i = place_from(next, (int)(low - at)); i < n && at[i] <= r->high[2]; i = place_from(next, i)) {
            of[i] = r;
            next[i] = i + 1;
        }
    }
    free(next);
}

/* Computes where the search for the band (range of sizes) of a given size begins: for each number of bits, at the band
 * that contains the smallest size with that many bits. */
static void index_bands(struct row *r)
{
    int b = 0;
    for (int bits = 0; bits <= 64; bits++) {
        uint64_t least = bits == 0 ? 0 : (uint64_t)1 << (bits - 1);
        while (r->bands[b].up_to < least)
            b++;
        r->first[bits] = (uint16_t)b;
    }
}

/* Returns the table's row for a collective and a communicator with this number of ranks, ranks per node and order of
 * ranks. If an algorithm cannot serve communicators of this size, the row leaves its calls to the MPI library. */
struct row *table_row(collective what, int ranks, int ppn, unsigned orders)
{
    uint64_t *at = allocate((size_t)nrules * 2 + 1, sizeof *at);
    int n = begins(at, what, ranks, ppn, orders), used = 0, own = 0;
    struct row *r = allocate(1, sizeof *r + (size_t)n * sizeof *r->bands);
    const rule **of = allocate((size_t)n, sizeof *of);
    first_rules(of, at, n, what, ranks, ppn, orders);
    for (int i = 0; i < n; i++) {
        pick none = {NULL, 0, NULL}, p = of[i] == NULL ? none : of[i]->pick;
        if (p.algorithm != NULL && !repository_fits(p.algorithm, ranks))
            p.algorithm = NULL;
        own += p.algorithm != NULL;
        const band *before = &r->bands[used - (used > 0)];
        if (used == 0 || before->pick.algorithm != p.algorithm || before->pick.parameter != p.parameter)
            r->bands[used++].pick = p;
        r->bands[used - 1].up_to = i + 1 < n ? at[i + 1] - 1 : UINT64_MAX;
    }
    free(of);
    free(at);
    if (own == 0 || used > UINT16_MAX) {
        free(r);
        return NULL;
    }
    index_bands(r);
    return r;
}

int row_serves_all(const struct row *r)
{
    const band *b = r->bands;
    unsigned together = 0;
    for (; b->pick.algorithm != NULL && b->up_to < MOST_BYTES; b++)
        together |= b->pick.algorithm->needs & TOGETHER;
    if (b->pick.algorithm == NULL)
        return 0;
    return b == r->bands || !(together | (b->pick.algorithm->needs & TOGETHER));
}
