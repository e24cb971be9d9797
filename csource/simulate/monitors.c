/* monitors BYTES CALLS COMPUTE MONITOR...: measures the cost of announcing a change to all ranks. Each rank computes for COMPUTE
 * microseconds, varied by up to 5 %, and then calls an allgather. The table selects an algorithm that carries flags. For each monitor
 * there are CALLS calls without a change, then CALLS calls in which every 16th rank detects a change every 200 calls. Output lines:
 * ranks, bytes, monitor, microseconds of a call with its computation in both cases, and how often all ranks learned of a change.
 *
 *   none          no announcements
 *   tags          a flag in the tags of the messages
 *   allreduce:N   an allreduce every N calls, as in STAR-MPI
 *   rma:N:K       one-sided writes down a tree in which each rank has K ranks below it, in periods of N calls
 *   rma:N:0       the same, but rank 0 writes to all ranks. In Nanri (2016) it sends them messages, for which they probe and which
 *                 may come late
 *
 * With rma, ranks that detected a change add to a counter of rank 0 in the first call of a period. After the next call, rank 0 reads
 * the counter. If it has grown, rank 0 writes the number of the period to the ranks below it. After each further call, the next level
 * of the tree does the same. After the last one all ranks read the number. They find the same: a rank completes its writes before it
 * enters the next call, and no rank leaves that call before all have entered. */
#include "draw.h"
#include "explore.h"
#include "repository.h"

#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APART = 200, DETECTS = 16 }; /* calls between two changes; one rank in so many detects a change */
enum { COUNT, PERIOD, WORDS_OF_A_RANK };

static int rank, size;
static MPI_Win window;
static int *words, counted;

typedef struct {
    char kind[16];
    int every, arity, level, depth; /* depth: the level of the last rank */
} monitor;

static int level_of(int r, int arity)
{
    int level = 0;
    for (; r > 0; level++)
        r = (r - 1) / arity;
    return level;
}

static monitor read_monitor(const char *text)
{
    monitor m = {.every = APART};
    sscanf(text, "%15[a-z]:%d:%d", m.kind, &m.every, &m.arity);
    if (m.arity == 0)
        m.arity = size;
    m.level = level_of(rank, m.arity);
    m.depth = level_of(size - 1, m.arity);
    if (strcmp(m.kind, "rma") == 0 && m.depth + 1 >= m.every) {
        fprintf(stderr, "monitors: %s: a tree of %d levels takes longer than a period\n", text, m.depth);
        exit(1);
    }
    return m;
}

static void write_below(const monitor *m)
{
    long first = (long)rank * m->arity + 1;
    for (long r = first; r < first + m->arity && r < size; r++)
        MPI_Put(&words[PERIOD], 1, MPI_INT, (int)r, PERIOD, 1, MPI_INT, window);
    if (first < size)
        MPI_Win_flush_all(window);
}

/* Performs what the monitor "rma" does at one call. Returns 1 if the rank has learned of a change. Counters
 * only grow and are never reset. */
static int rma(const monitor *m, int call, int detected)
{
    static const int one = 1;
    int step = call % m->every, period = call / m->every;
    if (step == 0 && detected)
        MPI_Accumulate(&one, 1, MPI_INT, 0, COUNT, 1, MPI_INT, MPI_SUM, window);
    if (step == 0 || step > m->depth + 1)
        return 0;
    MPI_Win_sync(window);
    if (rank == 0 && step == 1 && words[COUNT] != counted) {
        counted = words[COUNT];
        words[PERIOD] = period;
    }
    if (step == m->level + 1 && words[PERIOD] == period)
        write_below(m);
    return step == m->depth + 1 && words[PERIOD] == period;
}

static int ask_all(const monitor *m, int call, int detected)
{
    int announced = 0;
    if (call % m->every == 0)
        PMPI_Allreduce(&detected, &announced, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return announced;
}

/* Makes `calls` calls of the collective with `bytes` bytes, and computes for about `compute` seconds before
 * each. If `changes` is true, some ranks detect changes and announce them with the monitor m. announced[]
 * gets how many announcements arrived, first the fewest on any rank, then the most. Returns the mean seconds
 * of a call with its computation on the slowest rank. */
static double watch(const monitor *m, int changes, int bytes, int calls, double compute, const char *sent, char *got, int announced[2])
{
    int times = 0, not = 0, detected = 0;
    double took;
    words[PERIOD] = -1;
    PMPI_Barrier(MPI_COMM_WORLD);
    double from = MPI_Wtime();
    for (int i = 1; i <= calls; i++) {
        uint64_t at[] = {(uint64_t)rank, (uint64_t)i};
        smpi_execute_benched(compute * (0.95 + 0.1 * uniform(at, 2)));
        detected |= changes && i % APART == APART / 2 && rank % DETECTS == DETECTS / 2;
        if (m->kind[0] == 't')
            flag_carry(detected);
        MPI_Allgather(sent, bytes, MPI_BYTE, got, bytes, MPI_BYTE, MPI_COMM_WORLD);
        int now = m->kind[0] == 't' ? flag_received() : m->kind[0] == 'a' ? ask_all(m, i, detected) : m->kind[0] == 'r' && rma(m, i, detected);
        if (m->kind[0] != 'r' || i % m->every == 0)
            detected = 0; /* the change is announced */
        times += now;
    }
    took = (MPI_Wtime() - from) / calls;
    not = -times;
    PMPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    PMPI_Allreduce(&times, &announced[1], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    PMPI_Allreduce(&not, &announced[0], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    announced[0] = -announced[0];
    return took;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int bytes = atoi(argv[1]), calls = atoi(argv[2]), announced[2], quiet[2];
    double compute = atof(argv[3]) * 1e-6;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *sent = SMPI_SHARED_MALLOC((size_t)bytes), *got = SMPI_SHARED_MALLOC((size_t)bytes * (size_t)size);
    words = allocate(WORDS_OF_A_RANK, sizeof *words);
    MPI_Win_create(words, WORDS_OF_A_RANK * sizeof *words, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    for (int i = 0; i < 8; i++) /* lets libtutti create communicators */
        MPI_Allgather(sent, bytes, MPI_BYTE, got, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 4; i < argc; i++) {
        monitor m = read_monitor(argv[i]);
        double steady = watch(&m, 0, bytes, calls, compute, sent, got, quiet), changing = watch(&m, 1, bytes, calls, compute, sent, got, announced);
        if (rank == 0 && (quiet[1] != 0 || announced[0] != announced[1]))
            printf("wrong: announced %d times without a change, else between %d and %d times\n", quiet[1], announced[0], announced[1]);
        if (rank == 0)
            printf("%d,%d,%s,%.4f,%.4f,%d\n", size, bytes, argv[i], steady * 1e6, changing * 1e6, announced[0]);
        fflush(stdout);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
