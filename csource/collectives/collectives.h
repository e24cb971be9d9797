/* The collectives. */
#ifndef TUTTI_COLLECTIVES_H
#define TUTTI_COLLECTIVES_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Properties of a collective. */
enum {
    REDUCES = 1,      /* it combines values with an operation */
    ROOTED = 2,       /* one rank, the root, has the data before or after the call */
    VECTOR = 4,       /* each rank has a count of its own */
    SYNCHRONIZES = 8, /* every rank enters the call before any rank leaves it */
    OVERLAPS = 16,    /* its nonblocking form, which computation can overlap, is in EACH_START */
};

/* Applies X(number, Name, name, counts, properties) to the collectives in alphabetical order. Name is the name in MPI's
 * functions. `counts` is COUNTED if calls have a count of elements, else UNCOUNTED. The list in Go is coll.Collectives. */
#define EACH_COLLECTIVE(X) \
    X(ALLGATHER, Allgather, allgather, COUNTED, SYNCHRONIZES | OVERLAPS) \
    X(ALLGATHERV, Allgatherv, allgatherv, COUNTED, VECTOR | SYNCHRONIZES) \
    X(ALLREDUCE, Allreduce, allreduce, COUNTED, REDUCES | SYNCHRONIZES | OVERLAPS) \
    X(ALLTOALL, Alltoall, alltoall, COUNTED, SYNCHRONIZES | OVERLAPS) \
    X(ALLTOALLV, Alltoallv, alltoallv, COUNTED, VECTOR) \
    X(BARRIER, Barrier, barrier, UNCOUNTED, SYNCHRONIZES) \
    X(BCAST, Bcast, bcast, COUNTED, ROOTED | OVERLAPS) \
    X(EXSCAN, Exscan, exscan, COUNTED, REDUCES) \
    X(GATHER, Gather, gather, COUNTED, ROOTED) \
    X(REDUCE, Reduce, reduce, COUNTED, REDUCES | ROOTED | OVERLAPS) \
    X(REDUCE_SCATTER, Reduce_scatter, reduce_scatter, COUNTED, REDUCES | VECTOR | SYNCHRONIZES) \
    X(REDUCE_SCATTER_BLOCK, Reduce_scatter_block, reduce_scatter_block, COUNTED, REDUCES | SYNCHRONIZES) \
    X(SCAN, Scan, scan, COUNTED, REDUCES) \
    X(SCATTER, Scatter, scatter, COUNTED, ROOTED)

/* Applies X(number, call) to the collectives. The calls use these names, which the file that includes the list defines:
 * `from`, `from_count`, `from_type`, `from_counts` and `from_displs` for what a rank sends; `to`, `count`, `type`, `counts` and
 * `displs` for what it receives; `op`, `root` and `comm`. */
#define EACH_CALL(X) \
    X(ALLGATHER, MPI_Allgather(from, from_count, from_type, to, count, type, comm)) \
    X(ALLGATHERV, MPI_Allgatherv(from, from_count, from_type, to, counts, displs, type, comm)) \
    X(ALLREDUCE, MPI_Allreduce(from, to, count, type, op, comm)) \
    X(ALLTOALL, MPI_Alltoall(from, from_count, from_type, to, count, type, comm)) \
    X(ALLTOALLV, MPI_Alltoallv(from, from_counts, from_displs, from_type, to, counts, displs, type, comm)) \
    X(BARRIER, MPI_Barrier(comm)) \
    X(BCAST, MPI_Bcast(to, count, type, root, comm)) \
    X(EXSCAN, MPI_Exscan(from, to, count, type, op, comm)) \
    X(GATHER, MPI_Gather(from, from_count, from_type, to, count, type, root, comm)) \
    X(REDUCE, MPI_Reduce(from, to, count, type, op, root, comm)) \
    X(REDUCE_SCATTER, MPI_Reduce_scatter(from, to, counts, type, op, comm)) \
    X(REDUCE_SCATTER_BLOCK, MPI_Reduce_scatter_block(from, to, count, type, op, comm)) \
    X(SCAN, MPI_Scan(from, to, count, type, op, comm)) \
    X(SCATTER, MPI_Scatter(from, from_count, from_type, to, count, type, root, comm))

/* Applies X(number, call) to the collectives that have the property OVERLAPS. The calls begin the nonblocking form. They use
 * the names of EACH_CALL, and `request`. */
#define EACH_START(X) \
    X(ALLGATHER, MPI_Iallgather(from, from_count, from_type, to, count, type, comm, request)) \
    X(ALLREDUCE, MPI_Iallreduce(from, to, count, type, op, comm, request)) \
    X(ALLTOALL, MPI_Ialltoall(from, from_count, from_type, to, count, type, comm, request)) \
    X(BCAST, MPI_Ibcast(to, count, type, root, comm, request)) \
    X(REDUCE, MPI_Ireduce(from, to, count, type, op, root, comm, request))

#define NUMBER(number, mpi, name, counts, properties) number,
typedef enum { EACH_COLLECTIVE(NUMBER) COLLECTIVES } collective;
#undef NUMBER

const char *collective_name(collective what);
int collective_named(const char *name, size_t n, collective *what); /* whether n letters are a name */
int collective_has(collective what, int property);

#pragma GCC visibility pop

#endif
