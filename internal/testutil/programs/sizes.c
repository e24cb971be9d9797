/* sizes           calls MPI_Init_thread for a single thread, then makes broadcasts of 0 to 19999 bytes
 * sizes init      calls MPI_Init instead */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    static char buffer[20000];
    int rank, provided;
    if (argc > 1 && strcmp(argv[1], "init") == 0)
        MPI_Init(&argc, &argv);
    else
        MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20000; i++)
        MPI_Bcast(buffer, i, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("done\n");
    MPI_Finalize();
    return 0;
}
