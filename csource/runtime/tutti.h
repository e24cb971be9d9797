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
#include <time.h>

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

/* origin.c: the MPI library for which libtutti is built. */

/* Ends the program if the executable or library that contains `address` uses another MPI library than libtutti. */
void check_origin(void *address);
int same_origin(const void *address); /* whether that file uses the MPI library of libtutti */

/* clock.c: the fastest clock that a rank can read. */

extern int counts_cycles; /* ticks are those of the processor's time stamp counter, which runs at a constant rate */

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
double clock_period(void); /* seconds of a tick, measured since clock_start */

/* comm.c: communicators and their layout on the nodes. */

/* The order of the ranks over the nodes. Block: the ranks of a node are consecutive. Cyclic: each rank is on the
 * node that follows the node of the previous rank. A communicator on one node, or with one rank on each node, has
 * both orders. */
enum { ORDER_BLOCK = 1, ORDER_CYCLIC = 2 };

/* A shape holds the properties of a communicator that MPI libraries and tables use. Communicators with the same
 * properties share a shape. */
typedef struct shape {
    int ranks, nodes, ppn; /* ppn: of the node with most ranks */
    unsigned orders;       /* ORDER_BLOCK, ORDER_CYCLIC, or their sum if both hold; 0: neither */
    const struct row *rows[COLLECTIVES]; /* the table's rules; NULL: none */
    struct shape *next;
} shape;

typedef struct layout layout; /* of layout.h */

typedef struct comm {
    MPI_Comm handle;  /* MPI_COMM_NULL: the communicator was freed */
    const shape *shape; /* NULL: libtutti does not look at its calls */
    int rank;
    int traced;       /* this rank counts its calls */
    int served;       /* calls for which an algorithm of libtutti was selected, up to LASTING */
    int lasts;        /* the application uses it often */
    MPI_Comm private; /* for messages of libtutti */
    struct switched *switched; /* for algorithms of the MPI library */
    layout *layout;   /* NULL: no algorithm has needed it yet */
    struct explorer *explorer; /* NULL: nothing was explored yet */
    struct comm *next, *older, *newer; /* older, newer: in the order of the first private communicators */
} comm;

extern MPI_Comm comm_alone; /* of this rank only, without messages; its errors are returned */

extern PER_THREAD comm *last_comm; /* of the last call; never NULL */

void comms_start(MPI_Comm world); /* collective */
void comms_end(void);             /* collective */
comm *comm_find(MPI_Comm handle);
void shapes_select(void); /* select the rows of all shapes from the current table */

/* Returns the communicator for libtutti's own messages. One of the first calls for a communicator creates it, so all
 * ranks must make these calls. The result is MPI_COMM_NULL before the creation, if the creation failed, or if a rank
 * has too many communicators. Errors on it are returned, whatever the application's error handler is. */
MPI_Comm comm_private(comm *c);

int *comm_members(MPI_Comm handle, int *n); /* the members' ranks in the world; the caller frees them */
void explorer_free(struct explorer *e);     /* of explore.c */

layout *comm_layout(comm *c); /* needs no message */
/* Returns a communicator on which an algorithm of the MPI library serves all calls. This needs a communicator of its
 * own, because the library assigns the algorithm when it creates the communicator. */
struct library_algorithm;
MPI_Comm comm_switched(comm *c, const struct library_algorithm *by);

/* Returns libtutti's record of the communicator with this handle. The handle in the last record is read atomically,
 * because another thread that frees its communicator may clear it at the same time. */
static inline comm *comm_of(MPI_Comm handle)
{
    comm *last = last_comm;
    return __atomic_load_n(&last->handle, __ATOMIC_RELAXED) == handle ? last : comm_find(handle);
}

/* bytes.c: sizes of messages. */

/* A cache of the sizes of MPI's predefined types. The index is a hash of the type's handle. */
enum { TYPES = 16 };
typedef struct {
    MPI_Datatype type;
    size_t size;
} sized;
extern PER_THREAD sized sizes_known[TYPES];

static inline sized *sized_of(MPI_Datatype type)
{
    uint64_t bits = 0;
    memcpy(&bits, &type, sizeof type);
    return &sizes_known[bits * 0x9e3779b97f4a7c15u >> 60];
}

int type_named(MPI_Datatype type);
size_t type_size(MPI_Datatype type);
size_t counts_bytes(const void *counts, int wide, int n, MPI_Datatype type); /* bytes of n blocks; their counts are of MPI_Count if wide is 1, else of int */

static inline size_t bytes_of(MPI_Count count, MPI_Datatype type)
{
    const sized *known = sized_of(type);
    return (size_t)(count > 0 ? count : 0) * (known->type == type ? known->size : type_size(type));
}

/* trace.c: numbers and times of calls. */

extern uint64_t trace_next; /* the tick at which the trace is to be written next; atomic */

void trace_start(const char *path); /* NULL: this rank writes nothing before the end */
typedef enum { BLOCKING, NONBLOCKING, PERSISTENT, CALL_FORMS } call_form;

void trace_add(collective what, call_form how, const shape *at, size_t bytes, uint64_t took);
void trace_flush(uint64_t now); /* if it is time */
void trace_write(MPI_Comm world, const char *path); /* collective; rank 0 writes */

#pragma GCC visibility pop

#endif
