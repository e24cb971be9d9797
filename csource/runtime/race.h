/* Which algorithm serves a class of calls fastest, found by trying each a few times, and an account that pays for it.
 *
 * All ranks of a communicator decide by themselves and must decide the same: by counts of calls and by times that they
 * have brought together, with additions, multiplications, divisions and comparisons alone, whose last bits are the same
 * on all processors. */
#ifndef TUTTI_RACE_H
#define TUTTI_RACE_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* What the calls of a communicator may still cost, in seconds. */
typedef struct {
    double over;     /* the share of the time of what is selected that trying others may cost */
    double balance;  /* what came in and was not spent */
    double held;     /* of the prices of calls whose times are not known yet */
    double exchange; /* what it costs at least to bring times together */
} account;

typedef struct race race;

enum { RACE_BEST = -1, RACE_WAIT = -2 };

/* Candidates are numbered as the picks of a mix, whose weights are summed up in sums; number n is what is selected, the
 * base, by which a race begins. Of its time the account gets spend for each call beside its share. Candidates are called in an
 * order that is drawn by their weights, so that runs with other seeds do not begin by the same mistake. */
race *race_new(int n, const double *sums, double spend, uint64_t seed);
void race_may_take(race *r, int candidate, double most); /* times the base, before it is timed; 0: not known */
void race_free(race *r);
void race_leave_out(race *r, int candidate); /* it can never serve */

/* The candidate that serves the next call, which is to be timed; RACE_BEST: race_best does, not timed; RACE_WAIT: times
 * are to be brought together first. */
int race_next(race *r, account *a);
void race_took(race *r, account *a, int candidate, double seconds); /* what race_next said; told in the same order */
void race_refused(race *r, account *a, int candidate);              /* ... but something else served */

int race_begun(const race *r);         /* the base's time is known */
int race_best(const race *r);          /* of those that were tried often enough; else the base */
int race_hopeless(const race *r, double seconds); /* so slow is no first call for its plans alone */
int race_settled(const race *r);       /* nothing is left to try */
double race_seconds(const race *r);    /* of a call of it */
void race_doubt(race *r);              /* when race_next said RACE_BEST: has the best changed? If so, all begins anew */
int race_age(const race *r);           /* how often all began anew */
int race_state(const race *r);         /* a number that is the same where ranks agree */

void race_earns(const race *r, account *a); /* a call of the class comes: the account gets its share */

/* For those that draw candidates by themselves: whether the account holds the price of one, which is held then, and what a
 * call took, which is kept if it tells something of the next. */
int race_pays(race *r, account *a, int candidate);
void race_note(race *r, account *a, int candidate, double seconds, int kept);

#pragma GCC visibility pop

#endif
