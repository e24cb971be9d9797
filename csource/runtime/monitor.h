/* Change detection on many ranks: each rank watches its own times of the algorithm that serves a class of calls, and all ranks
 * learn of a change that one of them detects in the same call. */
#ifndef TUTTI_MONITOR_H
#define TUTTI_MONITOR_H

#include "channel.h"
#include "detector.h"
#include "table.h"

#pragma GCC visibility push(hidden)

/* Ranks learn of a change in one of three ways. The messages of the call itself carry a flag, where the algorithm is one of
 * libtutti's and each rank receives something from every other one; else a channel carries it; else the ranks
 * ask one another in an allreduce every so many calls. */
typedef struct {
    change_detector detector;    /* of the watched candidate */
    change_detector *candidates; /* of each candidate: its calls that the elimination timed since the last restart or recheck */
    int n;                       /* candidates */
    int restarts;                /* of the elimination */
    int rechecks;                /* of the watched candidate */
    int false_alarms;            /* after which the detector was made less sensitive */
    double run_length;           /* calls of this rank between two false alarms, if times are independent */
    int watching;
    int candidate;               /* that is watched or was last; -1: none */
    int detected;                /* this rank detected a change that the others do not know of */
    int announced;               /* all ranks know of a change */
    int by_message, by_channel;  /* how ranks learn of changes in this call */
    channel channel;
    uint64_t calls;         /* of the watched candidate */
    uint64_t next_recheck;  /* the call before which it is timed again even without an alarm */
    uint64_t time_interval; /* calls from one that is timed to the next */
    uint64_t asked, ask_interval; /* calls without flag and channel, and after how many of them ranks ask one another */
} monitor;

void monitor_new(monitor *m, int candidates, int ranks);
void monitor_free(monitor *m);

/* A call of a candidate that the elimination timed took so many ticks. restarts are those of the elimination. */
void monitor_add_time(monitor *m, int candidate, int restarts, uint64_t took);

/* Starts watching a candidate whose calls take so many seconds; exchange is the time of an exchange among the ranks. 0 is an
 * unknown time. Both are the same on all ranks. */
void monitor_start(monitor *m, int candidate, int restarts, double seconds, double exchange);

/* Stops watching, since the candidate is about to be rechecked. */
void monitor_stop(monitor *m);

/* Comes before each call of the watched candidate, which the pick is to serve. Returns whether a recheck is due on all
 * ranks. *timed: whether monitor_leave must follow the call. */
int monitor_enter(monitor *m, MPI_Comm on, collective what, const pick *by, int *timed);

/* Comes after a call that took so many ticks; served: by an algorithm of libtutti. Returns whether a recheck is due on all
 * ranks. */
int monitor_leave(monitor *m, uint64_t took, int served);

#pragma GCC visibility pop

#endif
