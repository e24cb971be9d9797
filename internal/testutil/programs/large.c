/* large COLL BYTES: five short calls of bcast, reduce or allreduce, then one with that many bytes. Prints "right" or how many
 *                   bytes are wrong. The buffers of a bcast repeat one MiB of memory
 * large             a bcast of one element of 3 GiB, on one rank */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PERIOD = 1 << 20, SHORT = 64, CALLS = 5 };

static int rank, size;

/* Returns an address range of the given length in which one MiB of memory is mapped repeatedly. */
static signed char *repeated(size_t bytes)
{
    size_t all = (bytes + PERIOD - 1) / PERIOD * PERIOD;
    FILE *f = tmpfile();
    static char none[PERIOD];
    if (f == NULL || fwrite(none, 1, PERIOD, f) != PERIOD || fflush(f) != 0)
        return NULL;
    char *at = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t i = 0; at != MAP_FAILED && i < all; i += PERIOD)
        if (mmap(at + i, PERIOD, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fileno(f), 0) == MAP_FAILED)
            return NULL;
    return at == MAP_FAILED ? NULL : (signed char *)at;
}

static int call(const char *what, signed char *buffer, int bytes)
{
    if (strcmp(what, "bcast") == 0)
        return MPI_Bcast(buffer, bytes, MPI_SIGNED_CHAR, 0, MPI_COMM_WORLD);
    if (strcmp(what, "reduce") == 0)
        return MPI_Reduce(rank == 0 ? MPI_IN_PLACE : buffer, rank == 0 ? buffer : NULL, bytes, MPI_SIGNED_CHAR, MPI_SUM, 0, MPI_COMM_WORLD);
    return MPI_Allreduce(MPI_IN_PLACE, buffer, bytes, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
}

/* Returns the number of wrong bytes after a call. In a reduction each rank contributes 1 to a sum; in a bcast the
 * root sends 1. */
static long wrong(const char *what, size_t bytes)
{
    int sends = strcmp(what, "bcast") == 0;
    signed char *buffer = sends ? repeated(bytes) : malloc(bytes), few[SHORT] = {0};
    long bad = 0;
    if (buffer == NULL)
        return (long)bytes;
    for (int i = 0; i < CALLS; i++)
        call(what, few, SHORT);
    memset(buffer, !sends || rank == 0, sends ? PERIOD : bytes);
    call(what, buffer, (int)bytes);
    int want = sends ? 1 : size;
    for (size_t i = 0; i < bytes && (rank == 0 || strcmp(what, "reduce") != 0); i++)
        bad += buffer[i] != want;
    return bad;
}

static void broadcast_type(void)
{
    static char some; /* one rank moves no data */
    MPI_Datatype giga, three;
    MPI_Type_contiguous(1 << 30, MPI_CHAR, &giga);
    MPI_Type_contiguous(3, giga, &three);
    MPI_Type_commit(&three);
    MPI_Bcast(&some, 1, three, 0, MPI_COMM_WORLD);
    MPI_Type_free(&giga);
    MPI_Type_free(&three);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3) {
        broadcast_type();
    } else {
        long bad = wrong(argv[1], (size_t)atol(argv[2]));
        if (bad == 0)
            printf("right\n");
        else
            printf("rank %d: %ld bytes are wrong\n", rank, bad);
    }
    MPI_Finalize();
    return 0;
}
