/* A workload is a call of a collective: its buffers, its data, and the expected result. */
#ifndef TUTTI_WORKLOAD_H
#define TUTTI_WORKLOAD_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "collectives.h"

#include <mpi.h>
#include <stddef.h>

#define WHY 1024 /* bytes of a reason, with the final 0 */

/* form.c: the forms (variants) of calls, for example in place. */

typedef enum {
    BUILTIN, /* MPI_SUM */
    OWN,     /* user-defined; adds like MPI_SUM */
    ORDERED, /* user-defined; does not commute */
    OPERATIONS
} operation;

/* The form of a call. The benchmark times the form in which all fields are 0: separate buffers, equal counts, root 0,
 * and elements of type MPI_CHAR, or sums of MPI_FLOAT in reductions. */
typedef struct {
    int root;
    int in_place; /* with MPI_IN_PLACE */
    int gaps;     /* derived types with gaps; where nothing is reduced, ranks send and receive different ones */
    int counts;   /* ranks divide a block into different numbers of these types */
    int uneven;   /* some counts are 0 */
    operation op; /* of reductions */
    int nulls;    /* arguments that the standard ignores on a rank are 0, NULL or MPI_DATATYPE_NULL */
    int nonblocking; /* MPI_Wait ends the call */
} form;

int collective_count(collective what, long bytes);
int form_named(const char *name, collective *what, form *f); /* whether it is a name such as allreduce or iallreduce; sets the plain form */
int forms(int size);                /* number of blocking forms on so many ranks */
form form_at(int n, int size);      /* form n of them */
int form_exists(form f, collective what); /* whether the collective has it */
void form_name(form f, char *text); /* WHY bytes */

/* item.c: the items of a message. An item consists of contiguous elements, with a gap before and after it. */

typedef struct {
    MPI_Datatype type;
    int before, elements, after; /* numbers of elements */
    int count;                   /* items of a block */
} item;

size_t element_bytes(collective what);
item item_shape(collective what, form f, int elements, int rank); /* for blocks of so many elements */
size_t item_bytes(const item *i, collective what);
int item_commit(item *i, collective what);
void item_free(item *i, collective what);

/* operation.c: the operations of reductions, and the results that they should have. */

enum { PERIOD = 7 }; /* of the elements of a vector */

int operation_make(operation op, MPI_Op *out);
void operation_free(MPI_Op *op);
void operation_input(operation op, int rank, int salt, float table[PERIOD]);
void operation_result(operation op, int ranks, int salt, float table[PERIOD]); /* of this number of ranks */

/* workload.c: buffers and the call. */

typedef struct {
    collective what;
    form form;
    int count; /* elements: of one process where sizes are per process, else of the message */
    int rank, size;
    MPI_Comm comm;
    item sent, received;
    MPI_Op op;
    char *send, *recv;
    size_t send_bytes, recv_bytes;
    int *counts, *displs; /* of each rank's block, in items: first of those received, then of those sent */
    struct {
        const void *from; /* send buffer, MPI_IN_PLACE or NULL */
        void *to;         /* receive buffer, MPI_IN_PLACE or NULL */
        int from_count, to_count;
        MPI_Datatype from_type, to_type;
        const int *from_counts, *from_displs;
    } args; /* of the call */
} workload;

size_t workload_bytes(collective what, form f, int count, int rank, int size); /* that a rank allocates */
int workload_make(workload *w, collective what, form f, int count, MPI_Comm comm, char *why);
void workload_free(workload *w);
int workload_inputs(collective what, int is_root, int size);  /* number of blocks that a rank contributes */
int workload_outputs(collective what, int is_root, int size); /* number of blocks that a rank gets */
int workload_in_place(const workload *w); /* whether this rank passes MPI_IN_PLACE */
int workload_call(const workload *w);
int workload_start(const workload *w, MPI_Request *request); /* begins a nonblocking call */
long workload_moved(const workload *w); /* bytes as plans count them, after rounding */

/* pattern.c: fills the buffers and checks the result. */

void workload_fill(workload *w, int salt);
int workload_right(const workload *w, int salt, char *why); /* whether the result of one call after workload_fill is right */

#endif
