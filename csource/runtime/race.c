#include "explore.h"
#include "race.h"
#include "tutti.h"

#include <stdlib.h>
#include <string.h>

/* The rules are those of STAR-MPI: each algorithm is tried a few times, the mean of the faster half of its times counts, and
 * the best is kept until times change (Faraj, Yuan and Lowenthal, STAR-MPI: Self Tuned Adaptive Routines for MPI Collective
 * Operations, ICS 2006). In rounds, after each of which the slow ones are dropped, it does not try all equally often, and the
 * last ones are timed in turns, so that what drifts drifts for all. */

enum { TRIES = 4, FINAL = 16, SURE = 3, REFUSALS = 2, ROUNDS = 3, FINALISTS = 3, TOGETHER = 4 };

static const struct {
    int tries;
    double drop; /* those that take so many times the best */
} rounds[ROUNDS] = {{1, 2}, {3, 1.25}, {FINAL, 1}};

static const double promising = 0.9; /* of the base: a first time that is worth others at once */
static const double better = 0.98;   /* of the base: what takes its place */
static const double slower = 1.25, faster = 0.5; /* times what the best took: beyond these all begins anew */
static const double careful = 2;     /* a call must be paid for when it takes so many times what is expected */
static const double unusual = 8;     /* times the base: a first call may take longer, since it makes communicators and plans */
static const double cheap = 0.25;    /* of the base: what times may be brought together for at once; else TOGETHER of them are */

typedef struct {
    double times[FINAL]; /* of this round */
    int n, asked;        /* how many are known, and were to be */
    int refused, out;    /* out: of this race */
    int begun;           /* its first call was asked for, 2: and is known; it is not kept */
    double first;        /* ... how long it took; later what it took before all began anew */
    double known;        /* by SURE times at least; 0: not */
    double most;         /* times the base: what it may take, before it is timed; 0: not known */
    double price;        /* that the account holds for it */
} runner;

typedef enum { BASE, ROUND, SETTLED, DOUBT } phase;

struct race {
    int n; /* runner n is the base */
    phase phase, before; /* before: a doubt */
    int round, pending, best, age;
    double base; /* seconds; 0: not known */
    double spend;
    int *order; /* of the first n */
    runner runners[];
};

/* By the weights of those that are left: additions, multiplications and comparisons alone. */
static void draw_order(race *r, const double *sums, uint64_t seed)
{
    double *weights = need((size_t)r->n + 1, sizeof *weights), all = 1;
    for (int i = 0; i < r->n; i++)
        weights[i] = sums[i] - (i > 0 ? sums[i - 1] : 0);
    for (int at = 0; at < r->n; at++) {
        uint64_t numbers[] = {seed, (uint64_t)at};
        double left = uniform(numbers, 2) * all;
        int drawn = -1;
        for (int i = 0; i < r->n && (left >= 0 || drawn < 0); i++)
            if (weights[i] >= 0) {
                left -= weights[i];
                drawn = i;
            }
        all -= weights[drawn];
        weights[drawn] = -1; /* it has its place */
        r->order[at] = drawn;
    }
    free(weights);
}

race *race_new(int n, const double *sums, double spend, uint64_t seed)
{
    race *r = need(1, sizeof *r + (size_t)(n + 1) * sizeof *r->runners);
    r->order = need((size_t)n + 1, sizeof *r->order);
    r->n = r->best = n;
    r->spend = spend;
    r->runners[n].begun = 2;
    draw_order(r, sums, seed);
    return r;
}

void race_may_take(race *r, int candidate, double most) { r->runners[candidate].most = most; }

void race_free(race *r)
{
    if (r != NULL)
        free(r->order);
    free(r);
}

void race_leave_out(race *r, int candidate)
{
    r->runners[candidate].refused = REFUSALS;
    r->runners[candidate].out = 1;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The mean of the faster half. */
static double score(const runner *u)
{
    double sorted[FINAL], sum = 0;
    int half = (u->n + 1) / 2;
    memcpy(sorted, u->times, sizeof sorted);
    qsort(sorted, (size_t)u->n, sizeof *sorted, ascending);
    for (int i = 0; i < half; i++)
        sum += sorted[i];
    return sum / half;
}

static double expected(const race *r, const runner *u)
{
    if (u->n > 0)
        return score(u);
    if (u->known > 0)
        return u->known;
    if (u->begun < 2)
        return r->base;
    return u->first < unusual * r->base ? u->first : unusual * r->base;
}

/* What a call may take. Before there are times earlier runs tell it; where they know much they tell more than a first call, which
 * makes plans. */
static double careful_time(const race *r, const runner *u)
{
    if (u == &r->runners[r->n])
        return expected(r, u);
    int told = u->n == 0 && u->known <= 0 && u->most > 0 && (u->begun < 2 || u->most < careful);
    return told ? u->most * r->base : careful * expected(r, u);
}

/* Beyond what the base would cost, which is not held back for itself. */
static double price(const race *r, const account *a, const runner *u)
{
    double beyond = careful_time(r, u) + a->exchange - r->base;
    return beyond > 0 ? beyond : 0;
}

static int holds(const race *r, const account *a, const runner *u)
{
    double p = price(r, a, u);
    return p <= 0 || a->balance - a->held >= p;
}

static void pay(const race *r, account *a, runner *u)
{
    u->price = price(r, a, u);
    a->held += u->price;
}

int race_pays(race *r, account *a, int candidate)
{
    runner *u = &r->runners[candidate];
    if (!holds(r, a, u))
        return 0;
    pay(r, a, u);
    return 1;
}

/* How often one is to be timed in this round. */
static int wanted(const race *r, const runner *u)
{
    int tries = rounds[r->round].tries;
    return tries < SURE && u->n > 0 && score(u) < promising * r->base ? SURE : tries;
}

static int wants(const race *r, const runner *u)
{
    if (u->out || u->begun == 1)
        return 0;
    return u->begun == 0 || u->asked < wanted(r, u);
}

/* Of those that the account pays for, one that has begun, lest first calls take all there is: the one that was asked for least, then the
 * cheapest; else the first in the order. *more: whether there are others to ask for. */
static int round_next(race *r, account *a, int *more)
{
    int best = RACE_BEST, least = 0;
    double cheapest = 0;
    for (int i = 0; i <= r->n; i++) {
        int k = i < r->n ? r->order[i] : r->n;
        runner *u = &r->runners[k];
        if (!wants(r, u))
            continue;
        *more = 1;
        if (!holds(r, a, u) || (u->begun == 0 && r->pending >= TOGETHER))
            continue;
        int asked = u->begun == 0 ? TRIES : u->asked;
        double t = expected(r, u);
        if (best == RACE_BEST || asked < least || (asked == least && t < cheapest)) {
            best = k;
            least = asked;
            cheapest = t;
        }
    }
    if (best != RACE_BEST)
        pay(r, a, &r->runners[best]);
    return best;
}

static void judge(race *r);

/* When those alone are left to be tried whose first calls took that much longer than the base, and the account does not pay
 * for another one, they are not waited for. */
static void give_up(race *r)
{
    for (int i = 0; i <= r->n; i++) {
        const runner *u = &r->runners[i];
        if (wants(r, u) && (u->begun == 0 || u->n > 0 || u->first <= unusual * r->base))
            return;
    }
    for (int i = 0; i <= r->n; i++)
        r->runners[i].out |= wants(r, &r->runners[i]);
    judge(r);
}

static int ask(race *r, int candidate)
{
    runner *u = &r->runners[candidate];
    if (u->begun == 0)
        u->begun = 1;
    else
        u->asked++;
    r->pending++;
    return candidate;
}

/* A call of the best spares something. */
static int best_next(const race *r, account *a)
{
    if (r->best != r->n && r->runners[r->best].known > 0)
        a->balance += r->base - r->runners[r->best].known;
    return RACE_BEST;
}

int race_next(race *r, account *a)
{
    if (r->phase == SETTLED)
        return best_next(r, a);
    int more = 0, next = r->phase == ROUND ? round_next(r, a, &more) : r->phase == BASE ? r->n : r->best;
    if (next != RACE_BEST && (r->phase == ROUND || r->runners[next].asked < TRIES))
        return ask(r, next);
    if (more && r->pending == 0 && r->round == 0)
        give_up(r);
    int late = more && r->pending < TOGETHER && a->exchange > cheap * r->base;
    return r->pending > 0 && !late ? RACE_WAIT : best_next(r, a);
}

static void clear(runner *u) { u->n = u->asked = 0; }

/* All is to be learnt anew. Until then the base serves. */
static void restart(race *r)
{
    for (int i = 0; i <= r->n; i++) {
        runner *u = &r->runners[i];
        clear(u);
        if (u->known > 0)
            u->first = u->known;
        u->known = 0;
        u->out = u->refused >= REFUSALS;
    }
    r->phase = BASE;
    r->best = r->n;
    r->round = 0;
    r->age++;
}

/* The best of those whose times are sure, of earlier rounds, too. Another than the base must be enough faster. */
static void choose_best(race *r, double enough)
{
    double least = enough * r->base;
    r->best = r->n;
    for (int i = 0; i < r->n; i++)
        if (r->runners[i].refused < REFUSALS && r->runners[i].known > 0 && r->runners[i].known < least) {
            least = r->runners[i].known;
            r->best = i;
        }
}

static void settle(race *r)
{
    choose_best(r, better);
    r->phase = SETTLED;
    for (int i = 0; i <= r->n; i++)
        clear(&r->runners[i]);
}

static double least_score(const race *r)
{
    double least = -1;
    for (int i = 0; i <= r->n; i++)
        if (!r->runners[i].out && r->runners[i].n > 0 && (least < 0 || score(&r->runners[i]) < least))
            least = score(&r->runners[i]);
    return least;
}

/* How many others are faster. */
static int behind(const race *r, int candidate)
{
    int n = 0;
    double t = score(&r->runners[candidate]);
    for (int i = 0; i <= r->n; i++)
        if (!r->runners[i].out && r->runners[i].n > 0 && (score(&r->runners[i]) < t || (score(&r->runners[i]) <= t && i < candidate)))
            n++;
    return n;
}

static void end_round(race *r)
{
    double limit = rounds[r->round].drop * least_score(r);
    char *dropped = need((size_t)r->n + 1, 1);
    int left = 0;
    for (int i = 0; i <= r->n; i++) {
        runner *u = &r->runners[i];
        dropped[i] = !u->out && (u->n == 0 || score(u) > limit || (r->round > 0 && behind(r, i) >= FINALISTS));
    }
    for (int i = 0; i <= r->n; i++) {
        r->runners[i].out |= dropped[i];
        left += !r->runners[i].out;
    }
    free(dropped);
    if (++r->round == ROUNDS || left < 2) {
        settle(r);
        return;
    }
    for (int i = 0; i <= r->n; i++)
        clear(&r->runners[i]);
}

/* All times that were asked for are known. */
static void judge(race *r)
{
    int open = 0;
    if (r->phase == DOUBT && r->runners[r->best].out) { /* refused, or the base, although it had lost: by bad luck */
        restart(r);
        return;
    }
    if (r->phase == DOUBT) {
        runner *u = &r->runners[r->best];
        if (u->n < TRIES)
            return;
        double now = score(u), then = u->known;
        if (now < slower * then && now > faster * then) {
            r->phase = r->before;
            u->known = now;
            clear(u);
            choose_best(r, r->phase == SETTLED ? better : promising); /* it may have been luck */
        } else {
            restart(r);
        }
        return;
    }
    for (int i = 0; i <= r->n; i++) {
        runner *u = &r->runners[i];
        if (u->n >= SURE)
            u->known = score(u);
    }
    if (r->runners[r->n].known > 0)
        r->base = r->runners[r->n].known;
    if (r->phase == BASE && r->base > 0)
        r->phase = ROUND;
    if (r->phase != ROUND)
        return;
    choose_best(r, promising);
    for (int i = 0; i <= r->n; i++)
        open += wants(r, &r->runners[i]);
    if (open == 0)
        end_round(r);
}

void race_took(race *r, account *a, int candidate, double seconds)
{
    runner *u = &r->runners[candidate];
    if (r->base > 0)
        a->balance += r->base - seconds;
    if (u->begun == 1) {
        u->begun = 2;
        u->first = seconds;
    } else if (u->n < FINAL) {
        u->times[u->n++] = seconds;
    }
    if (--r->pending == 0)
        judge(r);
}

void race_refused(race *r, account *a, int candidate)
{
    runner *u = &r->runners[candidate];
    a->held -= u->price;
    if (u->begun == 1)
        u->begun = 0;
    else
        u->asked--;
    if (++u->refused == REFUSALS)
        u->out = 1;
    if (--r->pending == 0)
        judge(r);
}

void race_note(race *r, account *a, int candidate, double seconds, int kept)
{
    runner *u = &r->runners[candidate];
    if (r->base > 0)
        a->balance += r->base - seconds;
    if (!kept)
        return;
    u->times[u->asked++ % TRIES] = seconds;
    u->n = u->asked < TRIES ? u->asked : TRIES;
    if (candidate == r->n && u->n >= SURE)
        r->base = score(u);
}

int race_hopeless(const race *r, double seconds) { return r->base > 0 && seconds > unusual * r->base; }

int race_settled(const race *r) { return r->phase == SETTLED; }

int race_begun(const race *r) { return r->base > 0; }

int race_best(const race *r) { return r->best; }

double race_seconds(const race *r) { return r->best == r->n ? r->base : r->runners[r->best].known; }

void race_doubt(race *r)
{
    r->before = r->phase;
    r->phase = DOUBT;
    clear(&r->runners[r->best]);
}

int race_age(const race *r) { return r->age; }

int race_state(const race *r) { return (int)r->phase << 18 | r->round << 16 | (r->pending & 127) << 9 | r->best; }

void race_earns(const race *r, account *a) { a->balance += (a->over + r->spend) * r->base; }
