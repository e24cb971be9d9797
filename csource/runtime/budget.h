/* Exploration budget: the time that calls of one communicator may lose by trying algorithms that may be slow. */
#ifndef TUTTI_BUDGET_H
#define TUTTI_BUDGET_H

#pragma GCC visibility push(hidden)

/* All in seconds, but share. Zeroes, and a share, are an empty budget. */
typedef struct {
    double share;    /* each call adds this share of the time of the selected algorithm */
    double balance;  /* what was credited and not debited */
    double reserved; /* for calls that were started and whose times are not known yet */
    double exchange; /* the least time that an exchange of times among the ranks took so far; 0: unknown */
} exploration_budget;

void budget_credit(exploration_budget *b, double seconds);
void budget_debit(exploration_budget *b, double seconds);
int budget_affords(const exploration_budget *b, double price); /* whether the balance less what is reserved covers it */
void budget_reserve(exploration_budget *b, double price);
void budget_release(exploration_budget *b, double price); /* the call did not happen */

/* The times of all calls for which something was reserved are known; to exchange them took so long, 0 being unknown. */
void budget_settle(exploration_budget *b, double exchange);

#pragma GCC visibility pop

#endif
