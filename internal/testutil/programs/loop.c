/* loop STEPS [split|die|uneven]: makes the same calls in each step on the world. With split it also makes them on the two
 * halves of the world. With uneven it makes alltoallvs instead, in which rank 0 sends nothing. Prints "right CALLS" if
 * all sums are right. With die the first rank kills itself before MPI_Finalize. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 2048 };

static int wrong, calls;

static void step(MPI_Comm on, int count)
{
    static int sent[MOST], got[64 * MOST];
    int rank, size, total = 0;
    MPI_Comm_rank(on, &rank);
    MPI_Comm_size(on, &size);
    for (int i = 0; i < count; i++)
        sent[i] = rank + i;
    MPI_Allreduce(sent, got, count, MPI_INT, MPI_SUM, on);
    for (int i = 0; i < count; i++)
        wrong += got[i] != size * (size - 1) / 2 + size * i;
    MPI_Allgather(sent, count, MPI_INT, got, count, MPI_INT, on);
    for (int i = 0; i < count * size; i++)
        wrong += got[i] != i / count + i % count;
    memset(got, rank == 0, sizeof *got * (size_t)count);
    MPI_Bcast(got, count, MPI_INT, 0, on);
    for (int i = 0; i < count; i++)
        wrong += got[i] != 0x01010101;
    MPI_Reduce(sent, &total, 1, MPI_INT, MPI_SUM, 0, on);
    wrong += rank == 0 && total != size * (size - 1) / 2;
    MPI_Barrier(on);
    calls += 5;
}

/* Rank r sends 50 r elements to each rank. */
static void uneven(MPI_Comm on)
{
    static int sent[MOST], got[64 * MOST], counts[64], displs[64], gets[64], starts[64];
    int rank, size, n = 0;
    MPI_Comm_rank(on, &rank);
    MPI_Comm_size(on, &size);
    for (int r = 0; r < size; n += gets[r++]) {
        counts[r] = 50 * rank;
        gets[r] = 50 * r;
        starts[r] = n;
    }
    for (int i = 0; i < 50 * rank; i++)
        sent[i] = rank;
    MPI_Alltoallv(sent, counts, displs, MPI_INT, got, gets, starts, MPI_INT, on);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < gets[r]; i++)
            wrong += got[starts[r] + i] != r;
    calls++;
}

int main(int argc, char **argv)
{
    int rank, steps = atoi(argv[1]), split = argc > 2 && strcmp(argv[2], "split") == 0;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    for (int i = 0; i < steps; i++) {
        if (strcmp(argv[argc - 1], "uneven") == 0) {
            uneven(MPI_COMM_WORLD);
            continue;
        }
        step(MPI_COMM_WORLD, i % 2 == 0 ? 4 : MOST);
        if (split)
            step(half, 16);
    }
    if (rank == 0)
        printf(wrong ? "wrong %d\n" : "right %d\n", wrong ? wrong : calls);
    fflush(stdout);
    if (rank == 0 && strcmp(argv[argc - 1], "die") == 0)
        raise(SIGKILL);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return wrong != 0;
}
