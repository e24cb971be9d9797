/* overhead: prints what the runtime library adds to a call on several ranks. This file is compiled a second time, with
 * -DBEHIND, as a library that is loaded after the runtime library. That library measures the ticks of the MPI library's
 * call. The program subtracts them from the ticks of the whole call. For each collective and size, rank 0 prints the
 * difference and the time of a call, both as means over the ranks. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#ifdef BEHIND

int64_t ticks_behind;

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm on)
{
    uint64_t from = __rdtsc();
    int e = PMPI_Allreduce(in, out, n, type, op, on);
    ticks_behind = (int64_t)(__rdtsc() - from);
    return e;
}

int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm on)
{
    uint64_t from = __rdtsc();
    int e = PMPI_Bcast(data, n, type, root, on);
    ticks_behind = (int64_t)(__rdtsc() - from);
    return e;
}

#else

enum { CALLS = 2000 };

static const int64_t *ticks_behind;
static int64_t added[CALLS], whole[CALLS];

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Returns the mean of the middle half of the calls. A median would be less precise, because the ticks of some machines
 * grow in steps of 10 ns. */
static double typical(int64_t *all)
{
    double sum = 0;
    qsort(all, CALLS, sizeof *all, ascending);
    for (int i = CALLS / 4; i < CALLS * 3 / 4; i++)
        sum += (double)all[i];
    return sum / (CALLS / 2);
}

static double ticks_per_nanosecond(void)
{
    struct timespec pause = {0, 100000000}, t, u;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t from = __rdtsc();
    nanosleep(&pause, NULL);
    clock_gettime(CLOCK_MONOTONIC, &u);
    return (double)(__rdtsc() - from) / (1e9 * (double)(u.tv_sec - t.tv_sec) + (double)(u.tv_nsec - t.tv_nsec));
}

static void measure(const char *name, int bcast, int bytes, char *data, int rank, int ranks, double rate)
{
    for (int i = 0; i < CALLS; i++) {
        uint64_t from = __rdtsc();
        if (bcast)
            MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        else
            MPI_Allreduce(MPI_IN_PLACE, data, bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        whole[i] = (int64_t)(__rdtsc() - from);
        added[i] = whole[i] - *ticks_behind;
    }
    double own[2] = {typical(added) / rate, typical(whole) / rate}, sums[2];
    PMPI_Reduce(own, sums, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("  %s %d B: %.1f ns of %.2f us", name, bytes, sums[0] / ranks, sums[1] / ranks / 1000);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    static const int sizes[] = {4, 1024, 65536};
    char *data = calloc(1, 65536);
    ticks_behind = dlsym(RTLD_DEFAULT, "ticks_behind");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double rate = ticks_per_nanosecond();
    for (int k = 0; k < 6; k++)
        measure(k < 3 ? "allreduce" : "bcast", k >= 3, sizes[k % 3], data, rank, ranks, rate);
    if (rank == 0)
        printf("\n");
    MPI_Finalize();
    return 0;
}

#endif
