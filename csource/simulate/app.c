/* app COLLECTIVE BYTES CALLS WINDOW COMPUTE [FROM-TO...]: an application that makes CALLS calls of allgather,
 * allreduce, alltoall, barrier or bcast. Before each call it computes for COMPUTE microseconds, varied by up to 5 %.
 * From call number FROM to number TO, messages of 1 MiB load the network. Rank 0 prints three lists: the microseconds
 * of a call with its computation, averaged over each WINDOW calls; the calls after which another algorithm served; and
 * the calls at which ranks rechecked an algorithm. */
#include "draw.h"
#include "explore.h"

#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOAD = 1 << 20 };

static int rank, size;
static char *sent, *got, *load;

static void make_call(const char *what, int bytes)
{
    if (strcmp(what, "allgather") == 0)
        MPI_Allgather(sent, bytes, MPI_BYTE, got, bytes, MPI_BYTE, MPI_COMM_WORLD);
    else if (strcmp(what, "allreduce") == 0)
        MPI_Allreduce(sent, got, bytes / (int)sizeof(float), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(what, "alltoall") == 0)
        MPI_Alltoall(sent, bytes, MPI_BYTE, got, bytes, MPI_BYTE, MPI_COMM_WORLD);
    else if (strcmp(what, "barrier") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Bcast(got, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static int is_loaded(int call, int n, char **ranges)
{
    int from, to;
    for (int i = 0; i < n; i++)
        if (sscanf(ranges[i], "%d-%d", &from, &to) == 2 && call >= from && call < to)
            return 1;
    return 0;
}

static void loaded_call(const char *what, int bytes)
{
    MPI_Request r[2];
    int half = size / 2;
    MPI_Irecv(load, LOAD, MPI_BYTE, (rank + size - half) % size, 7, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(load, LOAD, MPI_BYTE, (rank + half) % size, 7, MPI_COMM_WORLD, &r[1]);
    make_call(what, bytes);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    const char *before = "";
    int rechecks = 0;
    MPI_Init(&argc, &argv);
    int bytes = atoi(argv[2]), calls = atoi(argv[3]), window = atoi(argv[4]);
    double compute = atof(argv[5]) * 1e-6, from = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sent = SMPI_SHARED_MALLOC((size_t)(bytes + 1) * (size_t)size);
    got = SMPI_SHARED_MALLOC((size_t)(bytes + 1) * (size_t)size);
    load = SMPI_SHARED_MALLOC(LOAD);
    for (int i = 1; i <= calls; i++) {
        uint64_t at[] = {(uint64_t)rank, (uint64_t)i};
        smpi_execute_benched(compute * (0.95 + 0.1 * uniform(at, 2)));
        if (is_loaded(i, argc - 6, argv + 6))
            loaded_call(argv[1], bytes);
        else
            make_call(argv[1], bytes);
        const char *now = tutti_ran() == NULL ? "library" : tutti_ran();
        if (rank == 0 && strcmp(now, before) != 0)
            printf("call %d %s\n", i, now);
        if (rank == 0 && explore_rechecks != rechecks)
            printf("call %d recheck\n", i);
        before = now;
        rechecks = explore_rechecks;
        if (i % window != 0)
            continue;
        if (rank == 0)
            printf("until %d %.4f\n", i, (MPI_Wtime() - from) / window * 1e6);
        from = MPI_Wtime();
    }
    MPI_Finalize();
    return 0;
}
