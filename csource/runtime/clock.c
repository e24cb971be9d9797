#include "clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

int counts_cycles;

static uint64_t first_tick, first_nanosecond;

static uint64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns whether the time stamp counter runs at a constant rate in all states of the processor: bit 8 of EDX (Intel,
 * Software Developer's Manual, 18.17.1). Then the counters of all cores agree. */
static int invariant(void)
{
#if defined(__x86_64__) && !defined(SMPI_H) /* not the clock of a simulated rank */
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
#else
    return 0;
#endif
}

void clock_start(void)
{
    counts_cycles = invariant();
    first_tick = ticks();
    first_nanosecond = nanoseconds();
}

double clock_passed(void) { return (double)(nanoseconds() - first_nanosecond) * 1e-9; }

double clock_period(void)
{
    uint64_t passed = ticks() - first_tick;
    return passed == 0 ? 0 : clock_passed() / (double)passed;
}
