/* cost: prints how many nanoseconds the runtime library adds to a call of MPI_Bcast with 8 bytes, on one rank. Many
 * rounds of calls are timed with MPI_Bcast, which the library replaces, and with PMPI_Bcast. The fastest rounds of both
 * are compared. One result is for a single communicator, the other for eight communicators and two types in turn. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { CALLS = 20000, ROUNDS = 200, COMMS = 8 };

typedef int bcast(void *, int, MPI_Datatype, int, MPI_Comm);

static MPI_Comm comms[COMMS];
static MPI_Datatype types[2];
static double buffer;

static double nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double round_of(bcast *call, int mask)
{
    double from = nanoseconds();
    for (int i = 0; i < CALLS; i++)
        call(&buffer, 1, types[i & (mask != 0)], 0, comms[i & mask]);
    return (nanoseconds() - from) / CALLS;
}

static double added(int mask)
{
    double through = 1e9, past = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double a = round_of(MPI_Bcast, mask), b = round_of(PMPI_Bcast, mask);
        through = a < through ? a : through;
        past = b < past ? b : past;
    }
    return through - past;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    types[0] = MPI_DOUBLE;
    types[1] = MPI_INT64_T;
    double one = added(0), many = added(COMMS - 1);
    printf("one communicator %5.1f ns, eight and two types %5.1f ns\n", one, many);
    MPI_Finalize();
    return 0;
}
