/* time COLLECTIVE SIZES ALGORITHM...: measures algorithms on a simulated machine, with root 0, when all ranks
 * start at the same time. Prints a line for each algorithm with the collective, the algorithm, the bytes, and the
 * microseconds until the last rank is done. ALGORITHM is an algorithm of libtutti, with a parameter as
 * NAME=NUMBER, or the word "library" for the algorithm that SMPI is set to. SIZES are in bytes, defined as in
 * tables. In an allgatherv all blocks have the size, as in table 3 of Faraj and Yuan (2005): in SMPI, messages between
 * two ranks share the bandwidth instead of following each other, so that small blocks would delay large ones. In an
 * alltoallv the size is that of the longest messages. A quarter of the pairs of ranks have a message. Its size is the
 * longest size divided by 1, 2, 4 … or 256, with equal probability. */
#include "calls.h"
#include "serve.h"

#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static char *sent, *got;

static collective collective_of(const char *name)
{
    int i = 0;
    while (i < COLLECTIVES && strcmp(collective_name((collective)i), name) != 0)
        i++;
    return (collective)i;
}

/* Returns the size, in bytes, of the message from one rank to another in an alltoallv. */
static int block_of(int from, int to, int bytes)
{
    unsigned drawn = (unsigned)(from * size + to) * 2654435761u >> 16; /* Knuth's multiplicative hash */
    return drawn % 4 == 0 ? bytes >> drawn / 4 % 9 : 0;
}

static arguments alltoallv_of(int bytes)
{
    int *n = allocate(4 * (size_t)size, sizeof *n), *places = n + 2 * size; /* all blocks are at the beginning of the buffers */
    for (int r = 0; r < size; r++) {
        n[r] = block_of(rank, r, bytes);
        n[size + r] = block_of(r, rank, bytes);
    }
    return (arguments){.what = ALLTOALLV, .send = sent, .stype = MPI_BYTE, .recv = got, .rtype = MPI_BYTE,
                       .scounts = n, .rcounts = n + size, .sdispls = places, .rdispls = places, .on = MPI_COMM_WORLD};
}

static arguments allgatherv_of(int bytes)
{
    int *n = allocate(2 * (size_t)size, sizeof *n), *places = n + size;
    for (int r = 0; r < size; r++) {
        n[r] = bytes;
        places[r] = r * bytes;
    }
    return (arguments){.what = ALLGATHERV, .send = sent, .scount = bytes, .stype = MPI_BYTE, .recv = got, .rtype = MPI_BYTE, .rcounts = n, .rdispls = places, .on = MPI_COMM_WORLD};
}

/* Returns a call with the given number of bytes. Reductions use floats. */
static arguments call_of(collective what, int bytes)
{
    if (what == ALLTOALLV)
        return alltoallv_of(bytes);
    if (what == ALLGATHERV)
        return allgatherv_of(bytes);
    int reduces = what == ALLREDUCE || what == REDUCE, n = reduces ? bytes / (int)sizeof(float) : bytes;
    MPI_Datatype type = reduces ? MPI_FLOAT : MPI_BYTE;
    return (arguments){.what = what, .send = sent, .scount = n, .stype = type, .recv = got, .rcount = n, .rtype = type, .op = MPI_SUM, .on = MPI_COMM_WORLD};
}

static void library(const arguments *a)
{
    switch (a->what) {
#define OF_A(name) a->name
#define CASE(number, name, lower, counts, properties, bytes, arguments) \
    case number: PMPI_##name(LIST(OF_A, arguments)); break;
        EACH_COLLECTIVE(CASE)
#undef CASE
    case COLLECTIVES: break;
    }
}

/* Returns the algorithm with the given name. The name "library" means SMPI's own algorithm. */
static pick pick_of(collective what, const char *name)
{
    pick p = {NULL, 0};
    const char *equals = strchr(name, '=');
    size_t n = equals == NULL ? strlen(name) : (size_t)(equals - name);
    for (const algorithm *a = repository; a->name != NULL; a++)
        if (a->what == what && strlen(a->name) == n && strncmp(a->name, name, n) == 0)
            p = (pick){a, equals == NULL ? 0 : atoi(equals + 1)};
    if (p.algorithm == NULL && strcmp(name, "library") != 0 && rank == 0)
        fprintf(stderr, "time: no algorithm %s\n", name);
    return p;
}

/* Returns the seconds of one call on the slowest rank. All ranks start the call at the given time. The algorithm
 * gets the layout and the rules of the table that libtutti would give it. */
static double run(const pick *p, arguments *a, int bytes, double at)
{
    double from, took;
    comm *world = comm_of(MPI_COMM_WORLD);
    place on = {MPI_COMM_WORLD, rank, size, comm_layout(world), world->shape->rows};
    double wait = at - PMPI_Wtime();
    struct timespec t = {(time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9)};
    nanosleep(&t, NULL);
    from = PMPI_Wtime();
    if (p->algorithm == NULL)
        library(a);
    else if (!serve(a, p, &on, (uint64_t)bytes))
        return -1;
    from = PMPI_Wtime() - from;
    PMPI_Allreduce(&from, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return took;
}

static void time_size(collective what, int bytes, int n, char **names)
{
    arguments a = call_of(what, bytes);
    for (int i = 0; i < n; i++) {
        pick p = pick_of(what, names[i]);
        double took = 0;
        for (int k = 0; k < 2; k++) { /* the first call creates communicators and schedules */
            double now = PMPI_Wtime(), last;
            PMPI_Allreduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            took = run(&p, &a, bytes, (double)(long)(last * 100 + 2) / 100);
        }
        if (rank == 0 && took >= 0)
            printf("%s,%s,%d,%.3f\n", collective_name(what), names[i], bytes, took * 1e6);
    }
}

int main(int argc, char **argv)
{
    int most = 0, blocks;
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    collective what = collective_of(argv[1]);
    for (char *p = argv[2]; *p; p += strspn(p + strcspn(p, ","), ",") + strcspn(p, ","))
        most = atoi(p) > most ? atoi(p) : most;
    blocks = what == ALLGATHER || what == ALLGATHERV || what == ALLTOALL ? size : 1;
    sent = SMPI_SHARED_MALLOC((size_t)most * (size_t)blocks);
    got = SMPI_SHARED_MALLOC((size_t)most * (size_t)blocks);
    for (char *p = argv[2]; *p; p += strspn(p + strcspn(p, ","), ",") + strcspn(p, ","))
        time_size(what, atoi(p), argc - 3, argv + 3);
    MPI_Finalize();
    return 0;
}
