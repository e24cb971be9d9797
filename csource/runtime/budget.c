#include "budget.h"

void budget_credit(exploration_budget *b, double seconds) { b->balance += seconds; }

void budget_debit(exploration_budget *b, double seconds) { b->balance -= seconds; }

int budget_affords(const exploration_budget *b, double price) { return price <= 0 || b->balance - b->reserved >= price; }

void budget_reserve(exploration_budget *b, double price) { b->reserved += price; }

void budget_release(exploration_budget *b, double price) { b->reserved -= price; }

void budget_settle(exploration_budget *b, double exchange)
{
    b->reserved = 0;
    budget_debit(b, exchange);
    if (exchange > 0 && (b->exchange <= 0 || exchange < b->exchange))
        b->exchange = exchange;
}
