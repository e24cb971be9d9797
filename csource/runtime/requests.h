/* Traces collective calls that end later: nonblocking ones, and persistent ones after MPI_Start. Their time ends when the
 * application learns of their completion. */
#ifndef TUTTI_REQUESTS_H
#define TUTTI_REQUESTS_H

#include "comm.h"
#include "trace.h"

#pragma GCC visibility push(hidden)

typedef struct {
    collective what;
    call_form how;
    const shape *shape; /* NULL: it is not traced */
    size_t bytes;
    uint64_t from; /* the tick at which it began */
} traced_call;

/* Remembers a call by the request that it returned. A call that returned an error is ignored. */
void request_new(int error, const MPI_Request *made, traced_call call);

#pragma GCC visibility pop

#endif
