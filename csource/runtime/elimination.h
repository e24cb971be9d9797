/* Successive elimination finds the fastest algorithm for one class of calls. It times each candidate a few times,
 * drops the slow ones, and times the others more often. An exploration budget limits the cost.
 *
 * Every rank of a communicator decides by itself, and all must decide the same. Their decisions depend only on
 * numbers of calls and on times that they have exchanged. They use only additions, multiplications, divisions and
 * comparisons, which give the same bits on all processors. */
#ifndef TUTTI_ELIMINATION_H
#define TUTTI_ELIMINATION_H

#include "budget.h"
#include "tutti.h"

#pragma GCC visibility push(hidden)

typedef struct elimination elimination;

/* The values that elimination_next returns in place of a candidate. */
enum {
    SERVE_BEST = -1,     /* the candidate elimination_best serves the call, which is not timed */
    EXCHANGE_TIMES = -2, /* the ranks must exchange the times of earlier calls, then ask again */
};

/* Creates an elimination. Candidates 0 to n-1 are the algorithms that the table lists for exploration, and `sums` holds
 * the prefix sums of their weights. Candidate n, the baseline, is the algorithm that the table selects. It is timed
 * first.
 *
 * Each call adds `credit` times the baseline's time to the budget, in addition to the budget's own share. The order of
 * first calls is drawn by the weights, with `seed` as random seed. Jobs with different seeds thus begin with different
 * candidates. */
elimination *elimination_new(int n, const double *sums, double credit, uint64_t seed);
void elimination_free(elimination *e);
void elimination_exclude(elimination *e, int candidate);              /* the candidate cannot serve these calls */
void elimination_limit(elimination *e, int candidate, double most); /* most: upper limit of its expected time, in times of the baseline; 0: unknown */

/* Returns the candidate that serves the next call, which must be timed, or one of the values above. */
int elimination_next(elimination *e, exploration_budget *b);

/* These functions report the outcome of each call for which elimination_next returned a candidate, in the order of
 * the calls. Use elimination_add_time if the candidate served the call, and elimination_refuse if another algorithm
 * did. */
void elimination_add_time(elimination *e, exploration_budget *b, int candidate, double seconds);
void elimination_refuse(elimination *e, exploration_budget *b, int candidate);

int elimination_has_baseline(const elimination *e);             /* whether the baseline's time is known */
int elimination_best(const elimination *e);                     /* the fastest candidate with enough times, otherwise the baseline */
double elimination_seconds(const elimination *e);               /* the time of a call of the best candidate; 0: unknown */
int elimination_finished(const elimination *e);                 /* whether no candidate remains to be tried */
int elimination_drops(const elimination *e, double seconds); /* whether a candidate whose first call takes so long is not tried again */
int elimination_restarts(const elimination *e);                 /* number of times that all candidates were tried again after a change */
int elimination_state(const elimination *e);                    /* a number that is equal on all ranks that agree */

/* Begins a recheck of the best candidate, after elimination_next returned SERVE_BEST. If the candidate's time has
 * changed, all candidates are timed again. */
void elimination_recheck(elimination *e);

/* Adds the credit of one call to the budget. Must be called at the beginning of each call of the class. */
void elimination_credit(const elimination *e, exploration_budget *b);

/* These functions are for callers that draw candidates at random and do not use elimination_next.
 * elimination_affords returns whether the budget covers a call of the candidate. If so, it reserves the price of
 * the call. elimination_record reports the time of a call. If `keep` is 1, the estimate of the candidate's time
 * includes this time. */
int elimination_affords(elimination *e, exploration_budget *b, int candidate);
void elimination_record(elimination *e, exploration_budget *b, int candidate, double seconds, int keep);

#pragma GCC visibility pop

#endif
