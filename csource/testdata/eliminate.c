/* eliminate SEED CALLS NOISE EXCHANGE RANKS CHANGES BASELINE TIME...: simulates a successive elimination, and change
 * detection on RANKS ranks, whose messages carry a flag. BASELINE and each TIME are the time of a call with one
 * algorithm. The shortest of the times on the ranks counts.
 *
 *   NOISE or NOISE:C   times have lognormal noise of this deviation; half of its variance is shared by all ranks, and
 *                      the shared part has correlation C from call to call
 *   EXCHANGE           the time that ranks take to exchange times
 *   CHANGES            K*FACTOR@FROM-TO, separated by commas: algorithm K, or "all", takes FACTOR times as long from call
 *                      FROM on until before call TO
 *
 * The output has lines of three kinds, each beginning with the number of a call:
 *
 *   CALL ALGORITHM               the algorithm that serves from this call on; the number of TIMEs is the baseline
 *   CALL announced|recheck       ranks announced a change, or rechecked the best algorithm
 *   CALL cost COST               after each third of the calls: the time so far, divided by that of the baseline alone */
#include "elimination.h"
#include "monitor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_TIMES = 64, MAX_RANKS = 512 };

static uint64_t state;
static int n, ranks;
static double times[MAX_TIMES], noise, correlation, shared_noise, own[MAX_RANKS]; /* own: the time of the call on each rank */
static const char *changes;
static monitor monitors[MAX_RANKS];

/* Returns a number that is nearly standard normal: a sum of twelve uniform numbers. */
static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(state >> 11) / 9007199254740992.0;
    }
    return sum;
}

static double factor(int algorithm, int call)
{
    double all = 1, by;
    char name[16];
    int from, to;
    for (const char *c = changes; *c; c += strcspn(c, ","), c += *c == ',')
        if (sscanf(c, "%15[0-9a-z]*%lf@%d-%d", name, &by, &from, &to) == 4 && call >= from && call < to &&
            (strcmp(name, "all") == 0 || atoi(name) == algorithm))
            all *= by;
    return all;
}

/* The class of calls, as in explore.c. */
static struct {
    elimination *elimination;
    exploration_budget budget;
    int pending;
    struct {
        int candidate;
        double seconds;
    } calls[MAX_TIMES];
    double spent, exchange;
} class;

/* Draws the times of a call on all ranks and returns the shortest. */
static double run(int algorithm, int call)
{
    double least = 0, width = noise / sqrt(2), shared;
    shared_noise = correlation * shared_noise + sqrt(1 - correlation * correlation) * normal();
    shared = times[algorithm] * factor(algorithm, call) * exp(width * shared_noise);
    class.spent += shared;
    for (int r = 0; r < ranks; r++) {
        own[r] = shared * exp(width * normal());
        least = r == 0 || own[r] < least ? own[r] : least;
    }
    return least;
}

static void exchange_times(void)
{
    budget_settle(&class.budget, class.exchange);
    class.spent += class.exchange;
    for (int i = 0; i < class.pending; i++)
        elimination_add_time(class.elimination, &class.budget, class.calls[i].candidate, class.calls[i].seconds);
    class.pending = 0;
}

static int candidate_or_best(void)
{
    int next = elimination_next(class.elimination, &class.budget);
    if (next != EXCHANGE_TIMES)
        return next;
    exchange_times();
    return elimination_next(class.elimination, &class.budget);
}

static void recheck(int call, const char *why)
{
    elimination_recheck(class.elimination);
    for (int r = 0; r < ranks; r++)
        monitor_stop(&monitors[r]);
    printf("%d %s\n", call, why);
}

static int run_nothing(const call *c)
{
    (void)c;
    return MPI_SUCCESS;
}

/* Returns a pick whose messages can carry flags. */
static const pick *carrying_pick(void)
{
    static const algorithm a = {.what = ALLGATHER, .name = "simulated", .run = run_nothing};
    static const pick p = {.algorithm = &a};
    return &p;
}

static int watch(void)
{
    int best = elimination_best(class.elimination), due = 0, timed;
    for (int r = 0; r < ranks; r++) {
        monitor *m = &monitors[r];
        if (!m->watching || m->candidate != best)
            monitor_start(m, best, elimination_restarts(class.elimination), elimination_seconds(class.elimination), class.budget.exchange);
        if (best == n && !elimination_finished(class.elimination))
            m->next_recheck = 0;
        due |= monitor_enter(m, MPI_COMM_NULL, ALLGATHER, carrying_pick(), &timed);
    }
    return due;
}

static uint64_t ticks_of(double seconds) { return (uint64_t)(seconds * 1e6); }

static int leave(void)
{
    int detected = 0, due = 0;
    for (int r = 0; r < ranks; r++)
        detected |= monitors[r].detected;
    for (int r = 0; r < ranks; r++) {
        flag_carry(detected);
        due |= monitor_leave(&monitors[r], ticks_of(own[r]), 1);
    }
    return due;
}

static void one_call(int call)
{
    elimination_credit(class.elimination, &class.budget);
    int next = candidate_or_best();
    if (next == SERVE_BEST && watch()) {
        recheck(call, "recheck");
        next = candidate_or_best();
    }
    double seconds = run(next >= 0 ? next : elimination_best(class.elimination), call);
    if (next >= 0) {
        class.calls[class.pending].candidate = next;
        class.calls[class.pending++].seconds = seconds;
        for (int r = 0; r < ranks; r++)
            monitor_add_time(&monitors[r], next, elimination_restarts(class.elimination), ticks_of(own[r]));
        if (class.pending == MAX_TIMES)
            exchange_times();
    } else if (leave()) {
        recheck(call, "announced");
    }
}

int main(int argc, char **argv)
{
    int calls = atoi(argv[2]), serves = -1;
    double baseline = 0, sums[MAX_TIMES];
    n = argc - 8;
    ranks = atoi(argv[5]);
    if (n < 1 || n >= MAX_TIMES || ranks < 1 || ranks > MAX_RANKS)
        return 1;
    state = strtoull(argv[1], NULL, 10);
    sscanf(argv[3], "%lf:%lf", &noise, &correlation);
    class.exchange = atof(argv[4]);
    changes = argv[6];
    for (int i = 0; i <= n; i++)
        times[i] = atof(argv[7 + (i + 1) % (n + 1)]);
    for (int i = 0; i < n; i++)
        sums[i] = (double)(i + 1) / n;
    for (int r = 0; r < ranks; r++)
        monitor_new(&monitors[r], n + 1, ranks);
    class.elimination = elimination_new(n, sums, 0, state);
    class.budget.share = 0.03;
    for (int call = 1; call <= calls; call++) {
        one_call(call);
        baseline += times[n] * factor(n, call);
        if (elimination_best(class.elimination) != serves)
            printf("%d %d\n", call, serves = elimination_best(class.elimination));
        if (call % (calls / 3) == 0)
            printf("%d cost %.4f\n", call, class.spent / baseline);
    }
    elimination_free(class.elimination);
    for (int r = 0; r < ranks; r++)
        monitor_free(&monitors[r]);
    return 0;
}
