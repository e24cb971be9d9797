/* A profiling tool. MPI_Init allocates the tool's counter and MPI_Finalize prints it. If HIDE is defined, the tool
 * counts calls of MPI_Bcast. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long *calls;

int MPI_Init(int *argc, char ***argv)
{
    int error = PMPI_Init(argc, argv);
    calls = calloc(1, sizeof *calls);
    return error;
}

#ifdef HIDE
int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm on)
{
    ++*calls;
    return PMPI_Bcast(data, n, type, root, on);
}
#endif

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("tool: %ld\n", *calls);
    return PMPI_Finalize();
}
