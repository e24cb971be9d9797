/* Successive elimination: finds the algorithm that serves one class of calls fastest. It times each candidate a few times,
 * drops the slow ones, and times the rest more often. An exploration budget limits what that costs.
 *
 * Every rank of a communicator decides by itself, and all must decide the same. They decide by counts of calls and by times
 * that they have exchanged, with additions, multiplications, divisions and comparisons only: these give the same bits on
 * all processors. */
#ifndef TUTTI_ELIMINATION_H
#define TUTTI_ELIMINATION_H

#include "budget.h"
#include "tutti.h"

#pragma GCC visibility push(hidden)

typedef struct elimination elimination;

/* Answers of elimination_next that are no candidate. */
enum {
    SERVE_BEST = -1,     /* elimination_best serves the call, which is not timed */
    EXCHANGE_TIMES = -2, /* the ranks must exchange the times of earlier calls, then ask again */
};

/* Candidates 0 to n-1 are the algorithms of a mix; sums are the prefix sums of their weights. Candidate n, the baseline, is
 * the algorithm that the table selects; it is timed first. Each call adds credit times the baseline's time to the budget,
 * besides the budget's own share. The order of first calls is drawn by the weights from seed, so that jobs
 * with different seeds do not all try the same slow candidate first. */
elimination *elimination_new(int n, const double *sums, double credit, uint64_t seed);
void elimination_free(elimination *e);
void elimination_exclude(elimination *e, int candidate);              /* it cannot serve these calls */
void elimination_limit(elimination *e, int candidate, double most); /* its expected time at most, in times of the baseline; 0: unknown */

/* The candidate that serves the next call, which is to be timed, or one of the answers above. */
int elimination_next(elimination *e, exploration_budget *b);

/* Reports the outcome of each call for which elimination_next named a candidate, in the order of the calls: how long it took,
 * or that something else served it. */
void elimination_add_time(elimination *e, exploration_budget *b, int candidate, double seconds);
void elimination_refuse(elimination *e, exploration_budget *b, int candidate);

int elimination_has_baseline(const elimination *e);             /* the baseline's time is known */
int elimination_best(const elimination *e);                     /* the fastest of those timed often enough, else the baseline */
double elimination_seconds(const elimination *e);               /* the time of a call of it; 0: unknown */
int elimination_finished(const elimination *e);                 /* no candidate is left to try */
int elimination_drops(const elimination *e, double seconds); /* a candidate whose first call takes so long is not tried again */
int elimination_restarts(const elimination *e);                 /* how often all candidates were tried again after a change */
int elimination_state(const elimination *e);                    /* a number that is the same on all ranks that agree */

/* After SERVE_BEST: time the best candidate again. If its time has changed, all candidates are tried again. */
void elimination_recheck(elimination *e);

/* A call of the class begins: credits the budget with the call's share. */
void elimination_credit(const elimination *e, exploration_budget *b);

/* For callers that draw candidates at random instead of asking elimination_next. elimination_affords reports whether the budget
 * covers a call of the candidate, and reserves its price. elimination_record reports how long a call took; only times
 * with keep set serve as estimates of later calls. */
int elimination_affords(elimination *e, exploration_budget *b, int candidate);
void elimination_record(elimination *e, exploration_budget *b, int candidate, double seconds, int keep);

#pragma GCC visibility pop

#endif
