/* What a race has found is watched: each rank looks at its own times, and all hear of a change that one of them sees, in the
 * same call: by its messages where those are ours and each rank hears of each, else when all ask one another. */
#ifndef TUTTI_MONITOR_H
#define TUTTI_MONITOR_H

#include "detector.h"
#include "table.h"

#pragma GCC visibility push(hidden)

typedef struct {
    detector times;
    int saw;   /* this rank saw a change of which the others have not heard */
    int heard; /* all have heard of one */
    int carried; /* messages of this call tell it */
    int who;     /* is watched; -1: nobody */
    uint64_t calls, doubted; /* how many of its calls, and after how many it is doubted whatever was seen: twice as many each time */
    uint64_t asked, every, interval; /* each every-th call is timed; of those that cannot tell one asks in so many */
} monitor;

/* A call of who takes so many seconds, and so many to ask, 0 being not known: the same numbers on all ranks. */
void monitor_start(monitor *m, int who, int ranks, double seconds, double exchange);

/* Before each call, which by is to serve. Whether all ranks hear of a change now, or look for one; *looks: whether monitor_leave is to be
 * called after it. */
int monitor_enter(monitor *m, MPI_Comm on, collective what, const pick *by, int *looks);

/* After it, when it took so many ticks, and served: by what was to serve it, of ours. Whether all ranks have heard of a
 * change. */
int monitor_leave(monitor *m, uint64_t took, int served);

#pragma GCC visibility pop

#endif
