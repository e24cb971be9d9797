#include "repository.h"

/* Dissemination: each rank signals ranks at distances 1, 2, 4 … Source: Hensgen, Finkel and Manber, Two algorithms for
 * barrier synchronization (1988). */
void barrier_bruck(const call *c)
{
    for (int d = 1; d < c->size; d *= 2)
        send_receive(c, NULL, 0, after(c, c->rank, d), NULL, 0, after(c, c->rank, -d));
}

/* Rank 0 receives a message from each rank, then sends a message to each rank. */
void barrier_linear(const call *c)
{
    if (c->rank != 0) {
        send_to(c, NULL, 0, 0);
        receive_from(c, NULL, 0, 0);
        return;
    }
    for (int r = 1; r < c->size; r++)
        receive_from(c, NULL, 0, r);
    for (int r = 1; r < c->size; r++)
        send_to(c, NULL, 0, r);
}

/* Pairs at distances 1, 2, 4 … exchange messages. If the number of ranks is not a power of two,
 * the ranks beyond the largest power of two send a message before this exchange and receive one after it. */
void barrier_recursive_doubling(const call *c)
{
    int power = floor_power_of_two(c->size);
    if (c->rank >= power) {
        send_to(c, NULL, 0, c->rank - power);
        receive_from(c, NULL, 0, c->rank - power);
        return;
    }
    if (c->rank + power < c->size)
        receive_from(c, NULL, 0, c->rank + power);
    for (int d = 1; d < power; d *= 2)
        send_receive(c, NULL, 0, c->rank ^ d, NULL, 0, c->rank ^ d);
    if (c->rank + power < c->size)
        send_to(c, NULL, 0, c->rank + power);
}
