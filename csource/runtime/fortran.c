/* Wrappers for Fortran. Open MPI's Fortran bindings call PMPI functions, so wrappers in C do not see these calls. The
 * wrappers in this file replace the Fortran functions. The header mpif.h and the module mpi call mpi_bcast_. The
 * module mpi_f08 calls ompi_bcast_f with the same arguments. MPICH's Fortran bindings call MPI functions of C, except
 * for calls without a buffer in the module mpi_f08. The names here end in one underscore, like those of the GNU, Intel,
 * LLVM and NVIDIA compilers. The MPI ABI has no Fortran. */
#include "tutti.h"

#if defined(OPEN_MPI) || defined(MPICH_VERSION)

typedef MPI_Fint *integer;

static inline void send_to(integer error, int value)
{
    if (error != NULL)
        *error = value;
}

#define COMM(c) PMPI_Comm_f2c(*(c))

#ifdef OPEN_MPI

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of Fortran integers are passed on as they are");

/* Fortran common blocks whose addresses stand for MPI_IN_PLACE and MPI_BOTTOM. They exist only in Fortran
 * applications. */
extern int mpi_fortran_in_place_ __attribute__((weak)), mpi_fortran_bottom_ __attribute__((weak));

static void *place(char *p)
{
    if (p == (char *)&mpi_fortran_in_place_)
        return MPI_IN_PLACE;
    return p == (char *)&mpi_fortran_bottom_ ? MPI_BOTTOM : p;
}

#define TYPE(t) PMPI_Type_f2c(*(t))
#define OP(o) PMPI_Op_f2c(*(o))
#define BOTH_NAMES(name) \
    extern __typeof__(ompi_##name##_f) mpi_##name##_ __attribute__((alias("ompi_" #name "_f")))

void ompi_init_f(integer error) { send_to(error, MPI_Init(NULL, NULL)); }
BOTH_NAMES(init);

void ompi_init_thread_f(integer required, integer provided, integer error)
{
    send_to(error, MPI_Init_thread(NULL, NULL, *required, provided));
}
BOTH_NAMES(init_thread);

void ompi_finalize_f(integer error) { send_to(error, MPI_Finalize()); }
BOTH_NAMES(finalize);

void ompi_allgather_f(char *send, integer scount, integer stype, char *recv, integer rcount, integer rtype, integer on, integer error)
{
    send_to(error, MPI_Allgather(place(send), *scount, TYPE(stype), place(recv), *rcount, TYPE(rtype), COMM(on)));
}
BOTH_NAMES(allgather);

void ompi_allgatherv_f(char *send, integer scount, integer stype, char *recv, integer rcounts, integer displs, integer rtype,
                       integer on, integer error)
{
    send_to(error, MPI_Allgatherv(place(send), *scount, TYPE(stype), place(recv), rcounts, displs, TYPE(rtype), COMM(on)));
}
BOTH_NAMES(allgatherv);

void ompi_allreduce_f(char *send, char *recv, integer count, integer type, integer op, integer on, integer error)
{
    send_to(error, MPI_Allreduce(place(send), place(recv), *count, TYPE(type), OP(op), COMM(on)));
}
BOTH_NAMES(allreduce);

void ompi_alltoall_f(char *send, integer scount, integer stype, char *recv, integer rcount, integer rtype, integer on, integer error)
{
    send_to(error, MPI_Alltoall(place(send), *scount, TYPE(stype), place(recv), *rcount, TYPE(rtype), COMM(on)));
}
BOTH_NAMES(alltoall);

void ompi_alltoallv_f(char *send, integer scounts, integer sdispls, integer stype, char *recv, integer rcounts, integer rdispls,
                      integer rtype, integer on, integer error)
{
    send_to(error, MPI_Alltoallv(place(send), scounts, sdispls, TYPE(stype), place(recv), rcounts, rdispls, TYPE(rtype), COMM(on)));
}
BOTH_NAMES(alltoallv);

void ompi_barrier_f(integer on, integer error) { send_to(error, MPI_Barrier(COMM(on))); }
BOTH_NAMES(barrier);

void ompi_bcast_f(char *buf, integer count, integer type, integer root, integer on, integer error)
{
    send_to(error, MPI_Bcast(place(buf), *count, TYPE(type), *root, COMM(on)));
}
BOTH_NAMES(bcast);

void ompi_exscan_f(char *send, char *recv, integer count, integer type, integer op, integer on, integer error)
{
    send_to(error, MPI_Exscan(place(send), place(recv), *count, TYPE(type), OP(op), COMM(on)));
}
BOTH_NAMES(exscan);

void ompi_gather_f(char *send, integer scount, integer stype, char *recv, integer rcount, integer rtype, integer root, integer on,
                   integer error)
{
    send_to(error, MPI_Gather(place(send), *scount, TYPE(stype), place(recv), *rcount, TYPE(rtype), *root, COMM(on)));
}
BOTH_NAMES(gather);

void ompi_reduce_f(char *send, char *recv, integer count, integer type, integer op, integer root, integer on, integer error)
{
    send_to(error, MPI_Reduce(place(send), place(recv), *count, TYPE(type), OP(op), *root, COMM(on)));
}
BOTH_NAMES(reduce);

void ompi_reduce_scatter_f(char *send, char *recv, integer rcounts, integer type, integer op, integer on, integer error)
{
    send_to(error, MPI_Reduce_scatter(place(send), place(recv), rcounts, TYPE(type), OP(op), COMM(on)));
}
BOTH_NAMES(reduce_scatter);

void ompi_reduce_scatter_block_f(char *send, char *recv, integer rcount, integer type, integer op, integer on, integer error)
{
    send_to(error, MPI_Reduce_scatter_block(place(send), place(recv), *rcount, TYPE(type), OP(op), COMM(on)));
}
BOTH_NAMES(reduce_scatter_block);

void ompi_scan_f(char *send, char *recv, integer count, integer type, integer op, integer on, integer error)
{
    send_to(error, MPI_Scan(place(send), place(recv), *count, TYPE(type), OP(op), COMM(on)));
}
BOTH_NAMES(scan);

void ompi_scatter_f(char *send, integer scount, integer stype, char *recv, integer rcount, integer rtype, integer root, integer on,
                    integer error)
{
    send_to(error, MPI_Scatter(place(send), *scount, TYPE(stype), place(recv), *rcount, TYPE(rtype), *root, COMM(on)));
}
BOTH_NAMES(scatter);

#elif defined(MPICH_VERSION)

void mpi_init_f08_(integer error) { send_to(error, MPI_Init(NULL, NULL)); }

void mpi_init_thread_f08_(integer required, integer provided, integer error)
{
    send_to(error, MPI_Init_thread(NULL, NULL, *required, provided));
}

void mpi_finalize_f08_(integer error) { send_to(error, MPI_Finalize()); }

void mpi_barrier_f08_(integer on, integer error) { send_to(error, MPI_Barrier(COMM(on))); }

#endif

#endif
