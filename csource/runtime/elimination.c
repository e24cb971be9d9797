#include "elimination.h"
#include "draw.h"

#include <stdlib.h>
#include <string.h>

/* As in STAR-MPI, each algorithm is timed a few times, and the mean of the faster half of its times counts. The
 * best algorithm serves until times change. Source: Faraj, Yuan and Lowenthal, STAR-MPI: Self Tuned Adaptive
 * Routines for MPI Collective Operations (ICS 2006). In contrast to STAR-MPI, candidates are timed in rounds, and
 * slow ones are dropped after each round. In the last round the candidates take turns, so that a drift of all
 * times affects them equally. */

enum { ROUNDS = 3 };
enum { MOST_TIMES = 16 };  /* largest number of times of a candidate in one round */
enum { ENOUGH_TIMES = 3 }; /* number of times from which a candidate's time counts as known */
enum { RECHECKS = 4 };     /* calls of the best candidate in a recheck */
enum { REFUSALS = 2 };     /* a candidate is dropped after this number of refusals */
enum { FINALISTS = 3 };    /* candidates that are left after the second round */
enum { MOST_PENDING = 4 }; /* largest number of calls with unknown times while a candidate has its first call */

static const struct {
    int times;   /* number of times for each candidate */
    double drop; /* candidates slower than the fastest by more than this factor are dropped */
} rounds[ROUNDS] = {{1, 2}, {3, 1.25}, {MOST_TIMES, 1}};

static const double promising = 0.9;             /* of the baseline: a candidate whose first time is below it gets ENOUGH_TIMES at once */
static const double replaces = 0.98;             /* of the baseline: only a candidate below it replaces the baseline */
static const double slower = 1.25, faster = 0.5; /* of the best candidate's time: times in a recheck that are longer or shorter show a change */
static const double margin = 2;                  /* the price of a call is this factor times its expected time */
static const double slow_first = 8;   /* in times of the baseline: a first call up to this may be slow because it creates communicators */
static const double cheap = 0.25;     /* of the baseline: a cheaper exchange of times may follow each call */

typedef enum { NOT_CALLED, FIRST_PENDING, CALLED } call_state;

typedef struct {
    double times[MOST_TIMES]; /* of this round, without the first call */
    int n, requested;         /* times that are known, and that were requested */
    int refusals, dropped;
    call_state began;
    double first; /* seconds of the first call; after a restart the last known time */
    double known; /* mean of the faster half of ENOUGH_TIMES or more; 0: unknown */
    double limit; /* see elimination_limit */
    double price; /* reserved in the budget */
} candidate;

typedef enum { TIME_BASELINE, IN_ROUND, FINISHED, RECHECK } phase;

struct elimination {
    int n; /* candidate n is the baseline */
    phase phase, before; /* before: the phase that a recheck interrupted */
    int round, best, restarts;
    int pending;     /* calls for which elimination_next returned a candidate, and whose outcome is unknown */
    double baseline; /* seconds; 0: unknown */
    double credit;
    int *order; /* in which candidates 0 to n-1 have their first calls */
    candidate candidates[];
};

/* Draws the order of the candidates without replacement. A candidate is drawn with a probability that is its
 * weight divided by the sum of the weights of all remaining candidates. */
static void draw_order(elimination *e, const double *sums, uint64_t seed)
{
    double *weights = allocate((size_t)e->n + 1, sizeof *weights), all = 1;
    for (int i = 0; i < e->n; i++)
        weights[i] = sums[i] - (i > 0 ? sums[i - 1] : 0);
    for (int at = 0; at < e->n; at++) {
        uint64_t numbers[] = {seed, (uint64_t)at};
        double left = uniform(numbers, 2) * all;
        int chosen = -1;
        for (int i = 0; i < e->n && (left >= 0 || chosen < 0); i++)
            if (weights[i] >= 0) {
                left -= weights[i];
                chosen = i;
            }
        all -= weights[chosen];
        weights[chosen] = -1; /* drawn */
        e->order[at] = chosen;
    }
    free(weights);
}

elimination *elimination_new(int n, const double *sums, double credit, uint64_t seed)
{
    elimination *e = allocate(1, sizeof *e + (size_t)(n + 1) * sizeof *e->candidates);
    e->order = allocate((size_t)n + 1, sizeof *e->order);
    e->n = e->best = n;
    e->credit = credit;
    e->candidates[n].began = CALLED;
    draw_order(e, sums, seed);
    return e;
}

void elimination_free(elimination *e)
{
    if (e != NULL)
        free(e->order);
    free(e);
}

void elimination_limit(elimination *e, int i, double most) { e->candidates[i].limit = most; }

void elimination_exclude(elimination *e, int i)
{
    e->candidates[i].refusals = REFUSALS;
    e->candidates[i].dropped = 1;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the mean of the faster half of a candidate's times. */
static double score(const candidate *c)
{
    double sorted[MOST_TIMES], sum = 0;
    int half = (c->n + 1) / 2;
    memcpy(sorted, c->times, sizeof sorted);
    qsort(sorted, (size_t)c->n, sizeof *sorted, ascending);
    for (int i = 0; i < half; i++)
        sum += sorted[i];
    return sum / half;
}

static double expected(const elimination *e, const candidate *c)
{
    if (c->n > 0)
        return score(c);
    if (c->known > 0)
        return c->known;
    if (c->began != CALLED)
        return e->baseline;
    return c->first < slow_first * e->baseline ? c->first : slow_first * e->baseline;
}

/* Returns a cautious estimate of the time of a call, which the budget must cover. Until a candidate's first call is
 * done, this is the candidate's limit: its longest time according to earlier jobs. The time of the first call says
 * little, because this call may create communicators. A limit below `margin` therefore remains the estimate until a
 * second call is timed. */
static double cautious_time(const elimination *e, const candidate *c)
{
    if (c == &e->candidates[e->n])
        return expected(e, c);
    int by_limit = c->n == 0 && c->known <= 0 && c->limit > 0 && (c->began != CALLED || c->limit < margin);
    return by_limit ? c->limit * e->baseline : margin * expected(e, c);
}

/* Returns the price of a call, in seconds of the budget. It is the cautious estimate of the call's time, plus the
 * time to exchange times, minus the baseline's time. It is at least 0. */
static double price(const elimination *e, const exploration_budget *b, const candidate *c)
{
    double beyond = cautious_time(e, c) + b->exchange - e->baseline;
    return beyond > 0 ? beyond : 0;
}

static void reserve(const elimination *e, exploration_budget *b, candidate *c)
{
    c->price = price(e, b, c);
    budget_reserve(b, c->price);
}

int elimination_affords(elimination *e, exploration_budget *b, int i)
{
    candidate *c = &e->candidates[i];
    if (!budget_affords(b, price(e, b, c)))
        return 0;
    reserve(e, b, c);
    return 1;
}

/* Returns how many times a candidate should be timed in this round. */
static int wanted(const elimination *e, const candidate *c)
{
    int times = rounds[e->round].times;
    return times < ENOUGH_TIMES && c->n > 0 && score(c) < promising * e->baseline ? ENOUGH_TIMES : times;
}

static int needs_call(const elimination *e, const candidate *c)
{
    if (c->dropped || c->began == FIRST_PENDING)
        return 0;
    return c->began == NOT_CALLED || c->requested < wanted(e, c);
}

/* Returns the candidate to call next in a round, or SERVE_BEST if the budget covers none that still needs a
 * call. It prefers the candidate with the fewest requests for a timed call; of equal ones, the fastest. A
 * candidate that was never called ranks as if it had RECHECKS requests. Those with fewer requests thus come
 * first, so that first calls do not use up the budget. *more becomes 1 if any candidate still needs a call. */
static int round_next(elimination *e, exploration_budget *b, int *more)
{
    int next = SERVE_BEST, least = 0;
    double fastest = 0;
    for (int at = 0; at <= e->n; at++) {
        int i = at < e->n ? e->order[at] : e->n;
        candidate *c = &e->candidates[i];
        if (!needs_call(e, c))
            continue;
        *more = 1;
        if (!budget_affords(b, price(e, b, c)) || (c->began == NOT_CALLED && e->pending >= MOST_PENDING))
            continue;
        int requested = c->began == NOT_CALLED ? RECHECKS : c->requested;
        double t = expected(e, c);
        if (next == SERVE_BEST || requested < least || (requested == least && t < fastest)) {
            next = i;
            least = requested;
            fastest = t;
        }
    }
    if (next != SERVE_BEST)
        reserve(e, b, &e->candidates[next]);
    return next;
}

static void all_known(elimination *e);

/* Drops all candidates that still need calls, if each of them had a very slow first call. Their calls would exceed
 * the budget. */
static void drop_slow_first(elimination *e)
{
    for (int i = 0; i <= e->n; i++) {
        const candidate *c = &e->candidates[i];
        if (needs_call(e, c) && (c->began == NOT_CALLED || c->n > 0 || c->first <= slow_first * e->baseline))
            return;
    }
    for (int i = 0; i <= e->n; i++)
        e->candidates[i].dropped |= needs_call(e, &e->candidates[i]);
    all_known(e);
}

static int request(elimination *e, int i)
{
    candidate *c = &e->candidates[i];
    if (c->began == NOT_CALLED)
        c->began = FIRST_PENDING;
    else
        c->requested++;
    e->pending++;
    return i;
}

/* Returns SERVE_BEST. If the best candidate is faster than the baseline, the budget gets a credit for the difference. */
static int serve_best(const elimination *e, exploration_budget *b)
{
    if (e->best != e->n && e->candidates[e->best].known > 0)
        budget_credit(b, e->baseline - e->candidates[e->best].known);
    return SERVE_BEST;
}

int elimination_next(elimination *e, exploration_budget *b)
{
    if (e->phase == FINISHED)
        return serve_best(e, b);
    int more = 0, next = e->phase == IN_ROUND ? round_next(e, b, &more) : e->phase == TIME_BASELINE ? e->n : e->best;
    if (next != SERVE_BEST && (e->phase == IN_ROUND || e->candidates[next].requested < RECHECKS))
        return request(e, next);
    if (more && e->pending == 0 && e->round == 0)
        drop_slow_first(e);
    int later = more && e->pending < MOST_PENDING && b->exchange > cheap * e->baseline;
    return e->pending > 0 && !later ? EXCHANGE_TIMES : serve_best(e, b);
}

static void clear_times(candidate *c) { c->n = c->requested = 0; }

/* Forgets all times after a change of times. The baseline serves until there are new times. */
static void restart(elimination *e)
{
    for (int i = 0; i <= e->n; i++) {
        candidate *c = &e->candidates[i];
        clear_times(c);
        if (c->known > 0)
            c->first = c->known;
        c->known = 0;
        c->dropped = c->refusals >= REFUSALS;
    }
    e->phase = TIME_BASELINE;
    e->best = e->n;
    e->round = 0;
    e->restarts++;
}

/* Chooses the best candidate: the fastest one whose time is known from this round or an earlier one. Its time must be
 * below `part` times the baseline's time. If there is no such candidate, the baseline is the best. */
static void choose_best(elimination *e, double part)
{
    double least = part * e->baseline;
    e->best = e->n;
    for (int i = 0; i < e->n; i++) {
        const candidate *c = &e->candidates[i];
        if (c->refusals < REFUSALS && c->known > 0 && c->known < least) {
            least = c->known;
            e->best = i;
        }
    }
}

static void finish(elimination *e)
{
    choose_best(e, replaces);
    e->phase = FINISHED;
    for (int i = 0; i <= e->n; i++)
        clear_times(&e->candidates[i]);
}

static int is_scored(const candidate *c) { return !c->dropped && c->n > 0; }

static double least_score(const elimination *e)
{
    double least = -1;
    for (int i = 0; i <= e->n; i++) {
        const candidate *c = &e->candidates[i];
        if (is_scored(c) && (least < 0 || score(c) < least))
            least = score(c);
    }
    return least;
}

/* Returns the number of candidates that are faster than candidate i. Of equally fast candidates, the one with the
 * lower number counts as faster. */
static int count_faster(const elimination *e, int i)
{
    int n = 0;
    double t = score(&e->candidates[i]);
    for (int k = 0; k <= e->n; k++) {
        const candidate *c = &e->candidates[k];
        if (is_scored(c) && (score(c) < t || (score(c) <= t && k < i)))
            n++;
    }
    return n;
}

static void end_round(elimination *e)
{
    double limit = rounds[e->round].drop * least_score(e);
    char *drop = allocate((size_t)e->n + 1, 1);
    int remaining = 0;
    for (int i = 0; i <= e->n; i++) {
        candidate *c = &e->candidates[i];
        drop[i] = !c->dropped && (c->n == 0 || score(c) > limit || (e->round > 0 && count_faster(e, i) >= FINALISTS));
    }
    for (int i = 0; i <= e->n; i++) {
        e->candidates[i].dropped |= drop[i];
        remaining += !e->candidates[i].dropped;
    }
    free(drop);
    if (++e->round == ROUNDS || remaining < 2) {
        finish(e);
        return;
    }
    for (int i = 0; i <= e->n; i++)
        clear_times(&e->candidates[i]);
}

/* Ends a recheck, in which the best candidate was timed again. The elimination restarts if the candidate's
 * time has changed, or if the candidate was dropped. Candidates are dropped if they refuse calls. The
 * baseline can serve although it was dropped at the end of a round. */
static void end_recheck(elimination *e)
{
    candidate *c = &e->candidates[e->best];
    if (c->dropped) {
        restart(e);
        return;
    }
    if (c->n < RECHECKS)
        return;
    double now = score(c);
    if (now >= slower * c->known || now <= faster * c->known) {
        restart(e);
        return;
    }
    e->phase = e->before;
    c->known = now;
    clear_times(c);
    choose_best(e, e->phase == FINISHED ? replaces : promising); /* another candidate may be faster than the new time */
}

/* Continues the elimination's current phase when the times of all requested calls have become known. */
static void all_known(elimination *e)
{
    if (e->phase == RECHECK) {
        end_recheck(e);
        return;
    }
    for (int i = 0; i <= e->n; i++) {
        candidate *c = &e->candidates[i];
        if (c->n >= ENOUGH_TIMES)
            c->known = score(c);
    }
    if (e->candidates[e->n].known > 0)
        e->baseline = e->candidates[e->n].known;
    if (e->phase == TIME_BASELINE && e->baseline > 0)
        e->phase = IN_ROUND;
    if (e->phase != IN_ROUND)
        return;
    choose_best(e, promising);
    for (int i = 0; i <= e->n; i++)
        if (needs_call(e, &e->candidates[i]))
            return;
    end_round(e);
}

void elimination_add_time(elimination *e, exploration_budget *b, int i, double seconds)
{
    candidate *c = &e->candidates[i];
    if (e->baseline > 0)
        budget_credit(b, e->baseline - seconds);
    if (c->began == FIRST_PENDING) {
        c->began = CALLED;
        c->first = seconds;
    } else if (c->n < MOST_TIMES) {
        c->times[c->n++] = seconds;
    }
    if (--e->pending == 0)
        all_known(e);
}

void elimination_refuse(elimination *e, exploration_budget *b, int i)
{
    candidate *c = &e->candidates[i];
    budget_release(b, c->price);
    if (c->began == FIRST_PENDING)
        c->began = NOT_CALLED;
    else
        c->requested--;
    if (++c->refusals == REFUSALS)
        c->dropped = 1;
    if (--e->pending == 0)
        all_known(e);
}

void elimination_record(elimination *e, exploration_budget *b, int i, double seconds, int keep)
{
    candidate *c = &e->candidates[i];
    if (e->baseline > 0)
        budget_credit(b, e->baseline - seconds);
    if (!keep)
        return;
    c->times[c->requested++ % RECHECKS] = seconds;
    c->n = c->requested < RECHECKS ? c->requested : RECHECKS;
    if (i == e->n && c->n >= ENOUGH_TIMES)
        e->baseline = score(c);
}

int elimination_drops(const elimination *e, double seconds) { return e->baseline > 0 && seconds > slow_first * e->baseline; }

int elimination_finished(const elimination *e) { return e->phase == FINISHED; }

int elimination_has_baseline(const elimination *e) { return e->baseline > 0; }

int elimination_best(const elimination *e) { return e->best; }

double elimination_seconds(const elimination *e) { return e->best == e->n ? e->baseline : e->candidates[e->best].known; }

void elimination_recheck(elimination *e)
{
    e->before = e->phase;
    e->phase = RECHECK;
    clear_times(&e->candidates[e->best]);
}

int elimination_restarts(const elimination *e) { return e->restarts; }

int elimination_state(const elimination *e) { return (int)e->phase << 18 | e->round << 16 | (e->pending & 127) << 9 | e->best; }

void elimination_credit(const elimination *e, exploration_budget *b) { budget_credit(b, (b->share + e->credit) * e->baseline); }
