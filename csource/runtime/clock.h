/* The fastest clock that a rank can read. */
#ifndef TUTTI_CLOCK_H
#define TUTTI_CLOCK_H

#include "tutti.h"

#include <stdint.h>
#include <time.h>

#pragma GCC visibility push(hidden)

extern int counts_cycles; /* ticks are those of the processor's time stamp counter, which runs at a constant rate */

static inline uint64_t ticks(void)
{
    struct timespec t;
#if defined(__x86_64__)
    if (counts_cycles)
        return __builtin_ia32_rdtsc();
#endif
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void clock_start(void);
double clock_passed(void); /* seconds since clock_start */
double clock_period(void); /* seconds of a tick, measured since clock_start */

#pragma GCC visibility pop

#endif
