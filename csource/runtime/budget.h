/* The exploration budget is the time that calls of one communicator may lose because they try algorithms that may
 * be slow. */
#ifndef TUTTI_BUDGET_H
#define TUTTI_BUDGET_H

#pragma GCC visibility push(hidden)

/* All fields except `share` are in seconds. In an empty budget all fields except `share` are zero. */
typedef struct {
    double share;    /* each call adds this share of the time of the selected algorithm */
    double balance;  /* credits minus debits so far */
    double reserved; /* for started calls whose times are not known yet */
    double exchange; /* the shortest exchange of times among the ranks so far; 0: unknown */
} exploration_budget;

void budget_credit(exploration_budget *b, double seconds);
void budget_debit(exploration_budget *b, double seconds);
int budget_affords(const exploration_budget *b, double price); /* whether the balance minus the reserved time covers the price */
void budget_reserve(exploration_budget *b, double price);
void budget_release(exploration_budget *b, double price); /* undoes a reservation, because the call did not happen */

/* Ends all reservations of the budget, after the times of all reserved calls have become known. The parameter
 * `exchange` is the seconds that the ranks took to exchange these times, or 0 if unknown. */
void budget_settle(exploration_budget *b, double exchange);

#pragma GCC visibility pop

#endif
