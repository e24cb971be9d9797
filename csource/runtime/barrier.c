#include "repository.h"

/* Dissemination: each rank signals ranks at distances 1, 2, 4 … Source: Hensgen, Finkel and Manber, Two algorithms for
 * barrier synchronization (1988). */
int barrier_bruck(const call *c)
{
    int e = MPI_SUCCESS;
    for (int d = 1; e == MPI_SUCCESS && d < c->size; d *= 2)
        e = send_receive(c, NULL, 0, after(c, c->rank, d), NULL, 0, after(c, c->rank, -d));
    return e;
}

/* Rank 0 receives a message from each rank, then sends a message to each rank. */
int barrier_linear(const call *c)
{
    int e = MPI_SUCCESS;
    if (c->rank != 0) {
        e = send_to(c, NULL, 0, 0);
        return e != MPI_SUCCESS ? e : receive_from(c, NULL, 0, 0);
    }
    for (int r = 1; e == MPI_SUCCESS && r < c->size; r++)
        e = receive_from(c, NULL, 0, r);
    for (int r = 1; e == MPI_SUCCESS && r < c->size; r++)
        e = send_to(c, NULL, 0, r);
    return e;
}

/* Pairs at distances 1, 2, 4 … exchange messages. If the number of ranks is not a power of two,
 * the ranks beyond the largest power of two send a message before this exchange and receive one after it. */
int barrier_recursive_doubling(const call *c)
{
    int power = floor_power_of_two(c->size), e = MPI_SUCCESS;
    if (c->rank >= power) {
        e = send_to(c, NULL, 0, c->rank - power);
        return e != MPI_SUCCESS ? e : receive_from(c, NULL, 0, c->rank - power);
    }
    if (c->rank + power < c->size)
        e = receive_from(c, NULL, 0, c->rank + power);
    for (int d = 1; e == MPI_SUCCESS && d < power; d *= 2)
        e = send_receive(c, NULL, 0, c->rank ^ d, NULL, 0, c->rank ^ d);
    if (e == MPI_SUCCESS && c->rank + power < c->size)
        e = send_to(c, NULL, 0, c->rank + power);
    return e;
}
