#include "workload.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether a reduction leaves each rank a block of the result. */
static int divides(collective what) { return collective_has(what, REDUCES) && collective_has(what, BLOCKS_IN); }

/* Returns the number of elements in a rank's block. For most collectives this is the count. Reduce-scatter divides
 * the count by the number of ranks. The quotient is rounded down, because some algorithms need blocks of equal size.
 * A block has at least one element unless the count is 0. */
static int block(collective what, int count, int size)
{
    if (count == 0 || !divides(what))
        return count;
    return count < size ? 1 : count / size;
}

static int in_place(collective what, form f, int rank) { return f.in_place && (!collective_has(what, ROOTED) || rank == f.root); }

int workload_in_place(const workload *w) { return in_place(w->what, w->form, w->rank); }

int workload_inputs(collective what, int is_root, int size)
{
    if (what == BARRIER || (collective_has(what, FROM_ROOT) && !is_root))
        return 0;
    return collective_has(what, BLOCKS_IN) ? size : 1;
}

int workload_outputs(collective what, int is_root, int size)
{
    if (what == BARRIER || (collective_has(what, TO_ROOT) && !is_root))
        return 0;
    return collective_has(what, BLOCKS_OUT) ? size : 1;
}

/* Computes how many blocks the send buffer and the receive buffer of a rank hold. */
static void extents(collective what, form f, int rank, int size, size_t *send, size_t *recv)
{
    *send = what == BCAST ? 0 : (size_t)workload_inputs(what, rank == f.root, size);
    *recv = (size_t)(divides(what) && f.in_place ? size : workload_outputs(what, rank == f.root, size));
    if (in_place(what, f, rank))
        *(what == SCATTER ? recv : send) = 0;
}

size_t workload_bytes(collective what, form f, int count, int rank, int size)
{
    size_t send, recv;
    int elements = block(what, count, size);
    item sent = item_shape(what, f, elements, rank), received = item_shape(what, f, elements, rank + 1);
    extents(what, f, rank, size, &send, &recv);
    return (size_t)sent.count * send * item_bytes(&sent, what) + (size_t)received.count * recv * item_bytes(&received, what);
}

static char *buffer(size_t bytes)
{
    void *p = NULL;
    if (posix_memalign(&p, 4096, bytes + 1) != 0)
        return NULL;
    memset(p, 0, bytes + 1); /* touches the pages before they are timed */
    return p;
}

static int allocate(workload *w, char *why)
{
    size_t send, recv;
    extents(w->what, w->form, w->rank, w->size, &send, &recv);
    w->send_bytes = send * (size_t)w->sent.count * item_bytes(&w->sent, w->what);
    w->recv_bytes = recv * (size_t)w->received.count * item_bytes(&w->received, w->what);
    w->counts = calloc(2 * (size_t)w->size, sizeof *w->counts);
    w->displs = calloc(2 * (size_t)w->size, sizeof *w->displs);
    w->send = buffer(w->send_bytes);
    w->recv = buffer(w->recv_bytes);
    if (w->counts != NULL && w->displs != NULL && w->send != NULL && w->recv != NULL)
        return 0;
    snprintf(why, WHY, "no memory for buffers of %zu bytes", w->send_bytes + w->recv_bytes);
    return -1;
}

/* Returns whether the block that this rank exchanges with another rank is empty. */
static int is_empty(const workload *w, int other)
{
    if (!w->form.uneven)
        return 0;
    if (collective_has(w->what, REDUCES))
        return other % 2 == 1;
    if (collective_has(w->what, BLOCKS_IN))
        return (w->rank + other) % 3 == 1 || w->rank % 3 == 2 || other % 3 == 2;
    return other % 3 == 1;
}

/* Computes the number of items in each block, and its displacement. Blocks of a reduced vector are adjacent;
 * other blocks begin at equal distances. */
static void place_blocks(const workload *w, int items, int *counts, int *displs)
{
    int next = 0;
    for (int r = 0; r < w->size; r++) {
        counts[r] = is_empty(w, r) ? 0 : items;
        displs[r] = next;
        next += !collective_has(w->what, VECTOR) ? 0 : collective_has(w->what, REDUCES) ? counts[r] : items;
    }
}

/* Sets the arguments of the call. MPI ignores some arguments on a rank that passes MPI_IN_PLACE. It also ignores some
 * on ranks other than the root. */
static void set_arguments(workload *w)
{
    int here = workload_in_place(w), root = w->rank == w->form.root, scatters = w->what == SCATTER;
    int to_root = collective_has(w->what, TO_ROOT), reduces = collective_has(w->what, REDUCES);
    w->args.from = here && !scatters ? MPI_IN_PLACE : w->send;
    w->args.to = here && scatters ? MPI_IN_PLACE : w->recv;
    w->args.from_count = w->counts[w->size + w->rank];
    w->args.to_count = w->received.count;
    w->args.from_type = w->sent.type;
    w->args.to_type = w->received.type;
    w->args.from_counts = w->counts + w->size;
    w->args.from_displs = w->displs + w->size;
    if (!w->form.nulls)
        return;
    if (scatters ? !root : here) {
        w->args.from = here ? MPI_IN_PLACE : NULL;
        w->args.from_count = 0;
        w->args.from_type = MPI_DATATYPE_NULL;
        w->args.from_counts = w->args.from_displs = NULL;
    }
    if (scatters ? here : to_root && !root) {
        w->args.to = here ? MPI_IN_PLACE : NULL;
        w->args.to_count = reduces ? w->received.count : 0;
        w->args.to_type = reduces ? w->received.type : MPI_DATATYPE_NULL;
    }
}

int workload_make(workload *w, collective what, form f, int count, MPI_Comm comm, char *why)
{
    memset(w, 0, sizeof *w);
    w->what = what;
    w->form = f;
    w->count = count;
    w->comm = comm;
    MPI_Comm_rank(comm, &w->rank);
    MPI_Comm_size(comm, &w->size);
    if (collective_has(what, VECTOR) && !collective_has(what, REDUCES) && (size_t)count * (size_t)w->size > INT_MAX) {
        snprintf(why, WHY, "%s of %d bytes on %d ranks: displacements go up to %d", collective_name(what), count, w->size, INT_MAX);
        return -1;
    }
    int elements = block(what, count, w->size);
    w->sent = item_shape(what, f, elements, w->rank);
    w->received = item_shape(what, f, elements, w->rank + 1);
    if (item_commit(&w->sent, what) != MPI_SUCCESS || item_commit(&w->received, what) != MPI_SUCCESS || operation_make(f.op, &w->op) != MPI_SUCCESS) {
        snprintf(why, WHY, "no type or no operation for %s", collective_name(what));
        return -1;
    }
    if (allocate(w, why)) {
        workload_free(w);
        return -1;
    }
    place_blocks(w, w->received.count, w->counts, w->displs);
    place_blocks(w, w->sent.count, w->counts + w->size, w->displs + w->size);
    set_arguments(w);
    return 0;
}

/* Frees a workload. It does nothing if the workload was never made. */
void workload_free(workload *w)
{
    if (w->counts != NULL || w->send != NULL) {
        item_free(&w->sent, w->what);
        item_free(&w->received, w->what);
        operation_free(&w->op);
    }
    free(w->send);
    free(w->recv);
    free(w->counts);
    free(w->displs);
    memset(w, 0, sizeof *w);
}

long workload_moved(const workload *w)
{
    if (divides(w->what))
        return (long)w->send_bytes;
    return (long)w->count * (long)element_bytes(w->what);
}

/* Makes the call, or begins its nonblocking form if there is a request. */
static int call(const workload *w, MPI_Request *request)
{
    const int root = w->form.root, scount = w->args.from_count, rcount = w->args.to_count;
    const int *scounts = w->args.from_counts, *sdispls = w->args.from_displs, *rcounts = w->counts, *rdispls = w->displs;
    const MPI_Datatype stype = w->args.from_type, rtype = w->args.to_type;
    const MPI_Op op = w->op;
    const MPI_Comm on = w->comm;
    const void *send = w->args.from;
    void *recv = w->args.to;
    switch (w->what) {
#define OPEN(...) __VA_ARGS__
#define CASE(number, name, lower, counts, properties, bytes, arguments) \
    case number: return request != NULL ? MPI_I##lower(OPEN arguments, request) : MPI_##name arguments;
        EACH_COLLECTIVE(CASE)
    case COLLECTIVES: break;
    }
#undef CASE
    return MPI_ERR_INTERN;
}

int workload_start(const workload *w, MPI_Request *request) { return call(w, request); }

int workload_call(const workload *w)
{
    MPI_Request request;
    if (!w->form.nonblocking)
        return call(w, NULL);
    int error = call(w, &request);
    return error == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
}
