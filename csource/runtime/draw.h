/* Random numbers that are equal on all ranks without a message. */
#ifndef TUTTI_DRAW_H
#define TUTTI_DRAW_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Returns a uniformly distributed number between 0 and 1, both excluded. It is a hash of n numbers, and is the
 * same on every processor. */
double uniform(const uint64_t *numbers, int n);

/* Returns the index of the first of n ascending sums that is at least u. */
int draw_index(const double *sums, int n, double u);

#pragma GCC visibility pop

#endif
