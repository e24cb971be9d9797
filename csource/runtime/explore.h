/* Exploration lets some calls run another algorithm than the selected one and keeps their times as samples. All
 * ranks of a communicator make the same choice. There are two modes. In the mode `explore` a share of the calls
 * runs algorithms that are drawn with the probabilities in the table. Later jobs learn from the samples. In the
 * mode `learn` the job itself finds the fastest algorithm for each class of similar calls by successive elimination
 * (elimination.h). This algorithm then serves the calls, and a monitor (monitor.h) watches its times. */
#ifndef TUTTI_EXPLORE_H
#define TUTTI_EXPLORE_H

#include "comm.h"
#include "table.h"

#pragma GCC visibility push(hidden)

/* explore.c */

extern int explore_trials;   /* calls so far that ran a drawn algorithm, or a candidate that the elimination times */
extern int explore_rechecks; /* rechecks so far of an algorithm whose times may have changed */
extern int exploring;        /* in either mode; the same on all ranks */

/* Reads the settings on rank 0. Opens a file of samples in `folder`, unless `folder` is NULL. All ranks must call
 * this function. */
void explore_start(MPI_Comm world, const char *folder);
const char *explore_mode(void); /* of this rank's environment; NULL: unset */
void explore_end(void);         /* collective */

typedef struct sample sample;

/* Chooses the algorithm that serves a call. The parameter `best` is the algorithm that the table selects, or NULL if
 * no rule applies. If the call is timed, *to becomes a sample, to which explore_record adds the time. Otherwise *to
 * becomes NULL. */
const pick *explore_call(comm *c, collective what, uint64_t bytes, const pick *best, sample **to);

/* Records the duration of a timed call, in ticks of the clock. The parameter `served_by` is the algorithm that served
 * the call, or NULL for the MPI library's own. All ranks must call this function. */
void explore_record(comm *c, sample *s, uint64_t bytes, uint64_t took, const char *served_by);

/* samples.c: the file of samples, which one rank writes. */

int samples_open(const char *folder, char *why); /* 0, or -1 with the reason */
void samples_add(collective what, const shape *at, uint64_t bytes, const char *name, double longest, double shortest);
void samples_flush(int now); /* writes at most once a second, or at once if now is 1 */
void samples_close(void);

#pragma GCC visibility pop

#endif
