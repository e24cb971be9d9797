/* The functions and types of MPI that exploration uses, for a simulated job. One process represents all ranks,
 * as if all measured the same times. The clock is simulated, too. */
#ifndef TUTTI_SIMULATED_MPI_H
#define TUTTI_SIMULATED_MPI_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define clock_gettime simulated_clock
int simulated_clock(clockid_t id, struct timespec *t);

typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_T_cvar_handle, MPI_T_enum;
typedef ptrdiff_t MPI_Aint, MPI_Count;

enum { MPI_COMM_NULL = -1, MPI_COMM_WORLD };
enum { MPI_SUCCESS, MPI_MAX_PROCESSOR_NAME = 64, MPI_MAX_LIBRARY_VERSION_STRING = 64 };
enum { MPI_MAX, MPI_MIN };
enum { MPI_BYTE = 1, MPI_INT = 4, MPI_INT64_T = 8, MPI_DOUBLE = 8 }; /* types are their sizes */
#define MPI_IN_PLACE ((void *)1)

int PMPI_Abort(MPI_Comm on, int code);
int PMPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm on);
int PMPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm on);
int PMPI_Comm_rank(MPI_Comm on, int *rank);
int PMPI_Get_processor_name(char *name, int *length);

#endif
