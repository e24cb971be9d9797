#include "repository.h"

/* Signals to ranks at distances 1, 2, 4 … Hensgen, Finkel and Manber, Two algorithms
 * for barrier synchronization (1988): dissemination. */
int barrier_bruck(const call *c)
{
    int e = MPI_SUCCESS;
    for (int d = 1; e == MPI_SUCCESS && d < c->size; d *= 2)
        e = swap(c, NULL, 0, after(c, c->rank, d), NULL, 0, after(c, c->rank, -d));
    return e;
}

/* Rank 0 hears of all and tells all. */
int barrier_linear(const call *c)
{
    int e = MPI_SUCCESS;
    if (c->rank != 0) {
        e = put(c, NULL, 0, 0);
        return e != MPI_SUCCESS ? e : get(c, NULL, 0, 0);
    }
    for (int r = 1; e == MPI_SUCCESS && r < c->size; r++)
        e = get(c, NULL, 0, r);
    for (int r = 1; e == MPI_SUCCESS && r < c->size; r++)
        e = put(c, NULL, 0, r);
    return e;
}

/* Pairs at distances 1, 2, 4 …; what exceeds a power of two signals before and is
 * told afterwards. */
int barrier_recursive_doubling(const call *c)
{
    int power = floor_power_of_two(c->size), e = MPI_SUCCESS;
    if (c->rank >= power) {
        e = put(c, NULL, 0, c->rank - power);
        return e != MPI_SUCCESS ? e : get(c, NULL, 0, c->rank - power);
    }
    if (c->rank + power < c->size)
        e = get(c, NULL, 0, c->rank + power);
    for (int d = 1; e == MPI_SUCCESS && d < power; d *= 2)
        e = swap(c, NULL, 0, c->rank ^ d, NULL, 0, c->rank ^ d);
    if (e == MPI_SUCCESS && c->rank + power < c->size)
        e = put(c, NULL, 0, c->rank + power);
    return e;
}
