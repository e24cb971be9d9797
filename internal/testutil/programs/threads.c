/* threads STEPS: threads of each rank call collectives at the same time, each thread on communicators of its own, which it
 * makes and frees. Prints "right N", the number of calls of all ranks, if all results are right. Without
 * MPI_THREAD_MULTIPLE it prints "no threads". */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, MOST = 64, CALLS = 6 };

static int steps, size, rank;
static MPI_Comm comms[THREADS];
static long right[THREADS];

/* Makes each call once with blocks of n ints, and returns how many results are right. */
static int calls(MPI_Comm on, int n, int root)
{
    int sent[MOST], sum[MOST], got[MOST], *all = malloc((size_t)(size * n) * sizeof *all), *of = malloc((size_t)(size * n) * sizeof *of), ok[CALLS];
    MPI_Request pending;
    for (int i = 0; i < CALLS; i++)
        ok[i] = 1;
    for (int i = 0; i < n; i++)
        sent[i] = got[i] = rank + i;
    for (int i = 0; i < size * n; i++)
        of[i] = i;
    MPI_Allreduce(sent, sum, n, MPI_INT, MPI_SUM, on);
    MPI_Bcast(got, n, MPI_INT, root, on);
    MPI_Allgather(sent, n, MPI_INT, all, n, MPI_INT, on);
    for (int i = 0; i < n; i++) {
        ok[0] &= sum[i] == size * (size - 1) / 2 + size * i;
        ok[1] &= got[i] == root + i;
    }
    for (int i = 0; i < size * n; i++)
        ok[2] &= all[i] == i / n + i % n;
    MPI_Alltoall(of, n, MPI_INT, all, n, MPI_INT, on);
    for (int i = 0; i < size * n; i++)
        ok[3] &= all[i] == rank * n + i % n;
    MPI_Barrier(on);
    MPI_Iallreduce(sent, sum, n, MPI_INT, MPI_MAX, on, &pending);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    ok[5] = sum[0] == size - 1;
    free(all);
    free(of);
    return ok[0] + ok[1] + ok[2] + ok[3] + ok[4] + ok[5];
}

static void *run(void *number)
{
    int t = *(int *)number;
    for (int i = 0; i < steps; i++) {
        MPI_Comm on = comms[t];
        if (i % 16 == 15)
            MPI_Comm_dup(comms[t], &on);
        for (int k = 0; k < (i % 16 == 15 ? 6 : 1); k++)
            right[t] += calls(on, 1 + (i * 7 + t) % MOST, i % size);
        if (i % 16 == 15)
            MPI_Comm_free(&on);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level, numbers[THREADS];
    long sum = 0, all, expected = 0;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    steps = argc > 1 ? atoi(argv[1]) : 50;
    if (level < MPI_THREAD_MULTIPLE) {
        puts("no threads");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int t = 0; t < THREADS; t++) {
        numbers[t] = t;
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, run, &numbers[t]);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        sum += right[t];
    }
    for (int i = 0; i < steps; i++)
        expected += (long)size * THREADS * CALLS * (i % 16 == 15 ? 6 : 1);
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %ld of %ld\n", all == expected ? "right" : "wrong", all, expected);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&comms[t]);
    MPI_Finalize();
    return 0;
}
