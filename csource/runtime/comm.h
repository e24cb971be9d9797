/* Communicators and their layout on the nodes. */
#ifndef TUTTI_COMM_H
#define TUTTI_COMM_H

#include "tutti.h"

#pragma GCC visibility push(hidden)

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

#pragma GCC visibility pop

#endif
