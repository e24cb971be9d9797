/* collectives check COUNT [COLL...]  every kind of call (form) of every blocking collective, or of the given ones, such as
 *                                    allreduce or iallreduce, with COUNT elements: prints "try COLL COUNT FORM" before
 *                                    each call, "wrong CALL: WHY" for each
 *                                    process with wrong data, and "right CALLS" if there was none. Leaves out calls that
 *                                    the MPI library computes wrongly, see faulty
 * collectives fault COUNT COLL       the first call of the collective among those that "check" leaves out
 * collectives name BYTES             a bcast with one buffer too small; some MPI libraries name the algorithm in the
 *                                    error
 * collectives call BYTES COLL        one call, for a tracer; prints "right 1" if its data were right */
#include "workload.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 10 }; /* seconds after which a call hangs */

static int rank, size, calls, wrong;
static int nonblocking; /* the calls are nonblocking */
static int mpich;     /* the library is MPICH */
static int mpich40;   /* it is MPICH 4.0 */
static int openmpi;   /* it is Open MPI */
static int *nodeRank; /* of each rank, within its node */
static MPI_Comm world;

/* Waits a moment before the process ends, because a launcher may drop its last output. */
static void leave(int signal)
{
    (void)signal;
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    _exit(1);
}

/* Finds the ranks of each node. It uses only point-to-point messages, since the collectives are under test. */
static void find_nodes(void)
{
    MPI_Comm node;
    int own;
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &own);
    MPI_Comm_free(&node);
    nodeRank = calloc((size_t)size, sizeof *nodeRank);
    for (int r = 0; r < size; r++)
        MPI_Sendrecv(&own, 1, MPI_INT, (rank + r) % size, 2, &nodeRank[(rank - r + size) % size], 1, MPI_INT,
                     (rank - r + size) % size, 2, world, MPI_STATUS_IGNORE);
}

/* Returns whether the library computes a call wrongly. In an allgatherv, each rank of Open MPI selects the algorithm
 * by the size of the type that it sends. For a reduce of more than 2 KiB, MPICH 4.0 uses composition alpha, which
 * crashes if the root reduces in place and is not the first rank of its node. In a reduce_scatter with an operation
 * that does not commute, MPICH's algorithm noncommutative treats types with gaps like types without gaps. */
static int faulty(collective what, form f, int count)
{
    int pow2 = (size & (size - 1)) == 0;
    if (openmpi)
        return what == ALLGATHERV && f.counts && !f.in_place;
    if (!mpich || count == 0)
        return 0;
    if (what == REDUCE)
        return mpich40 && f.in_place && f.op != ORDERED && nodeRank[f.root] > 0 && (size_t)count * element_bytes(what) > 2048;
    if (what == REDUCE_SCATTER || what == REDUCE_SCATTER_BLOCK)
        return f.gaps && f.op == ORDERED && !f.uneven && pow2;
    return 0;
}

static void one_line(char *text)
{
    for (; *text; text++)
        if (*text == '\n')
            *text = ' ';
}

/* Prints "right" if no process had wrong data. */
static void conclude(void)
{
    if (rank != 0)
        MPI_Send(&wrong, 1, MPI_INT, 0, 1, world);
    for (int r = 1; rank == 0 && r < size; r++) {
        int other;
        MPI_Recv(&other, 1, MPI_INT, r, 1, world, MPI_STATUS_IGNORE);
        wrong += other;
    }
    if (rank == 0 && wrong == 0)
        printf("right %d\n", calls);
}

/* Makes one call and checks its data. */
static void attempt(collective what, form f, int count)
{
    workload w;
    char name[WHY], why[WHY] = "";
    f.nonblocking = nonblocking;
    form_name(f, name);
    if (rank == 0)
        printf("try %s %d %s\n", collective_name(what), count, name);
    fflush(stdout);
    alarm(PATIENCE);
    if (workload_make(&w, what, f, count, world, why) == 0) {
        int length;
        workload_fill(&w, count);
        int error = workload_call(&w);
        if (error == MPI_SUCCESS)
            workload_right(&w, count, why);
        else
            MPI_Error_string(error, why, &length);
        workload_free(&w);
    }
    alarm(0);
    calls++;
    one_line(why);
    if (why[0])
        printf("wrong %s %d %s: %s\n", collective_name(what), count, name, why);
    wrong += why[0] != 0;
    fflush(stdout);
}

static void check(collective what, int count)
{
    for (int n = 0; n < forms(size); n++) {
        form f = form_at(n, size);
        if (form_exists(f, what) && !faulty(what, f, count))
            attempt(what, f, count);
    }
}

static void fault(collective what, int count)
{
    for (int n = 0; n < forms(size); n++) {
        form f = form_at(n, size);
        if (form_exists(f, what) && faulty(what, f, count)) {
            attempt(what, f, count);
            return;
        }
    }
}

/* Makes a call in which the buffer of the last rank is a quarter too small. The last rank is a leaf of every tree,
 * so no algorithm waits for its data. The first error ends the job. */
static void name(int bytes)
{
    char text[MPI_MAX_ERROR_STRING], *a = calloc((size_t)bytes, 1);
    int length, error = MPI_Bcast(a, rank == size - 1 ? bytes / 4 * 3 : bytes, MPI_CHAR, 0, world);
    free(a);
    if (error == MPI_SUCCESS)
        return;
    MPI_Error_string(error, text, &length);
    one_line(text);
    printf("stack %d %s\n", bytes, text);
}

static void call(collective what, int bytes)
{
    form plain = {0, 0, 0, 0, 0, BUILTIN, 0, 0};
    attempt(what, plain, collective_count(what, bytes));
}

static void run(const char *mode, int number, collective what)
{
    if (strcmp(mode, "check") == 0)
        check(what, number);
    if (strcmp(mode, "fault") == 0)
        fault(what, number);
    if (strcmp(mode, "call") == 0)
        call(what, number);
}

int main(int argc, char **argv)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *mode = argc > 2 ? argv[1] : "";
    int length;
    MPI_Init(&argc, &argv);
    signal(SIGSEGV, leave);
    signal(SIGABRT, leave);
    signal(SIGALRM, leave);
    world = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    MPI_Get_library_version(library, &length);
    openmpi = strstr(library, "Open MPI") != NULL;
    mpich = strstr(library, "MPICH Version:") != NULL;
    mpich40 = strstr(library, "MPICH Version:\t4.0") != NULL;
    if (mpich40)
        find_nodes();
    if (strcmp(mode, "name") == 0)
        name(atoi(argv[2]));
    for (int c = 0; argc == 3 && c < COLLECTIVES; c++)
        run(mode, atoi(argv[2]), (collective)c);
    for (int i = 3; i < argc; i++) {
        collective what;
        form f;
        if (!form_named(argv[i], &what, &f))
            continue;
        nonblocking = f.nonblocking;
        run(mode, atoi(argv[2]), what);
    }
    conclude();
    free(nodeRank);
    MPI_Finalize();
    return 0;
}
