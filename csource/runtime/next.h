/* The MPI functions that follow libtutti. A tool that is loaded behind libtutti may have replaced them. The
 * application's calls are passed on to them, so that the tool sees these calls. Libtutti's own calls have names that
 * begin with PMPI, so that no tool sees them. */
#ifndef TUTTI_NEXT_H
#define TUTTI_NEXT_H

#include "tutti.h"

#pragma GCC visibility push(hidden)

/* The names of the collectives, as in the enum, and the other functions that are passed on after MPI_Init. */
#define EACH_COLLECTIVE(DO) \
    DO(Allgather) DO(Allgatherv) DO(Allreduce) DO(Alltoall) DO(Alltoallv) DO(Barrier) DO(Bcast) DO(Exscan) \
    DO(Gather) DO(Reduce) DO(Reduce_scatter) DO(Reduce_scatter_block) DO(Scan) DO(Scatter)
#define EACH_FUNCTION(DO) EACH_COLLECTIVE(DO) DO(Pcontrol)

#define MEMBER(name) __typeof__(PMPI_##name) *name;
typedef struct { EACH_FUNCTION(MEMBER) } functions;
#undef MEMBER

extern functions next;
extern const functions mpi_library; /* those of the MPI library, for calls on communicators that tools do not know */

typedef void function(void);
function *next_function(const char *name);

/* Returns a file whose functions for collectives hide those of libtutti, or NULL. Writes the collectives to names. If
 * stacked is set, a file with a function MPI_Init hides nothing, because it has passed MPI_Init on to libtutti. */
const char *hidden_by(int stacked, char *names, size_t size);

#pragma GCC visibility pop

#endif
