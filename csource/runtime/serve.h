/* From the arguments of a call to those of an algorithm, and back. */
#ifndef TUTTI_SERVE_H
#define TUTTI_SERVE_H

#include "table.h"

#pragma GCC visibility push(hidden)

/* What an application passed to a collective; bcast's buffer is recv, and the type
 * of a reduction rtype. */
typedef struct {
    collective what;
    const void *send;
    int scount;
    MPI_Datatype stype;
    void *recv;
    int rcount;
    MPI_Datatype rtype;
    const int *counts;  /* received of each rank: of allgatherv, alltoallv, reduce_scatter */
    const int *displs;  /* ... and where: of allgatherv, alltoallv */
    const int *scounts, *sdispls; /* of alltoallv */
    MPI_Op op;
    int root;
    int error; /* what the call returns */
} arguments;

/* Where an algorithm runs. */
typedef struct {
    MPI_Comm comm; /* our own */
    int rank, size;
    layout *layout; /* for algorithms that ask for places */
} place;

/* Lets an algorithm serve a call and sets its error; 0 when it cannot, with nothing
 * done. bytes as the table has them, the same on all ranks. */
void ran_nothing(void); /* wrap.c: forgets what tutti_ran returns */

int serve(arguments *a, const pick *p, const place *on, uint64_t bytes);

#pragma GCC visibility pop

#endif
