/* calls: makes every blocking collective call, on a world of four ranks and on its two halves, with MPI_IN_PLACE
 * and with derived types. Each call has a different size. calls.F90 makes the same calls. */
#include <mpi.h>
#include <stdlib.h>

static int buffer[2][4096];

static void vectors(int rank, MPI_Comm on)
{
    int counts[4] = {1, 2, 3, 4}, displs[4] = {0, 1, 3, 6}, mine[4], steps[4];
    for (int i = 0; i < 4; i++) {
        mine[i] = rank + 1;
        steps[i] = 4 * i;
    }
    MPI_Allgatherv(buffer[0], counts[rank], MPI_INT, buffer[1], counts, displs, MPI_INT, on);
    MPI_Alltoallv(buffer[0], mine, steps, MPI_INT, buffer[1], counts, displs, MPI_INT, on);
    MPI_Reduce_scatter(buffer[0], buffer[1], counts, MPI_INT, MPI_SUM, on);
}

static void fixed(int rank, MPI_Comm on)
{
    int *a = buffer[0], *b = buffer[1];
    MPI_Allgather(a, 3, MPI_INT, b, 3, MPI_INT, on);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 3, MPI_INT, on);
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, on);
    MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, on);
    MPI_Barrier(on);
    MPI_Bcast(a, 0, MPI_INT, 0, on);
    MPI_Exscan(a, b, 1, MPI_DOUBLE, MPI_SUM, on);
    MPI_Gather(rank == 1 ? MPI_IN_PLACE : a, 1, MPI_INT, b, 1, MPI_INT, 1, on);
    MPI_Reduce(a, b, 5, MPI_INT, MPI_MAX, 2, on);
    MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, on);
    MPI_Scan(a, b, 3, MPI_INT, MPI_SUM, on);
    MPI_Scatter(a, 7, MPI_INT, rank == 3 ? MPI_IN_PLACE : b, 7, MPI_INT, 3, on);
}

static void derived(MPI_Comm on)
{
    MPI_Datatype every_second;
    MPI_Type_vector(100, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Bcast(buffer[0], 1, every_second, 0, on);
    MPI_Type_free(&every_second);
    for (int i = 0; i < 6; i++)
        MPI_Bcast(buffer[0], 100, MPI_INT, 0, on);
}

/* Frees a communicator and creates another one, which gets the same handle. It also makes calls on an
 * intercommunicator, which must not appear in the trace. */
static void halves(int rank, MPI_Comm on)
{
    MPI_Comm half, both;
    for (int i = 0; i < 2; i++) {
        MPI_Comm_split(on, rank % 2, rank, &half);
        MPI_Allreduce(buffer[0], buffer[1], 4, MPI_INT, MPI_SUM, half);
        MPI_Comm_free(&half);
    }
    MPI_Comm_split(on, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, on, 1 - rank % 2, 5, &both);
    MPI_Barrier(both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    vectors(rank, MPI_COMM_WORLD);
    fixed(rank, MPI_COMM_WORLD);
    derived(MPI_COMM_WORLD);
    halves(rank, MPI_COMM_WORLD);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
