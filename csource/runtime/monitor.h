/* What a race has found is watched: each rank looks at its own times, and all hear of a change that one of them sees, in the
 * same call: by its messages where those are ours and each rank hears of each, else when all ask one another. */
#ifndef TUTTI_MONITOR_H
#define TUTTI_MONITOR_H

#include "channel.h"
#include "detector.h"
#include "table.h"

#pragma GCC visibility push(hidden)

typedef struct {
    detector usual;  /* of the one that serves */
    detector *tried; /* of each candidate, by its calls that the race timed since all began anew or it was doubted */
    int candidates;
    int age;         /* how often all began anew */
    int doubts;      /* how often the one that serves was doubted */
    int refuted; /* alarms that made it wary */
    double run;  /* calls between two false alarms of this rank, were times independent */
    int on;      /* one is watched */
    int saw;     /* this rank saw a change of which the others have not heard */
    int heard;   /* all have heard of one */
    int carried; /* messages of this call tell it */
    int linked;  /* ... or the channel does */
    channel channel;
    int who;     /* is watched or was last; -1: nobody */
    uint64_t calls, doubted; /* how many of its calls, and after how many it is doubted whatever was seen: twice as many each time */
    uint64_t asked, every, interval; /* each every-th call is timed; of those that cannot tell one asks in so many */
} monitor;

void monitor_new(monitor *m, int candidates, int ranks);
void monitor_free(monitor *m);

/* A call of a candidate that was timed for the race, which began anew so often, took so many ticks. */
void monitor_timed(monitor *m, int candidate, int age, uint64_t took);

/* From now on who is watched. A call of it takes so many seconds, and so many to ask or to bring times together, 0 being not
 * known: the same numbers on all ranks. */
void monitor_start(monitor *m, int who, int age, double seconds, double exchange);

/* Until then nobody is: the one that was watched is doubted. */
void monitor_stop(monitor *m);

/* Before each call, which by is to serve. Whether all ranks hear of a change now, or look for one; *looks: whether monitor_leave is to be
 * called after it. */
int monitor_enter(monitor *m, MPI_Comm on, collective what, const pick *by, int *looks);

/* After it, when it took so many ticks, and served: by what was to serve it, of ours. Whether all ranks have heard of a
 * change. */
int monitor_leave(monitor *m, uint64_t took, int served);

#pragma GCC visibility pop

#endif
