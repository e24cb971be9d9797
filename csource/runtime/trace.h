/* Numbers and times of calls. */
#ifndef TUTTI_TRACE_H
#define TUTTI_TRACE_H

#include "comm.h"

#pragma GCC visibility push(hidden)

extern uint64_t trace_next; /* the tick at which the trace is to be written next; atomic */

void trace_start(const char *path); /* NULL: this rank writes nothing before the end */
typedef enum { BLOCKING, NONBLOCKING, PERSISTENT, CALL_FORMS } call_form;

void trace_add(collective what, call_form how, const shape *at, size_t bytes, uint64_t took);
void trace_flush(uint64_t now); /* if it is time */
void trace_write(MPI_Comm world, const char *path); /* collective; rank 0 writes */

#pragma GCC visibility pop

#endif
