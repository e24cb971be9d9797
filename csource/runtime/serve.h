/* Converts the arguments of a collective call to those of an algorithm, and back. */
#ifndef TUTTI_SERVE_H
#define TUTTI_SERVE_H

#include "comm.h"
#include "table.h"

#pragma GCC visibility push(hidden)

/* The arguments that an application passed to a collective, named as in EACH_COLLECTIVE. */
typedef struct {
    collective what;
    int wide; /* the arrays are of MPI_Count and MPI_Aint, else of int */
    const void *send;
    MPI_Count scount;
    MPI_Datatype stype;
    void *recv;
    MPI_Count rcount;
    MPI_Datatype rtype;
    const void *rcounts, *rdispls, *scounts, *sdispls;
    MPI_Op op;
    int root;
    MPI_Comm on;
    int error; /* the error code that the call returns */
} arguments;

/* Returns counts[i]. The array has 64-bit elements if the application called a function with long counts. */
static inline MPI_Count count_at(const arguments *a, const void *counts, int i) { return a->wide ? ((const MPI_Count *)counts)[i] : ((const int *)counts)[i]; }

static inline MPI_Aint displ_at(const arguments *a, const void *displs, int i) { return a->wide ? ((const MPI_Aint *)displs)[i] : ((const int *)displs)[i]; }

/* arguments.c: returns whether the arguments of a call are valid on this rank. Invalid calls are left to the MPI
 * library, which raises the error. */
int arguments_valid(const arguments *a, int rank, int size);

/* The communicator on which an algorithm runs, with its layout. */
typedef struct {
    MPI_Comm comm; /* of libtutti, for its messages */
    int rank, size;
    layout *layout; /* NULL: the algorithm does not need it */
    const struct row *const *rows; /* rules of the table for this communicator, by collective */
} place;

/* Lets an algorithm of libtutti serve a call, and stores the call's error code. If the algorithm cannot serve the
 * call, the function returns 0 and does nothing. The parameter `bytes` is the size of the call as tables define it,
 * and is the same on all ranks. */
int serve(arguments *a, const pick *p, const place *on, uint64_t bytes);

extern int serves_reductions; /* MPI_Reduce_local works; else the MPI library serves all reductions */

void ran_nothing(void); /* wrap.c: resets what tutti_ran returns */

#pragma GCC visibility pop

#endif
