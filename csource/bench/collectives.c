#include "native.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[COLLECTIVES] = {
    "allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast", "exscan",
    "gather", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter",
};

const char *collective_name(collective what) { return names[what]; }

int collective_find(const char *name)
{
    for (int i = 0; i < COLLECTIVES; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

int collective_reduces(collective what)
{
    return what == ALLREDUCE || what == EXSCAN || what == REDUCE || what == REDUCE_SCATTER ||
           what == REDUCE_SCATTER_BLOCK || what == SCAN;
}

/* Elements of the datatype: MPI_FLOAT for reductions, MPI_CHAR otherwise; at
 * least one of a message that is not empty. */
int collective_count(collective what, long bytes)
{
    long size = collective_reduces(what) ? (long)sizeof(float) : 1;
    return bytes == 0 ? 0 : bytes < size ? 1 : (int)(bytes / size);
}

/* Elements of one rank's block where the vector is scattered: equal, since there
 * are algorithms that demand it, so rounded down, but at least one. */
static int block(int count, int size) { return count == 0 ? 0 : count < size ? 1 : count / size; }

static void extents(collective what, int count, int rank, int size, size_t *send, size_t *recv)
{
    size_t one = (size_t)count, all = one * (size_t)size, root = rank == 0 ? all : 0;
    size_t f = sizeof(float);
    *send = *recv = 0;
    switch (what) {
    case ALLGATHER: case ALLGATHERV: *send = one; *recv = all; break;
    case ALLTOALL: case ALLTOALLV: *send = *recv = all; break;
    case BCAST: *recv = one; break;
    case GATHER: *send = one; *recv = root; break;
    case SCATTER: *send = root; *recv = one; break;
    case ALLREDUCE: case SCAN: case EXSCAN: *send = *recv = one * f; break;
    case REDUCE: *send = one * f; *recv = rank == 0 ? one * f : 0; break;
    case REDUCE_SCATTER: case REDUCE_SCATTER_BLOCK:
        *recv = (size_t)block(count, size) * f;
        *send = *recv * (size_t)size;
        break;
    case BARRIER: case COLLECTIVES: break;
    }
}

/* What a rank allocates for the workload. */
size_t workload_bytes(collective what, int count, int rank, int size)
{
    size_t send, recv;
    extents(what, count, rank, size, &send, &recv);
    return send + recv;
}

static char *buffer(size_t bytes)
{
    void *p = NULL;
    if (posix_memalign(&p, 4096, bytes + 1) != 0)
        return NULL;
    memset(p, 0, bytes + 1); /* the pages exist before they are timed */
    return p;
}

int workload_make(workload *w, collective what, long bytes, int count, MPI_Comm comm, char *why)
{
    memset(w, 0, sizeof *w);
    w->what = what;
    w->bytes = bytes;
    w->count = count;
    w->comm = comm;
    MPI_Comm_rank(comm, &w->rank);
    MPI_Comm_size(comm, &w->size);
    extents(what, count, w->rank, w->size, &w->send_bytes, &w->recv_bytes);
    if ((what == ALLGATHERV || what == ALLTOALLV) && (size_t)count * (size_t)w->size > INT_MAX) {
        snprintf(why, WHY, "%s of %d bytes on %d ranks: displacements go up to %d", names[what], count, w->size, INT_MAX);
        return -1;
    }
    w->counts = calloc((size_t)w->size, sizeof *w->counts);
    w->displs = calloc((size_t)w->size, sizeof *w->displs);
    w->send = buffer(w->send_bytes);
    w->recv = buffer(w->recv_bytes);
    if (w->counts == NULL || w->displs == NULL || w->send == NULL || w->recv == NULL) {
        snprintf(why, WHY, "no memory for buffers of %zu bytes", w->send_bytes + w->recv_bytes);
        workload_free(w);
        return -1;
    }
    for (int r = 0; r < w->size; r++) {
        w->counts[r] = what == REDUCE_SCATTER ? block(count, w->size) : count;
        w->displs[r] = what == ALLGATHERV || what == ALLTOALLV ? r * count : 0;
    }
    return 0;
}

void workload_free(workload *w)
{
    free(w->send);
    free(w->recv);
    free(w->counts);
    free(w->displs);
    memset(w, 0, sizeof *w);
}

long workload_moved(const workload *w)
{
    if (w->what == REDUCE_SCATTER || w->what == REDUCE_SCATTER_BLOCK)
        return (long)w->send_bytes;
    return (long)w->count * (collective_reduces(w->what) ? (long)sizeof(float) : 1);
}

int workload_call(const workload *w)
{
    const int n = w->count;
    switch (w->what) {
    case ALLGATHER: return MPI_Allgather(w->send, n, MPI_CHAR, w->recv, n, MPI_CHAR, w->comm);
    case ALLGATHERV: return MPI_Allgatherv(w->send, n, MPI_CHAR, w->recv, w->counts, w->displs, MPI_CHAR, w->comm);
    case ALLREDUCE: return MPI_Allreduce(w->send, w->recv, n, MPI_FLOAT, MPI_SUM, w->comm);
    case ALLTOALL: return MPI_Alltoall(w->send, n, MPI_CHAR, w->recv, n, MPI_CHAR, w->comm);
    case ALLTOALLV:
        return MPI_Alltoallv(w->send, w->counts, w->displs, MPI_CHAR, w->recv, w->counts, w->displs, MPI_CHAR, w->comm);
    case BARRIER: return MPI_Barrier(w->comm);
    case BCAST: return MPI_Bcast(w->recv, n, MPI_CHAR, 0, w->comm);
    case EXSCAN: return MPI_Exscan(w->send, w->recv, n, MPI_FLOAT, MPI_SUM, w->comm);
    case GATHER: return MPI_Gather(w->send, n, MPI_CHAR, w->recv, n, MPI_CHAR, 0, w->comm);
    case REDUCE: return MPI_Reduce(w->send, w->recv, n, MPI_FLOAT, MPI_SUM, 0, w->comm);
    case REDUCE_SCATTER: return MPI_Reduce_scatter(w->send, w->recv, w->counts, MPI_FLOAT, MPI_SUM, w->comm);
    case REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block(w->send, w->recv, block(n, w->size), MPI_FLOAT, MPI_SUM, w->comm);
    case SCAN: return MPI_Scan(w->send, w->recv, n, MPI_FLOAT, MPI_SUM, w->comm);
    case SCATTER: return MPI_Scatter(w->send, n, MPI_CHAR, w->recv, n, MPI_CHAR, 0, w->comm);
    case COLLECTIVES: break;
    }
    return MPI_ERR_INTERN;
}

/* The pattern. Byte i of what rank from sends to rank to (-1: to all alike) ... */
static unsigned char byte_of(int from, int to, size_t i, int salt)
{
    return (unsigned char)((size_t)from * 31 + (size_t)(to + 1) * 101 + i + (i >> 8) * 17 + (size_t)salt);
}

/* ... and element i of a rank's vector. Sums of these are exact in a float up to
 * two million ranks, whatever the order. */
static int number_of(int rank, size_t i, int salt) { return (int)(((size_t)rank + i + (size_t)salt) % 7); }

/* The sum over the first n ranks, for i modulo 7 in table. */
static void sums(int n, int salt, float table[7])
{
    for (size_t i = 0; i < 7; i++) {
        double sum = 0;
        for (int r = 0; r < n; r++)
            sum += number_of(r, i, salt);
        table[i] = (float)sum;
    }
}

static void fill_blocks(char *to, size_t n, int from, int first, int blocks, int salt)
{
    for (int b = 0; b < blocks; b++)
        for (size_t i = 0; i < n; i++)
            *to++ = (char)byte_of(from, first < 0 ? -1 : first + b, i, salt);
}

/* Puts the pattern into the buffers that are sent and another byte everywhere
 * into those that are received. */
void workload_fill(workload *w, int salt)
{
    size_t n = (size_t)w->count;
    memset(w->recv, 0xa5, w->recv_bytes + 1);
    switch (w->what) {
    case ALLGATHER: case ALLGATHERV: case GATHER: fill_blocks(w->send, n, w->rank, -1, 1, salt); break;
    case ALLTOALL: case ALLTOALLV: fill_blocks(w->send, n, w->rank, 0, w->size, salt); break;
    case SCATTER: fill_blocks(w->send, n, 0, 0, w->rank == 0 ? w->size : 0, salt); break;
    case BCAST: fill_blocks(w->recv, n, 0, -1, w->rank == 0 ? 1 : 0, salt); break;
    default:
        for (size_t i = 0; i < w->send_bytes / sizeof(float); i++)
            ((float *)(void *)w->send)[i] = (float)number_of(w->rank, i, salt);
    }
}

static int right_blocks(const workload *w, int first, int blocks, int to, int salt, char *why)
{
    size_t n = (size_t)w->count;
    for (int b = 0; b < blocks; b++)
        for (size_t i = 0; i < n; i++) {
            unsigned char got = (unsigned char)w->recv[(size_t)b * n + i], want = byte_of(first + b, to, i, salt);
            if (got != want) {
                snprintf(why, WHY, "wrong data: rank %d, byte %zu from rank %d is %d, want %d", w->rank, i, first + b, got, want);
                return 0;
            }
        }
    return 1;
}

static int right_sums(const workload *w, int ranks, size_t offset, int salt, char *why)
{
    float table[7];
    const float *got = (const float *)(const void *)w->recv;
    sums(ranks, salt, table);
    for (size_t i = 0; i < w->recv_bytes / sizeof(float); i++) {
        float want = table[(i + offset) % 7];
        if (!(got[i] == want)) {
            snprintf(why, WHY, "wrong data: rank %d, element %zu is %g, want %g", w->rank, i, (double)got[i], (double)want);
            return 0;
        }
    }
    return 1;
}

/* Whether the last call after workload_fill left what MPI promises. */
int workload_right(const workload *w, int salt, char *why)
{
    switch (w->what) {
    case ALLGATHER: case ALLGATHERV: return right_blocks(w, 0, w->size, -1, salt, why);
    case GATHER: return right_blocks(w, 0, w->rank == 0 ? w->size : 0, -1, salt, why);
    case ALLTOALL: case ALLTOALLV: return right_blocks(w, 0, w->size, w->rank, salt, why);
    case SCATTER: return right_blocks(w, 0, 1, w->rank, salt, why);
    case BCAST: return right_blocks(w, 0, 1, -1, salt, why);
    case ALLREDUCE: case REDUCE: return right_sums(w, w->size, 0, salt, why);
    case SCAN: return right_sums(w, w->rank + 1, 0, salt, why);
    case EXSCAN: return w->rank == 0 || right_sums(w, w->rank, 0, salt, why);
    case REDUCE_SCATTER: case REDUCE_SCATTER_BLOCK:
        return right_sums(w, w->size, (size_t)w->rank * (size_t)block(w->count, w->size), salt, why);
    case BARRIER: case COLLECTIVES: break;
    }
    return 1;
}
