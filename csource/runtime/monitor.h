/* Change detection on many ranks. Each rank watches its own times of the algorithm that serves a class of
 * similar calls. If one rank detects a change, all ranks learn of it in the same call. */
#ifndef TUTTI_MONITOR_H
#define TUTTI_MONITOR_H

#include "channel.h"
#include "detector.h"
#include "table.h"

#pragma GCC visibility push(hidden)

/* Ranks learn of a change in one of three ways. First, the messages of the call carry a flag. For this, libtutti must
 * send the messages, and each rank must receive data from every other rank. Second, a channel (channel.h) carries the
 * flag. Third, ranks ask one another in an allreduce, once in a fixed number of calls. */
typedef struct {
    change_detector detector;    /* of the watched candidate */
    change_detector *candidates; /* for each candidate: calls timed by the elimination since the last restart or recheck */
    int n;                       /* candidates */
    int restarts;                /* of the elimination */
    int rechecks;                /* of the watched candidate */
    int false_alarms;            /* after which the detector was made less sensitive */
    double run_length;           /* expected calls of this rank between two false alarms if times are independent */
    int watching;
    int candidate;               /* the watched candidate, or the last one; -1: none */
    int detected;                /* whether this rank detected a change that the others do not know yet */
    int announced;               /* whether all ranks know of a change */
    int by_message, by_channel;  /* how ranks learn of changes in this call */
    channel channel;
    uint64_t calls;         /* of the watched candidate */
    uint64_t next_recheck;  /* before this call the candidate is timed again even without an alarm */
    uint64_t time_interval; /* number of calls from one timed call to the next */
    uint64_t asked, ask_interval; /* calls without flag and channel, and the number of them after which ranks ask one another */
} monitor;

void monitor_new(monitor *m, int candidates, int ranks);
void monitor_free(monitor *m);

/* Adds the duration of a call that the elimination timed, in ticks. The parameter `restarts` says how often the
 * elimination has restarted. */
void monitor_add_time(monitor *m, int candidate, int restarts, uint64_t took);

/* Starts watching a candidate. The parameter `seconds` is the time of one call of the candidate. The parameter `exchange`
 * is how many seconds the ranks take to exchange their times, or 0 if unknown. Both must be equal on all ranks. */
void monitor_start(monitor *m, int candidate, int restarts, double seconds, double exchange);

/* Stops watching the candidate. Must be called before the elimination times the candidate again (a recheck). */
void monitor_stop(monitor *m);

/* Must be called before each call that the selected algorithm serves. Sets *timed to 1 if the call must be
 * timed and passed to monitor_leave. Returns 1 if all ranks must compare the algorithm with its rivals again
 * at this call. */
int monitor_enter(monitor *m, MPI_Comm on, collective what, const pick *by, int *timed);

/* Must be called after each timed call. The parameter `took` is the call's time in ticks. The parameter
 * `served` is 1 if an algorithm of libtutti ran, and 0 if the MPI library's own did. Returns 1 if all ranks
 * must compare the algorithm with its rivals again. */
int monitor_leave(monitor *m, uint64_t took, int served);

#pragma GCC visibility pop

#endif
