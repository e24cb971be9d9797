/* raced SEED CALLS NOISE EXCHANGE FACTOR BASE TIME...: a race of algorithms whose calls take these times, but for lognormal
 * noise, against the base. Bringing times together takes EXCHANGE. FACTOR slows the fastest algorithm in the second third of the
 * calls; a detector looks at calls of the best one, which is also doubted after 32 calls, 64 more and so on. Says at the end of each third which algorithm is held to be the best (the
 * number of times being the base), what all calls so far and the exchanges took beside those by the base alone, and how often
 * a change was seen. */
#include "tutti.h"

#include "detector.h"
#include "race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

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

enum { MOST = 64 };

int main(int argc, char **argv)
{
    int n = argc - 7, calls = atoi(argv[2]), fastest = 0, waiting = 0, seen = 0, watched = -1, calm = 0, doubted = 0;
    double noise = atof(argv[3]), exchange = atof(argv[4]), factor = atof(argv[5]), times[MOST], sums[MOST], spent = 0, base = 0;
    struct {
        int candidate;
        double seconds;
    } told[MOST];
    if (n < 1 || n >= MOST)
        return 1;
    state = strtoull(argv[1], NULL, 10);
    for (int i = 0; i <= n; i++)
        times[i] = atof(argv[6 + (i + 1) % (n + 1)]);
    for (int i = 0; i < n; i++) {
        sums[i] = (double)(i + 1) / n;
        fastest = times[i] < times[fastest] ? i : fastest;
    }
    race *r = race_new(n, sums, 0, state);
    account a = {.over = 0.03};
    detector d;
    for (int call = 1; call <= calls; call++) {
        race_earns(r, &a);
        int next = race_next(r, &a);
        if (next == RACE_WAIT || waiting == MOST) {
            a.held = 0;
            a.exchange = exchange;
            a.balance -= exchange;
            spent += exchange;
            for (int i = 0; i < waiting; i++)
                race_took(r, &a, told[i].candidate, told[i].seconds);
            waiting = 0;
            next = next == RACE_WAIT ? race_next(r, &a) : next;
        }
        int who = next < 0 ? race_best(r) : next, slowed = who == fastest && call > calls / 3 && call <= 2 * calls / 3;
        double seconds = times[who] * (slowed ? factor : 1) * exp(noise * normal());
        if (next >= 0) {
            told[waiting].candidate = who;
            told[waiting++].seconds = seconds;
        }
        spent += seconds;
        base += times[n];
        if (race_best(r) != watched || calm < 0) {
            detector_start(&d, 10000);
            doubted = race_best(r) != watched || doubted == 0 ? 32 : 2 * doubted;
            calm = 0;
        }
        watched = race_best(r);
        if (next == RACE_BEST && race_begun(r) && ((++calm == doubted && (watched < n || race_settled(r))) || detector_add(&d, seconds))) {
            seen += calm < doubted;
            race_doubt(r);
            calm = -1;
        }
        if (call % (calls / 3) == 0)
            printf("%d %.4f %d\n", race_best(r), spent / base, seen);
    }
    race_free(r);
    return 0;
}
