/* The collectives. */
#ifndef TUTTI_COLLECTIVES_H
#define TUTTI_COLLECTIVES_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Properties of a collective. */
enum {
    REDUCES = 1,      /* it combines values with an operation */
    FROM_ROOT = 2,    /* only the root has data before the call */
    TO_ROOT = 4,      /* only the root has a result */
    ROOTED = FROM_ROOT | TO_ROOT,
    BLOCKS_IN = 8,    /* what a rank has before the call are blocks, one for each rank; else it is one block */
    BLOCKS_OUT = 16,  /* the result of a rank are blocks, one from each rank; else it is one block */
    VECTOR = 32,      /* each rank has a count of its own */
    SYNCHRONIZES = 64, /* every rank enters the call before any rank leaves it */
    OVERLAPS = 128,   /* its nonblocking form is a collective, too: computation can overlap with the call */
    SIZES_DIFFER = 256, /* a rank knows only the size that it passes, which may differ from those of other ranks */
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
    X(ALLGATHER, Allgather, allgather, COUNTED, BLOCKS_OUT | SYNCHRONIZES | OVERLAPS, \
      bytes_of(rcount, rtype), (send, scount, stype, recv, rcount, rtype, on)) \
    X(ALLGATHERV, Allgatherv, allgatherv, COUNTED, BLOCKS_OUT | VECTOR | SYNCHRONIZES, \
      part(SUM(rcounts, rtype), c), (send, scount, stype, recv, rcounts, rdispls, rtype, on)) \
    X(ALLREDUCE, Allreduce, allreduce, COUNTED, REDUCES | SYNCHRONIZES | OVERLAPS, \
      bytes_of(rcount, rtype), (send, recv, rcount, rtype, op, on)) \
    X(ALLTOALL, Alltoall, alltoall, COUNTED, BLOCKS_IN | BLOCKS_OUT | SYNCHRONIZES | OVERLAPS, \
      bytes_of(rcount, rtype), (send, scount, stype, recv, rcount, rtype, on)) \
    X(ALLTOALLV, Alltoallv, alltoallv, COUNTED, BLOCKS_IN | BLOCKS_OUT | VECTOR | SIZES_DIFFER, \
      part(send == MPI_IN_PLACE ? SUM(rcounts, rtype) : SUM(scounts, stype), c), \
      (send, scounts, sdispls, stype, recv, rcounts, rdispls, rtype, on)) \
    X(BARRIER, Barrier, barrier, UNCOUNTED, SYNCHRONIZES, \
      0, (on)) \
    X(BCAST, Bcast, bcast, COUNTED, FROM_ROOT | OVERLAPS, \
      bytes_of(rcount, rtype), (recv, rcount, rtype, root, on)) \
    X(EXSCAN, Exscan, exscan, COUNTED, REDUCES, \
      bytes_of(rcount, rtype), (send, recv, rcount, rtype, op, on)) \
    X(GATHER, Gather, gather, COUNTED, TO_ROOT | BLOCKS_OUT, \
      send == MPI_IN_PLACE ? bytes_of(rcount, rtype) : bytes_of(scount, stype), (send, scount, stype, recv, rcount, rtype, root, on)) \
    X(REDUCE, Reduce, reduce, COUNTED, REDUCES | TO_ROOT | OVERLAPS, \
      bytes_of(rcount, rtype), (send, recv, rcount, rtype, op, root, on)) \
    X(REDUCE_SCATTER, Reduce_scatter, reduce_scatter, COUNTED, REDUCES | BLOCKS_IN | VECTOR | SYNCHRONIZES, \
      SUM(rcounts, rtype), (send, recv, rcounts, rtype, op, on)) \
    X(REDUCE_SCATTER_BLOCK, Reduce_scatter_block, reduce_scatter_block, COUNTED, REDUCES | BLOCKS_IN | SYNCHRONIZES, \
      (size_t)ranks(c) * bytes_of(rcount, rtype), (send, recv, rcount, rtype, op, on)) \
    X(SCAN, Scan, scan, COUNTED, REDUCES, \
      bytes_of(rcount, rtype), (send, recv, rcount, rtype, op, on)) \
    X(SCATTER, Scatter, scatter, COUNTED, FROM_ROOT | BLOCKS_IN, \
      recv == MPI_IN_PLACE ? bytes_of(scount, stype) : bytes_of(rcount, rtype), (send, scount, stype, recv, rcount, rtype, root, on))

#define NUMBER(number, ...) number,
typedef enum { EACH_COLLECTIVE(NUMBER) COLLECTIVES } collective;
#undef NUMBER

const char *collective_name(collective what);
int collective_named(const char *name, size_t n, collective *what); /* whether n letters are a name */
int collective_has(collective what, int property);

#pragma GCC visibility pop

#endif
