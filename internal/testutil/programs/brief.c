/* brief: creates 3000 communicators, one after another. It calls a few collectives on each communicator and frees
 * it. Rank 0 prints the number of correct sums. An MPI library can have about 2000 communicators at once.
 * brief keep: the same without freeing them, until no more can be created. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size, right = 0, keep = argc > 1 && strcmp(argv[1], "keep") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3000; i++) {
        MPI_Comm one;
        if (MPI_Comm_dup(MPI_COMM_WORLD, &one) != MPI_SUCCESS)
            break;
        for (int k = 0; k < 6; k++) {
            int mine = rank + k, sum = 0;
            MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, one);
            right += sum == size * k + size * (size - 1) / 2;
        }
        if (!keep)
            MPI_Comm_free(&one);
    }
    if (rank == 0)
        printf("%d right\n", right);
    MPI_Finalize();
    return 0;
}
