/* Converts the arguments of a collective call to those of an algorithm, and back. */
#ifndef TUTTI_SERVE_H
#define TUTTI_SERVE_H

#include "table.h"

#pragma GCC visibility push(hidden)

/* The arguments that an application passed to a collective. In a bcast the buffer is recv. In a reduction the type is
 * rtype. */
typedef struct {
    collective what;
    const void *send;
    int scount;
    MPI_Datatype stype;
    void *recv;
    int rcount;
    MPI_Datatype rtype;
    const int *counts;  /* receive counts: allgatherv, alltoallv, reduce_scatter */
    const int *displs;  /* receive displacements: allgatherv, alltoallv */
    const int *scounts, *sdispls; /* alltoallv */
    MPI_Op op;
    int root;
    int error; /* that the call returns */
} arguments;

/* The communicator and the layout on which an algorithm runs. */
typedef struct {
    MPI_Comm comm; /* of libtutti, for its messages */
    int rank, size;
    layout *layout; /* NULL: the algorithm does not need it */
} place;

/* Lets an algorithm of libtutti serve a call and sets the call's error. If the algorithm cannot serve it, returns 0
 * without any effect. bytes is the size as in tables, the same on all ranks. */
int serve(arguments *a, const pick *p, const place *on, uint64_t bytes);

void ran_nothing(void); /* wrap.c: resets what tutti_ran returns */

#pragma GCC visibility pop

#endif
