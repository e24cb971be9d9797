/* raced SEED CALLS NOISE EXCHANGE RANKS CHANGES BASE TIME...: a race of algorithms whose calls take these times against the base,
 * and what comes of it watched by so many ranks, which hear of one another by tags. A time has lognormal noise NOISE or
 * NOISE:KEPT, half of its variance shared by all ranks, of which so much stays from call to call; the least one is told. Bringing times together takes EXCHANGE. CHANGES are K*FACTOR@FROM-TO,
 * separated by commas: algorithm K, all for *, takes so many times as long in these calls. Lines: the call and the algorithm
 * that serves from it on (the number of times being the base), "heard" or "doubt"; and the call and what all calls so
 * far and the exchanges took beside those by the base alone, after each third of the calls. */
#include "monitor.h"
#include "race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64, MOST_RANKS = 512 };

static uint64_t state;
static int n, ranks;
static double times[MOST], noise, kept, together, own[MOST_RANKS]; /* own: what the call takes each rank */
static const char *changes;
static monitor monitors[MOST_RANKS];

/* A standard normal number, of twelve uniform ones. */
static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(state >> 11) / 9007199254740992.0;
    }
    return sum;
}

static double factor(int who, int call)
{
    double all = 1, by;
    char name[16];
    int from, to;
    for (const char *c = changes; *c; c += strcspn(c, ","), c += *c == ',')
        if (sscanf(c, "%15[0-9a-z]*%lf@%d-%d", name, &by, &from, &to) == 4 && call >= from && call < to &&
            (strcmp(name, "all") == 0 || atoi(name) == who))
            all *= by;
    return all;
}

/* What explore.c does about the calls of a class. */
static struct {
    race *race;
    account account;
    int waiting;
    struct {
        int candidate;
        double seconds;
    } told[MOST];
    double spent, exchange;
} class;

/* The least time of all ranks. */
static double run(int who, int call)
{
    double least = 0, width = noise / sqrt(2), shared;
    together = kept * together + sqrt(1 - kept * kept) * normal();
    shared = times[who] * factor(who, call) * exp(width * together);
    class.spent += shared;
    for (int r = 0; r < ranks; r++) {
        own[r] = shared * exp(width * normal());
        least = r == 0 || own[r] < least ? own[r] : least;
    }
    return least;
}

static void bring_together(void)
{
    class.account.held = 0;
    class.account.exchange = class.exchange;
    class.account.balance -= class.exchange;
    class.spent += class.exchange;
    for (int i = 0; i < class.waiting; i++)
        race_took(class.race, &class.account, class.told[i].candidate, class.told[i].seconds);
    class.waiting = 0;
}

static int race_goes_on(void)
{
    int next = race_next(class.race, &class.account);
    if (next != RACE_WAIT)
        return next;
    bring_together();
    return race_next(class.race, &class.account);
}

static void doubt(int call, const char *why)
{
    race_doubt(class.race);
    for (int r = 0; r < ranks; r++)
        monitor_stop(&monitors[r]);
    printf("%d %s\n", call, why);
}

static const pick *carries(void)
{
    static pick p;
    for (const algorithm *a = repository; p.algorithm == NULL; a++)
        if (a->what == ALLGATHER && strcmp(a->name, "bruck") == 0)
            p.algorithm = a;
    return &p;
}

static int watch(void)
{
    int who = race_best(class.race), heard = 0, looks;
    for (int r = 0; r < ranks; r++) {
        monitor *m = &monitors[r];
        if (!m->on || m->who != who)
            monitor_start(m, who, race_age(class.race), race_seconds(class.race), class.account.exchange);
        if (who == n && !race_settled(class.race))
            m->doubted = 0;
        heard |= monitor_enter(m, MPI_COMM_NULL, ALLGATHER, carries(), &looks);
    }
    return heard;
}

static uint64_t ticks_of(double seconds) { return (uint64_t)(seconds * 1e6); }

static int leave(void)
{
    int saw = 0, heard = 0;
    for (int r = 0; r < ranks; r++)
        saw |= monitors[r].saw;
    for (int r = 0; r < ranks; r++) {
        flag_carry(saw);
        heard |= monitor_leave(&monitors[r], ticks_of(own[r]), 1);
    }
    return heard;
}

static void one_call(int call)
{
    race_earns(class.race, &class.account);
    int next = race_goes_on();
    if (next == RACE_BEST && watch()) {
        doubt(call, "doubt");
        next = race_goes_on();
    }
    double seconds = run(next >= 0 ? next : race_best(class.race), call);
    if (next >= 0) {
        class.told[class.waiting].candidate = next;
        class.told[class.waiting++].seconds = seconds;
        for (int r = 0; r < ranks; r++)
            monitor_timed(&monitors[r], next, race_age(class.race), ticks_of(own[r]));
        if (class.waiting == MOST)
            bring_together();
    } else if (leave()) {
        doubt(call, "heard");
    }
}

int main(int argc, char **argv)
{
    int calls = atoi(argv[2]), serves = -1;
    double base = 0, sums[MOST];
    n = argc - 8;
    ranks = atoi(argv[5]);
    if (n < 1 || n >= MOST || ranks < 1 || ranks > MOST_RANKS)
        return 1;
    state = strtoull(argv[1], NULL, 10);
    sscanf(argv[3], "%lf:%lf", &noise, &kept);
    class.exchange = atof(argv[4]);
    changes = argv[6];
    for (int i = 0; i <= n; i++)
        times[i] = atof(argv[7 + (i + 1) % (n + 1)]);
    for (int i = 0; i < n; i++)
        sums[i] = (double)(i + 1) / n;
    for (int r = 0; r < ranks; r++)
        monitor_new(&monitors[r], n + 1, ranks);
    class.race = race_new(n, sums, 0, state);
    class.account.over = 0.03;
    for (int call = 1; call <= calls; call++) {
        one_call(call);
        base += times[n] * factor(n, call);
        if (race_best(class.race) != serves)
            printf("%d %d\n", call, serves = race_best(class.race));
        if (call % (calls / 3) == 0)
            printf("%d cost %.4f\n", call, class.spent / base);
    }
    race_free(class.race);
    for (int r = 0; r < ranks; r++)
        monitor_free(&monitors[r]);
    return 0;
}
