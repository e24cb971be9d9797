/* brief: creates 3000 communicators, one after another. It calls a few collectives on each communicator and frees
 * it. Rank 0 prints the number of correct sums. An MPI library can have about 2000 communicators at once. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, right = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 3000; i++) {
        MPI_Comm one;
        MPI_Comm_dup(MPI_COMM_WORLD, &one);
        for (int k = 0; k < 6; k++) {
            int mine = rank + k, sum = 0;
            MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, one);
            right += sum == size * k + size * (size - 1) / 2;
        }
        MPI_Comm_free(&one);
    }
    if (rank == 0)
        printf("%d right\n", right);
    MPI_Finalize();
    return 0;
}
