/* libtutti: sits between an application and its MPI library by MPI's profiling
 * interface. It traces what the application calls, and runs algorithms of its own
 * where a table says so.
 *
 * The library calls MPI by the names that begin with PMPI alone. A thing that goes
 * wrong in MPI_Init turns it off on all ranks; the application runs as if it were
 * not there. */
#ifndef TUTTI_RUNTIME_H
#define TUTTI_RUNTIME_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#pragma GCC visibility push(hidden)

/* The blocking collectives, in the order of their names. */
typedef enum {
    ALLGATHER, ALLGATHERV, ALLREDUCE, ALLTOALL, ALLTOALLV, BARRIER, BCAST, EXSCAN,
    GATHER, REDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, SCATTER, COLLECTIVES
} collective;

const char *collective_name(collective what);

/* state.c: from MPI_Init to MPI_Finalize. */

extern int active;  /* calls are looked at; the same on all ranks */
extern int tracing; /* ... and counted */
extern int selecting; /* ... and a table is followed */
extern int forcing;   /* ... that has one rule, at once: a benchmark program wants it */

void *need(size_t n, size_t bytes); /* zeroed; without memory the application ends */

/* For programs that measure and look, which find them by their names. */

#define PUBLIC __attribute__((visibility("default")))

/* From now on all calls of a collective are served by an algorithm as a table has it
 * ("bcast", "pipeline(segsize=8192)"), where it can; without a collective none is.
 * The table of the environment is followed no more. Collective over the world: all
 * ranks say the same. Returns 0, or -1 with the reason. */
PUBLIC int tutti_force(const char *what, const char *name, char *why, size_t room);

/* What served the last call of this rank for which something was selected, as the
 * table has it: NULL when the MPI library's own did. */
PUBLIC const char *tutti_ran(void);

/* The next calls of this rank are of one place of the program, until another one is said: where it learns within a run, it
 * learns for each place. All ranks of a communicator say the same between the same calls. MPI_Pcontrol says it too, by
 * levels from 3 on; level 1 and 0 here are no place. */
PUBLIC void tutti_site(int number);

/* clock.c: the cheapest clock of one rank. */

extern int counts_cycles; /* the processor's counter runs at one rate */

static inline uint64_t ticks(void)
{
    struct timespec t;
#if defined(__x86_64__)
    if (counts_cycles)
        return __builtin_ia32_rdtsc();
#endif
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void clock_start(void);
double clock_period(void); /* seconds of a tick, by all ticks since clock_start */

/* comm.c: communicators and how they lie on the nodes. */

/* How ranks are dealt to the nodes: those of a node follow one another, or each is on the node
 * after that of the one before. They are the same on one node, and with one rank to each. */
enum { ORDER_BLOCK = 1, ORDER_CYCLIC = 2 };

/* A shape is what communicators share that MPI libraries and tables treat alike. */
typedef struct shape {
    int ranks, nodes, ppn; /* ppn: of the fullest node */
    unsigned orders;       /* all that it has; 0: another one */
    const struct row *rows[COLLECTIVES]; /* what the table selects; NULL: nothing */
    struct shape *next;
} shape;

typedef struct layout layout; /* layout.h */

typedef struct comm {
    MPI_Comm handle;
    const shape *shape; /* NULL: the communicator is left alone */
    int rank;
    int served;       /* calls that an algorithm of ours was selected for, up to LASTING */
    int lasts;        /* it was called often */
    MPI_Comm private; /* of our own messages */
    struct switched *switched; /* of algorithms of the MPI library */
    layout *layout;   /* NULL: no algorithm asked for it yet */
    struct explorer *explorer; /* NULL: nothing was explored yet */
    struct comm *next, *older, *newer;
} comm;

extern comm *last_comm; /* the one of the last call; never NULL */

void comms_start(MPI_Comm world); /* collective */
void comms_end(void);             /* likewise */
comm *comm_find(MPI_Comm handle);
void shapes_select(void); /* the table is another one */

/* The communicator of our own messages, made at the first calls that need it, in
 * which all ranks take part: MPI_COMM_NULL while it does not pay, or where there
 * can be none. */
MPI_Comm comm_private(comm *c);

int *comm_members(MPI_Comm handle, int *n); /* their ranks in the world, to be freed */
void explorer_free(struct explorer *e);     /* explore.c */

layout *comm_layout(comm *c); /* found without a message */
/* The same for calls that the MPI library is to serve by an algorithm of its own, which
 * communicators have from their beginning. */
struct library_algorithm;
MPI_Comm comm_switched(comm *c, const struct library_algorithm *by);

static inline comm *comm_of(MPI_Comm handle) { return last_comm->handle == handle ? last_comm : comm_find(handle); }

/* bytes.c: sizes of messages. */

/* Types of MPI's own, which stay what they are, by the hashes of their handles. */
enum { TYPES = 16 };
typedef struct {
    MPI_Datatype type;
    size_t size;
} sized;
extern sized sizes_known[TYPES];

static inline sized *sized_of(MPI_Datatype type)
{
    uint64_t bits = 0;
    memcpy(&bits, &type, sizeof type);
    return &sizes_known[bits * 0x9e3779b97f4a7c15u >> 60];
}

int type_named(MPI_Datatype type);
size_t type_size(MPI_Datatype type);
size_t counts_bytes(const int *counts, int n, MPI_Datatype type); /* of all counts together */

static inline size_t bytes_of(int count, MPI_Datatype type)
{
    const sized *known = sized_of(type);
    return (size_t)(count > 0 ? count : 0) * (known->type == type ? known->size : type_size(type));
}

/* trace.c: what was called, how often, for how long. */

extern uint64_t trace_next; /* when what is known by then is to be written */

void trace_start(const char *path); /* of this rank; NULL: it writes nothing on the way */
void trace_add(collective what, const shape *at, size_t bytes, uint64_t took);
void trace_flush(uint64_t now);
void trace_write(MPI_Comm world, const char *path); /* collective; rank 0 writes */

#pragma GCC visibility pop

#endif
