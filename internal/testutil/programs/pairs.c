/* pairs: times eight collectives at four sizes. Prints "COLLECTIVE BYTES,SECONDS" for each: the fastest of 25 batches of calls, on the slowest rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLLECTIVES = 8, SIZES = 4, BATCHES = 25 };

static char *a, *b;

static void call(int collective, int n)
{
    switch (collective) {
    case 0: MPI_Barrier(MPI_COMM_WORLD); break;
    case 1: MPI_Bcast(a, n, MPI_CHAR, 0, MPI_COMM_WORLD); break;
    case 2: MPI_Reduce(a, b, n / 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); break;
    case 3: MPI_Allreduce(a, b, n / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD); break;
    case 4: MPI_Allgather(a, n, MPI_CHAR, b, n, MPI_CHAR, MPI_COMM_WORLD); break;
    case 5: MPI_Alltoall(a, n, MPI_CHAR, b, n, MPI_CHAR, MPI_COMM_WORLD); break;
    case 6: MPI_Gather(a, n, MPI_CHAR, b, n, MPI_CHAR, 0, MPI_COMM_WORLD); break;
    case 7: MPI_Scatter(b, n, MPI_CHAR, a, n, MPI_CHAR, 0, MPI_COMM_WORLD); break;
    }
}

int main(int argc, char **argv)
{
    static const char *names[COLLECTIVES] = {"barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter"};
    static const int sizes[SIZES] = {8, 512, 32768, 262144}, calls[SIZES] = {20, 20, 5, 2};
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    a = calloc((size_t)ranks, sizes[SIZES - 1]);
    b = calloc((size_t)ranks, sizes[SIZES - 1]);
    for (int c = 0; c < COLLECTIVES; c++)
        for (int s = 0; s < (c == 0 ? 1 : SIZES); s++) {
            double best = 1e9;
            for (int k = 0; k <= BATCHES; k++) { /* the first batch is warm-up */
                MPI_Barrier(MPI_COMM_WORLD);
                double slowest, t = MPI_Wtime();
                for (int i = 0; i < calls[s]; i++)
                    call(c, sizes[s]);
                t = (MPI_Wtime() - t) / calls[s];
                MPI_Reduce(&t, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
                if (k > 0 && slowest < best)
                    best = slowest;
            }
            if (rank == 0)
                printf("%s %d,%.9f\n", names[c], c == 0 ? 0 : sizes[s], best);
        }
    MPI_Finalize();
    return 0;
}
