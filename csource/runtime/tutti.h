/* libtutti is loaded between an application and its MPI library through MPI's profiling interface. It traces the
 * application's collective calls, and runs its own algorithms if a table selects them. If MPI_Init finds an error in
 * the settings, libtutti is off on all ranks, and the application runs with the MPI library alone. */
#ifndef TUTTI_RUNTIME_H
#define TUTTI_RUNTIME_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "collectives.h"

#include <mpi.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/* Gives each thread its own copy of a variable. In simulations, which run all ranks in one thread, the macro is
 * empty: the simulator gives each rank its own variables. */
#ifdef SMPI_H
#define PER_THREAD
#else
#define PER_THREAD __thread __attribute__((tls_model("initial-exec")))
#endif

/* state.c: starts libtutti in MPI_Init and ends it in MPI_Finalize. */

extern int active;  /* libtutti looks at calls; this and the next three are the same on all ranks */
extern int tracing; /* it counts them */
extern int trace_every; /* every n-th rank of a communicator counts its calls, from rank 0 on; 0: none */
extern int selecting; /* it follows a table */
extern int forcing;   /* the table has the one rule of tutti_force, which holds from the first call on */

/* Whether several threads may call MPI at once on some rank. Locks guard the data that all threads share. No thread
 * calls MPI while it has a lock. Data of a communicator need no lock, because MPI permits one collective call on it
 * at a time. */
extern int many_threads;

static inline void lock(char *l)
{
    while (many_threads && __atomic_test_and_set(l, __ATOMIC_ACQUIRE))
        sched_yield();
}

static inline void unlock(char *l)
{
    if (many_threads)
        __atomic_clear(l, __ATOMIC_RELEASE);
}

/* `begin` and `end` are collective, and only the first call of each has an effect. `begin` returns whether it had
 * one. The parameter `all` is a communicator of all ranks. `threads` says that several threads of this rank may call
 * MPI at once. `stacked` says that the program called MPI_Init, not PMPI_Init. */
int begin(MPI_Comm all, int threads, int stacked);
void end(void);

extern MPI_Comm first_comm; /* MPI_COMM_WORLD; MPI_COMM_NULL without MPI_Init */

/* These functions allocate memory. If there is none, they abort the application, because other ranks may wait for
 * this one. */
void *allocate(size_t n, size_t bytes); /* zeroed */
void *memory(size_t bytes);

/* The functions below are for benchmark programs and tools, which look them up by name. */

#define PUBLIC __attribute__((visibility("default")))

/* Selects one algorithm for all further calls of the collective that it can serve. The parameters `what` and `name`
 * are written as in a table, for example "bcast" and "pipeline(segsize=8192)". If `what` is NULL, the MPI library
 * serves all calls. The table in the environment has no effect after this call. All ranks of the world must call this
 * function with the same arguments. Returns 0, or -1 with the reason in `why`. */
PUBLIC int tutti_force(const char *what, const char *name, char *why, size_t size);

/* Returns which algorithm ran in this rank's last call for which an algorithm was selected. The result is the
 * algorithm's name in the table, or NULL for the MPI library's own choice. */
PUBLIC const char *tutti_ran(void);

/* Assigns all further calls of this rank to a site (place in the program), until the next call of this function. In
 * mode learn, libtutti learns for each site separately. All ranks of a communicator must set the same sites between the
 * same calls. The number 0 means no site. MPI_Pcontrol has the same effect: its levels from 3 on are numbers of sites,
 * and level 1 means no site. */
PUBLIC void tutti_site(int number);

#pragma GCC visibility pop

#endif
