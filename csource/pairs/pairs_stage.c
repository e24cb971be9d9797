#include "pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMALL, LARGE, SIZES };
static const int times[SIZES] = {10, 4}; /* ping-pongs of a pair in one pass; the first one is a warm-up */

#define MOST_TIMES 10
#define PATIENCE 60    /* seconds after which a round hangs */
#define LATER 2        /* seconds that other ranks wait longer than rank 0 */
#define REPORT 1.0     /* seconds between two reports */
#define LEAST_PASSES 4 /* fewest passes for a variation: two even and two odd ones */
#define NORMAL 1.4826  /* standard deviation of a normal distribution whose absolute value has the median 1 */

/* The shortest and the median time of one pair in one round, for each message size. */
typedef struct {
    int round, a, b; /* ranks of the group, a < b */
    double min[SIZES], median[SIZES];
} record;

/* The state of the stage (a sequence of rounds that measure pairs) that is running. */
typedef struct {
    const session *s;
    const stage *g;
    const int *cores;
    int *ranks; /* of the world, by rank of the group; only on rank 0 */
    record *kept;
    int nkept;
    int pass;
    double began, reported;
    double spread; /* of the finished passes; -1: unknown */
    float (*sum)[2][SIZES]; /* logarithms of medians, by round and rank, of even and odd passes; only on rank 0 */
    char *buffer;
    int bytes[SIZES];
} work;

static void ping(const control *c, int other, char *buffer, int bytes, double *took, int n)
{
    for (int i = -1; i < n; i++) {
        double from = seconds();
        if (c->rank < other) {
            control_give(c, buffer, bytes, other, TAG_PAIR);
            control_take(c, buffer, bytes, other, TAG_PAIR);
        } else {
            control_take(c, buffer, bytes, other, TAG_PAIR);
            control_give(c, buffer, bytes, other, TAG_PAIR);
        }
        if (i >= 0)
            took[i] = seconds() - from;
    }
}

/* Measures the pair to which this rank belongs in a round. The lower rank of the pair records the times. */
static void meet(work *w, int round)
{
    const control *c = &w->g->group;
    int other = w->g->partner[round];
    double took[MOST_TIMES], scratch[MOST_TIMES];
    if (other < 0)
        return;
    record r = {round, c->rank, other, {0, 0}, {0, 0}};
    for (int i = 0; i < SIZES; i++) {
        summary sum;
        ping(c, other, w->buffer, w->bytes[i], took, times[i]);
        summarise(took, times[i], scratch, &sum);
        r.min[i] = sum.min;
        r.median[i] = sum.median;
    }
    if (c->rank < other)
        w->kept[w->nkept++] = r;
}

static void tell(work *w, const record *r)
{
    line l;
    line_begin(&l, "pair");
    line_string(&l, "stage", w->g->name);
    line_integer(&l, "pass", w->pass);
    line_integer(&l, "round", r->round);
    pairs_place(&l, w->s, w->cores, 'a', w->ranks[r->a]);
    pairs_place(&l, w->s, w->cores, 'b', w->ranks[r->b]);
    line_number(&l, "small", r->min[SMALL]);
    line_number(&l, "small_median", r->median[SMALL]);
    line_number(&l, "large", r->min[LARGE]);
    line_number(&l, "large_median", r->median[LARGE]);
    line_end(&l);
    for (int i = 0; i < SIZES; i++)
        w->sum[r->round * w->g->group.size + r->a][w->pass % 2][i] += (float)log(r->median[i]);
}

/* Rank 0 prints the times that all ranks have recorded. */
static void report(work *w)
{
    const control *c = &w->g->group;
    if (c->rank != 0) {
        control_give(c, &w->nkept, (int)sizeof w->nkept, 0, TAG_REPORT);
        if (w->nkept > 0)
            control_give(c, w->kept, w->nkept * (int)sizeof *w->kept, 0, TAG_REPORT);
        w->nkept = 0;
        return;
    }
    for (int i = 0; i < w->nkept; i++)
        tell(w, &w->kept[i]);
    for (int from = 1; from < c->size; from++) {
        int n = 0;
        control_take(c, &n, (int)sizeof n, from, TAG_REPORT);
        if (n > 0)
            control_take(c, w->kept, n * (int)sizeof *w->kept, from, TAG_REPORT);
        for (int i = 0; i < n; i++)
            tell(w, &w->kept[i]);
    }
    w->nkept = 0;
    w->reported = seconds();
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Estimates the relative standard error of the pairs' mean times. It is half the standard deviation of the difference
 * between a pair's means over even and over odd passes. The median difference over all pairs gives this deviation.
 * Returns the larger error of the two message sizes, or -1 after too few passes. */
static double spread(const work *w)
{
    int n = w->g->rounds * w->g->group.size, passes = w->pass + 1, odd = passes / 2;
    double worst = -1;
    if (passes < LEAST_PASSES)
        return -1;
    double *apart = pairs_memory((size_t)n + 1, sizeof *apart);
    for (int i = 0; i < SIZES; i++) {
        int pairs = 0;
        for (int k = 0; k < n; k++)
            if (w->sum[k][0][i] != 0)
                apart[pairs++] = fabs(w->sum[k][0][i] / (passes - odd) - w->sum[k][1][i] / odd);
        qsort(apart, (size_t)pairs, sizeof *apart, ascending);
        if (pairs > 0)
            worst = fmax(worst, NORMAL / 2 * apart[pairs / 2]);
    }
    free(apart);
    return worst;
}

static void conclude(const work *w, int passes)
{
    line l;
    line_begin(&l, "stage");
    line_string(&l, "stage", w->g->name);
    line_integer(&l, "passes", passes);
    line_number(&l, "spread", w->spread);
    line_number(&l, "took", seconds() - w->began);
    line_end(&l);
}

/* After each round, rank 0 decides whether all ranks continue, report or stop. Returns whether the stage has
 * ended. */
static int decide(work *w, const pairs_plan *p, int round)
{
    const control *c = &w->g->group;
    int last = round == w->g->rounds - 1, over = 0, speak = 0, stop = 0;
    if (c->rank == 0) {
        over = seconds() - w->began > p->seconds;
        speak = last || over || seconds() - w->reported > REPORT;
    }
    control_bcast(c, &speak, (int)sizeof speak);
    if (!speak)
        return 0;
    report(w);
    if (c->rank == 0) {
        if (last)
            w->spread = spread(w);
        stop = over || (last && (w->pass + 1 >= p->passes || (w->spread >= 0 && w->spread <= p->precision)));
        if (stop)
            conclude(w, w->pass + last);
    }
    control_bcast(c, &stop, (int)sizeof stop);
    return stop;
}

void stage_run(const session *s, const pairs_plan *p, const stage *g, const int *cores)
{
    const control *c = &g->group;
    work w = {s, g, cores, NULL, NULL, 0, 0, seconds(), seconds(), -1, NULL, NULL, {0, p->bytes}};
    int world_rank = s->ctl.rank;
    w.kept = pairs_memory((size_t)g->rounds + 1, sizeof *w.kept);
    w.buffer = pairs_memory((size_t)p->bytes + 1, 1);
    if (c->rank == 0) {
        w.ranks = pairs_memory((size_t)c->size, sizeof *w.ranks);
        w.sum = pairs_memory((size_t)g->rounds * (size_t)c->size + 1, sizeof *w.sum);
    }
    MPI_Gather(&world_rank, 1, MPI_INT, w.ranks, 1, MPI_INT, 0, c->comm);
    for (int over = g->rounds == 0; !over; w.pass++)
        for (int round = 0; round < g->rounds && !over; round++) {
            alarm(PATIENCE + (unsigned)(s->ctl.rank == 0 ? 0 : LATER));
            meet(&w, round);
            over = decide(&w, p, round);
        }
    alarm(0);
    free(w.kept);
    free(w.buffer);
    free(w.ranks);
    free(w.sum);
}
