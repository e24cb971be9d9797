/* Random numbers that all ranks compute alike, without a message. */
#ifndef TUTTI_DRAW_H
#define TUTTI_DRAW_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A uniform number above 0 and below 1: a hash of n numbers, the same on every processor. */
double uniform(const uint64_t *numbers, int n);

/* The first index whose prefix sum reaches u. */
int draw_index(const double *sums, int n, double u);

#pragma GCC visibility pop

#endif
