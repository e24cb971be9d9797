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
    OVERLAPS = 16,    /* its nonblocking form is a collective, too: computation can overlap with the call */
};

/* Applies X(number, Name, name, counts, properties, bytes, arguments) to the collectives in alphabetical order. The list in Go
 * is coll.Collectives.
 *
 *   Name       the name in MPI's functions
 *   counts     COUNTED if calls have a count of elements, else UNCOUNTED
 *   bytes      the size of a call, in the terms of csource/runtime/wrap.c. For allgather, alltoall, gather, scatter and their
 *              vector forms, it is the size of one rank's part, or the mean size if parts differ. For the other collectives it
 *              is the whole message. In a gather and a scatter, the root may pass MPI_IN_PLACE, and MPI ignores some
 *              arguments of the other ranks
 *   arguments  of MPI's function, in parentheses: send, scount, stype, scounts and sdispls for what a rank sends; recv, rcount,
 *              rtype, rcounts and rdispls for what it receives; op, root, and the communicator `on`. Reductions have the type
 *              rtype, and the buffer of a bcast is recv. A file that uses the list defines these names */
#define EACH_COLLECTIVE(X) \
    X(ALLGATHER, Allgather, allgather, COUNTED, SYNCHRONIZES | OVERLAPS, \
      bytes_of(rcount, rtype), (send, scount, stype, recv, rcount, rtype, on)) \
    X(ALLGATHERV, Allgatherv, allgatherv, COUNTED, VECTOR | SYNCHRONIZES, \
      part(SUM(rcounts, rtype), c), (send, scount, stype, recv, rcounts, rdispls, rtype, on)) \
    X(ALLREDUCE, Allreduce, allreduce, COUNTED, REDUCES | SYNCHRONIZES | OVERLAPS, \
      bytes_of(rcount, rtype), (send, recv, rcount, rtype, op, on)) \
    X(ALLTOALL, Alltoall, alltoall, COUNTED, SYNCHRONIZES | OVERLAPS, \
      bytes_of(rcount, rtype), (send, scount, stype, recv, rcount, rtype, on)) \
    X(ALLTOALLV, Alltoallv, alltoallv, COUNTED, VECTOR, \
      part(send == MPI_IN_PLACE ? SUM(rcounts, rtype) : SUM(scounts, stype), c), \
      (send, scounts, sdispls, stype, recv, rcounts, rdispls, rtype, on)) \
    X(BARRIER, Barrier, barrier, UNCOUNTED, SYNCHRONIZES, \
      0, (on)) \
    X(BCAST, Bcast, bcast, COUNTED, ROOTED | OVERLAPS, \
      bytes_of(rcount, rtype), (recv, rcount, rtype, root, on)) \
    X(EXSCAN, Exscan, exscan, COUNTED, REDUCES, \
      bytes_of(rcount, rtype), (send, recv, rcount, rtype, op, on)) \
    X(GATHER, Gather, gather, COUNTED, ROOTED, \
      send == MPI_IN_PLACE ? bytes_of(rcount, rtype) : bytes_of(scount, stype), (send, scount, stype, recv, rcount, rtype, root, on)) \
    X(REDUCE, Reduce, reduce, COUNTED, REDUCES | ROOTED | OVERLAPS, \
      bytes_of(rcount, rtype), (send, recv, rcount, rtype, op, root, on)) \
    X(REDUCE_SCATTER, Reduce_scatter, reduce_scatter, COUNTED, REDUCES | VECTOR | SYNCHRONIZES, \
      SUM(rcounts, rtype), (send, recv, rcounts, rtype, op, on)) \
    X(REDUCE_SCATTER_BLOCK, Reduce_scatter_block, reduce_scatter_block, COUNTED, REDUCES | SYNCHRONIZES, \
      (size_t)ranks(c) * bytes_of(rcount, rtype), (send, recv, rcount, rtype, op, on)) \
    X(SCAN, Scan, scan, COUNTED, REDUCES, \
      bytes_of(rcount, rtype), (send, recv, rcount, rtype, op, on)) \
    X(SCATTER, Scatter, scatter, COUNTED, ROOTED, \
      recv == MPI_IN_PLACE ? bytes_of(scount, stype) : bytes_of(rcount, rtype), (send, scount, stype, recv, rcount, rtype, root, on))

#define NUMBER(number, ...) number,
typedef enum { EACH_COLLECTIVE(NUMBER) COLLECTIVES } collective;
#undef NUMBER

const char *collective_name(collective what);
int collective_named(const char *name, size_t n, collective *what); /* whether n letters are a name */
int collective_has(collective what, int property);

#pragma GCC visibility pop

#endif
