/* Exploration: some calls run another algorithm than the selected one, and their times are kept as samples. All ranks
 * of a communicator make the same choice. There are two modes. In mode explore a share of the calls runs algorithms
 * that are drawn by the weights of the table, so that later jobs can learn from the samples. In mode learn the job
 * itself finds the fastest algorithm of each class of calls by successive elimination (elimination.h), lets it serve,
 * and watches its times (monitor.h). */
#ifndef TUTTI_EXPLORE_H
#define TUTTI_EXPLORE_H

#include "table.h"

#pragma GCC visibility push(hidden)

/* explore.c */

extern int explore_trials;   /* calls so far that ran a drawn algorithm, or a candidate that the elimination times */
extern int explore_rechecks; /* rechecks so far of an algorithm whose times may have changed */
extern int exploring;        /* in either mode; the same on all ranks */

/* Reads the settings on rank 0 and opens a file of samples in the folder unless folder is NULL; collective. */
void explore_start(MPI_Comm world, const char *folder);
const char *explore_mode(void); /* of this rank's environment; NULL: unset */
void explore_end(void);         /* collective */

typedef struct sample sample;

/* Chooses the algorithm that serves a call. best is the table's selection, NULL without a rule. *to becomes the sample
 * to which explore_record adds the time of the call, or NULL if the call is not timed. */
const pick *explore_call(comm *c, collective what, uint64_t bytes, const pick *best, sample **to);

/* Records the ticks that a timed call took. served_by is NULL for the MPI library's own algorithm. All ranks call this
 * function together. */
void explore_record(comm *c, sample *s, uint64_t bytes, uint64_t took, const char *served_by);

/* samples.c: the file of samples, which one rank writes. */

int samples_open(const char *folder, char *why); /* 0, or -1 with the reason */
void samples_add(collective what, const shape *at, uint64_t bytes, const char *name, double longest, double shortest);
void samples_flush(int now); /* at most once a second, or now */
void samples_close(void);

#pragma GCC visibility pop

#endif
