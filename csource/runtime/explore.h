/* Other algorithms than those that are selected are tried, and how long calls took is kept in a file of samples. By what all
 * ranks of a communicator share: exploring, a share of calls runs algorithms that are drawn by weights of the table; learning
 * within a run, those of each class of calls race (race.h), the winner serves and is watched (monitor.h). */
#ifndef TUTTI_EXPLORE_H
#define TUTTI_EXPLORE_H

#include "table.h"

#pragma GCC visibility push(hidden)

/* draw.c */

double uniform(const uint64_t *numbers, int n);       /* above 0, below 1: the same for the same numbers everywhere */
int drawn(const double *sums, int n, double u);       /* the first place whose sum reaches u */

/* explore.c */

extern int explore_doubts; /* how often ranks looked whether an algorithm had changed */
extern int exploring; /* either of both; the same on all ranks */

/* Rank 0 opens a file in the folder, NULL being none, and reads what else it is told; collective. */
void explore_start(MPI_Comm world, const char *folder);
const char *explore_mode(void); /* what this rank's environment says; NULL: nothing */
void explore_end(void); /* collective */

typedef struct sample sample;

/* What is to serve a call for which best is selected (NULL: nothing is). *to is NULL, or where the call's time goes. */
const pick *explore_call(comm *c, collective what, uint64_t bytes, const pick *best, sample **to);

/* The call is over; ran is what served it, NULL for the MPI library. All ranks come here together. */
void explore_took(comm *c, sample *s, uint64_t bytes, uint64_t took, const char *ran);

/* samples.c: the file, of one rank. */

int samples_open(const char *folder, char *why); /* 0, or -1 with the reason */
void samples_add(collective what, const shape *at, uint64_t bytes, const char *name, double longest, double shortest);
void samples_flush(int now); /* what was added, when the last time was a second ago, or at once */
void samples_close(void);

#pragma GCC visibility pop

#endif
