/* A list of the collectives, each in the form CALL(number, name, name in lower case, bytes, parameters, arguments,
 * fields). The fields initialize the type `arguments` of serve.h. A file that includes this list first defines:
 *
 *   CALL          what is done for each collective
 *   COUNT, PLACE  the types of counts and of displacements
 *   WIDE          1 for the functions with long counts, whose names end in _c; otherwise 0
 *
 * The bytes are the size of a call. For allgather, alltoall, gather, scatter and their vector forms, it is the size of one
 * rank's part. If parts differ, it is their mean size. For the other collectives it is the whole message. In a gather
 * and a scatter, the root may pass MPI_IN_PLACE, and MPI ignores some arguments of the other ranks. */

#define SUM(counts, type) counts_bytes(counts, WIDE, ranks(c), type)

CALL(ALLGATHER, Allgather, allgather, bytes_of(rcount, rtype),
     (const void *send, COUNT scount, MPI_Datatype stype, void *recv, COUNT rcount, MPI_Datatype rtype, MPI_Comm on),
     (send, scount, stype, recv, rcount, rtype, on),
     (.send = send, .scount = scount, .stype = stype, .recv = recv, .rcount = rcount, .rtype = rtype))
CALL(ALLGATHERV, Allgatherv, allgatherv, part(SUM(rcounts, rtype), c),
     (const void *send, COUNT scount, MPI_Datatype stype, void *recv, const COUNT rcounts[], const PLACE displs[], MPI_Datatype rtype, MPI_Comm on),
     (send, scount, stype, recv, rcounts, displs, rtype, on),
     (.send = send, .scount = scount, .stype = stype, .recv = recv, .counts = rcounts, .displs = displs, .rtype = rtype))
CALL(ALLREDUCE, Allreduce, allreduce, bytes_of(count, type),
     (const void *send, void *recv, COUNT count, MPI_Datatype type, MPI_Op op, MPI_Comm on),
     (send, recv, count, type, op, on),
     (.send = send, .recv = recv, .rcount = count, .rtype = type, .op = op))
CALL(ALLTOALL, Alltoall, alltoall, bytes_of(rcount, rtype),
     (const void *send, COUNT scount, MPI_Datatype stype, void *recv, COUNT rcount, MPI_Datatype rtype, MPI_Comm on),
     (send, scount, stype, recv, rcount, rtype, on),
     (.send = send, .scount = scount, .stype = stype, .recv = recv, .rcount = rcount, .rtype = rtype))
CALL(ALLTOALLV, Alltoallv, alltoallv, part(send == MPI_IN_PLACE ? SUM(rcounts, rtype) : SUM(scounts, stype), c),
     (const void *send, const COUNT scounts[], const PLACE sdispls[], MPI_Datatype stype, void *recv, const COUNT rcounts[],
      const PLACE rdispls[], MPI_Datatype rtype, MPI_Comm on),
     (send, scounts, sdispls, stype, recv, rcounts, rdispls, rtype, on),
     (.send = send, .scounts = scounts, .sdispls = sdispls, .stype = stype, .recv = recv, .counts = rcounts, .displs = rdispls, .rtype = rtype))
#if !WIDE
CALL(BARRIER, Barrier, barrier, 0, (MPI_Comm on), (on), ())
#endif
CALL(BCAST, Bcast, bcast, bytes_of(count, type),
     (void *buf, COUNT count, MPI_Datatype type, int root, MPI_Comm on),
     (buf, count, type, root, on),
     (.recv = buf, .rcount = count, .rtype = type, .root = root))
CALL(EXSCAN, Exscan, exscan, bytes_of(count, type),
     (const void *send, void *recv, COUNT count, MPI_Datatype type, MPI_Op op, MPI_Comm on),
     (send, recv, count, type, op, on),
     (.send = send, .recv = recv, .rcount = count, .rtype = type, .op = op))
CALL(GATHER, Gather, gather, send == MPI_IN_PLACE ? bytes_of(rcount, rtype) : bytes_of(scount, stype),
     (const void *send, COUNT scount, MPI_Datatype stype, void *recv, COUNT rcount, MPI_Datatype rtype, int root, MPI_Comm on),
     (send, scount, stype, recv, rcount, rtype, root, on),
     (.send = send, .scount = scount, .stype = stype, .recv = recv, .rcount = rcount, .rtype = rtype, .root = root))
CALL(REDUCE, Reduce, reduce, bytes_of(count, type),
     (const void *send, void *recv, COUNT count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm on),
     (send, recv, count, type, op, root, on),
     (.send = send, .recv = recv, .rcount = count, .rtype = type, .op = op, .root = root))
CALL(REDUCE_SCATTER, Reduce_scatter, reduce_scatter, SUM(rcounts, type),
     (const void *send, void *recv, const COUNT rcounts[], MPI_Datatype type, MPI_Op op, MPI_Comm on),
     (send, recv, rcounts, type, op, on),
     (.send = send, .recv = recv, .counts = rcounts, .rtype = type, .op = op))
CALL(REDUCE_SCATTER_BLOCK, Reduce_scatter_block, reduce_scatter_block, (size_t)ranks(c) * bytes_of(rcount, type),
     (const void *send, void *recv, COUNT rcount, MPI_Datatype type, MPI_Op op, MPI_Comm on),
     (send, recv, rcount, type, op, on),
     (.send = send, .recv = recv, .rcount = rcount, .rtype = type, .op = op))
CALL(SCAN, Scan, scan, bytes_of(count, type),
     (const void *send, void *recv, COUNT count, MPI_Datatype type, MPI_Op op, MPI_Comm on),
     (send, recv, count, type, op, on),
     (.send = send, .recv = recv, .rcount = count, .rtype = type, .op = op))
CALL(SCATTER, Scatter, scatter, recv == MPI_IN_PLACE ? bytes_of(scount, stype) : bytes_of(rcount, rtype),
     (const void *send, COUNT scount, MPI_Datatype stype, void *recv, COUNT rcount, MPI_Datatype rtype, int root, MPI_Comm on),
     (send, scount, stype, recv, rcount, rtype, root, on),
     (.send = send, .scount = scount, .stype = stype, .recv = recv, .rcount = rcount, .rtype = rtype, .root = root))

#undef CALL
#undef COUNT
#undef PLACE
#undef SUM
#undef WIDE
