/* Wrappers for Fortran. Open MPI's Fortran bindings call PMPI functions, so wrappers in C do not see these calls. The
 * wrappers in this file replace the Fortran functions. The header mpif.h and the module mpi call mpi_bcast_. The
 * module mpi_f08 calls ompi_bcast_f with the same arguments. MPICH's Fortran bindings call MPI functions of C, except
 * for calls without a buffer in the module mpi_f08. The names here end in one underscore, like those of the GNU, Intel,
 * LLVM and NVIDIA compilers. The MPI ABI has no Fortran. */
#include "calls.h"
#include "tutti.h"

#if defined(OPEN_MPI) || defined(MPICH_VERSION)

typedef MPI_Fint *integer;

static inline void send_to(integer error, int value)
{
    if (error != NULL)
        *error = value;
}

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

#define FORTRAN_PARAMETER(name) FORTRAN_PARAMETER_##name
#define FORTRAN_PARAMETER_send char *send
#define FORTRAN_PARAMETER_scount integer scount
#define FORTRAN_PARAMETER_scounts integer scounts
#define FORTRAN_PARAMETER_sdispls integer sdispls
#define FORTRAN_PARAMETER_stype integer stype
#define FORTRAN_PARAMETER_recv char *recv
#define FORTRAN_PARAMETER_rcount integer rcount
#define FORTRAN_PARAMETER_rcounts integer rcounts
#define FORTRAN_PARAMETER_rdispls integer rdispls
#define FORTRAN_PARAMETER_rtype integer rtype
#define FORTRAN_PARAMETER_op integer op
#define FORTRAN_PARAMETER_root integer root
#define FORTRAN_PARAMETER_on integer on

#define TO_C(name) TO_C_##name
#define TO_C_send place(send)
#define TO_C_scount *scount
#define TO_C_scounts scounts
#define TO_C_sdispls sdispls
#define TO_C_stype PMPI_Type_f2c(*stype)
#define TO_C_recv place(recv)
#define TO_C_rcount *rcount
#define TO_C_rcounts rcounts
#define TO_C_rdispls rdispls
#define TO_C_rtype PMPI_Type_f2c(*rtype)
#define TO_C_op PMPI_Op_f2c(*op)
#define TO_C_root *root
#define TO_C_on PMPI_Comm_f2c(*on)

#define FORTRAN_CALL(number, name, lower, counts, properties, bytes, arguments) \
    void ompi_##lower##_f(LIST(FORTRAN_PARAMETER, arguments), integer error) { send_to(error, MPI_##name(LIST(TO_C, arguments))); } \
    BOTH_NAMES(lower);
EACH_COLLECTIVE(FORTRAN_CALL)

#elif defined(MPICH_VERSION)

void mpi_init_f08_(integer error) { send_to(error, MPI_Init(NULL, NULL)); }

void mpi_init_thread_f08_(integer required, integer provided, integer error)
{
    send_to(error, MPI_Init_thread(NULL, NULL, *required, provided));
}

void mpi_finalize_f08_(integer error) { send_to(error, MPI_Finalize()); }

void mpi_barrier_f08_(integer on, integer error) { send_to(error, MPI_Barrier(PMPI_Comm_f2c(*on))); }

#endif

#endif
