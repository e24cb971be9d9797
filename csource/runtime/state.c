#include "clock.h"
#include "comm.h"
#include "explore.h"
#include "layout.h"
#include "library.h"
#include "next.h"
#include "trace.h"
#include "users.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int active, tracing, trace_every, selecting, forcing, many_threads;

static MPI_Comm world = MPI_COMM_NULL; /* for messages of libtutti */
static char *trace_path;               /* on rank 0 */
static int comms_known;                /* comms_start was called */
static int over;                       /* end was called */

MPI_Comm first_comm = MPI_COMM_NULL;

static void *required(void *p)
{
    if (p == NULL) {
        fprintf(stderr, "tutti: no memory\n");
        PMPI_Abort(world, 1);
    }
    return p;
}

void *allocate(size_t n, size_t bytes) { return required(calloc(n, bytes)); }

void *memory(size_t bytes) { return required(malloc(bytes + 1)); }

/* Returns a copy of an environment variable, or NULL if it is unset or empty. */
static char *setting(const char *name)
{
    const char *value = getenv(name);
    if (value == NULL || *value == 0)
        return NULL;
    char *copy = allocate(strlen(value) + 1, 1);
    memcpy(copy, value, strlen(value));
    return copy;
}

/* Reads a file. On an error the length is 0, and `why` holds the reason. */
static char *load(const char *path, int *length, char *why)
{
    char *text = allocate((size_t)MOST_TEXT + 1, 1);
    FILE *f = fopen(path, "rb");
    size_t n = f == NULL ? 0 : fread(text, 1, (size_t)MOST_TEXT + 1, f);
    if (f == NULL || ferror(f))
        snprintf(why, WHY, "%s", strerror(errno));
    else if (n == 0 || n > MOST_TEXT)
        snprintf(why, WHY, "%zu bytes: want a table of at most %d", n, MOST_TEXT);
    else
        *length = (int)n;
    if (f != NULL)
        fclose(f);
    return text;
}

/* Reads a table, checks that it is for this MPI library, and opens the control variables named in it. */
static int use_table(char *text, size_t length, char *why)
{
    if (table_read(text, length, why))
        return -1;
    const char *banner = table_banner();
    return (banner[0] != 0 && library_matches(banner, why)) || library_open(why) ? -1 : 0;
}

/* Rank 0 reads a file, and all ranks parse it with the function `parse`. Only rank 0 needs the path. Returns
 * 1 if all ranks could parse the file. Rank 0 prints an error, followed by the text `without`. */
static int read_and_share(int rank, const char *path, int (*parse)(char *, size_t, char *), const char *without)
{
    char why[WHY] = "", *text = NULL;
    int length = 0, taken = 0;
    if (path != NULL)
        text = load(path, &length, why);
    PMPI_Bcast(&length, 1, MPI_INT, 0, world);
    if (length > 0 && rank != 0)
        text = allocate((size_t)length + 1, 1);
    if (length > 0) {
        PMPI_Bcast(text, length, MPI_BYTE, 0, world);
        text[length] = 0;
        taken = parse(text, (size_t)length, why) == 0;
    }
    PMPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPI_INT, MPI_MIN, world);
    if (why[0] != 0 && rank == 0)
        fprintf(stderr, "tutti: %s: %s: %s\n", path, why, without);
    free(text);
    return taken;
}

/* Returns the number in TUTTI_TRACE_EVERY, or 1. */
static int read_every(void)
{
    const char *text = getenv("TUTTI_TRACE_EVERY");
    char *end;
    long n = text == NULL ? 1 : strtol(text, &end, 10);
    if (text == NULL || (end != text && *end == 0 && n > 0 && n <= INT_MAX))
        return (int)n;
    fprintf(stderr, "tutti: TUTTI_TRACE_EVERY=%.80s: want a number from 1 on: all ranks are traced\n", text);
    return 1;
}

static void know_comms(void)
{
    if (!comms_known)
        comms_start(world);
    comms_known = 1;
    active = 1;
}

/* Duplicates a communicator of all ranks, once all ranks have called this function. If a rank has not loaded libtutti,
 * the others wait forever. While they wait, rank 0 prints a message. If rank 1 does not hear from rank 0, it also prints
 * the message. */
static void make_world(MPI_Comm of, int rank)
{
    enum { PATIENCE = 10 }; /* seconds; ranks leave MPI_Init a few seconds apart at most */
    double from = PMPI_Wtime();
    int done = 0, heard = 0, reported = 0;
    MPI_Request first, all;
    PMPI_Ibcast(&(int){0}, 1, MPI_INT, 0, of, &first);
    for (PMPI_Ibarrier(of, &all); !done || !heard; PMPI_Test(&all, &done, MPI_STATUS_IGNORE)) {
        sched_yield();
        PMPI_Test(&first, &heard, MPI_STATUS_IGNORE);
        if (reported || rank > 1 || (rank == 1 && heard) || PMPI_Wtime() - from < PATIENCE)
            continue;
        fprintf(stderr, "tutti: MPI_Init has waited %d s for ranks that are late or do not load libtutti. Set LD_PRELOAD for all ranks: "
                "mpirun -x LD_PRELOAD passes it to other nodes; for several programs (MPMD), set it for each\n", PATIENCE);
        reported = 1;
    }
    PMPI_Comm_dup(of, &world);
}

static void report_hidden(int stacked)
{
    char what[256];
    const char *by = hidden_by(stacked, what, sizeof what);
    if (by != NULL)
        fprintf(stderr, "tutti: %s hides %s from libtutti: nothing of them is traced or selected; put libtutti first in LD_PRELOAD\n", by, what);
}

/* Starts libtutti with the settings in rank 0's environment. It also looks at the thread support that MPI provides:
 * settings of an MPI library can permit several threads to applications that did not ask for them. */
int begin(MPI_Comm all, int threads, int stacked)
{
    int rank, wanted[4];
    if (world != MPI_COMM_NULL || over)
        return 0;
    first_comm = all == MPI_COMM_WORLD ? all : MPI_COMM_NULL;
    /* Open MPI's MPI_Reduce_local crashes without MPI_COMM_WORLD (5.0.7, 6.0.0rc2). */
    serves_reductions = all == MPI_COMM_WORLD || !library_is("Open MPI");
    PMPI_Comm_rank(all, &rank);
    make_world(all, rank);
    char *table = rank == 0 ? setting("TUTTI_TABLE") : NULL;
    char *topology = rank == 0 ? setting("TUTTI_TOPOLOGY") : NULL;
    char *samples = rank == 0 ? setting("TUTTI_SAMPLES") : NULL;
    trace_path = rank == 0 ? setting("TUTTI_TRACE") : NULL;
    wanted[0] = trace_path != NULL ? read_every() : 0;
    wanted[1] = table != NULL;
    wanted[2] = topology != NULL;
    wanted[3] = samples != NULL || (rank == 0 && explore_mode() != NULL);
    PMPI_Bcast(wanted, 4, MPI_INT, 0, world);
    PMPI_Allreduce(&threads, &many_threads, 1, MPI_INT, MPI_MAX, world);
    users_load(world, rank == 0 ? getenv("TUTTI_ALGORITHMS") : NULL);
    if ((wanted[0] || wanted[1]) && rank == 0)
        report_hidden(stacked);
    if (wanted[1])
        selecting = read_and_share(rank, table, use_table, "nothing is selected");
    if (selecting && rank == 0 && table_missing() != NULL)
        fprintf(stderr, "tutti: %s: %s is in no object that TUTTI_ALGORITHMS names: the MPI library serves its calls\n", table, table_missing());
    if (wanted[2] && selecting)
        read_and_share(rank, topology, topology_read, "the switches are not known");
    if (wanted[3] && selecting)
        explore_start(world, samples);
    free(table);
    free(topology);
    free(samples);
    if (selecting && many_threads && table_banner()[0] != 0 && rank == 0)
        fprintf(stderr, "tutti: the thread level is MPI_THREAD_MULTIPLE: the MPI library's own algorithms are not selected\n");
    trace_every = wanted[0];
    tracing = trace_every > 0;
    if (!tracing && !selecting)
        return 1;
    know_comms();
    clock_start();
    if (tracing)
        trace_start(trace_path);
    return 1;
}

int tutti_force(const char *what, const char *name, char *why, size_t size)
{
    char reason[WHY] = "there is no MPI";
    if (world == MPI_COMM_NULL || table_force(what, name, reason)) {
        snprintf(why, size, "%s", reason);
        return -1;
    }
    exploring = 0;
    forcing = selecting = what != NULL;
    if (forcing)
        know_comms();
    active = tracing || selecting;
    shapes_select();
    ran_nothing();
    return 0;
}

void end(void)
{
    if (world == MPI_COMM_NULL)
        return;
    active = 0;
    over = 1;
    if (exploring)
        explore_end();
    if (tracing)
        trace_write(world, trace_path);
    tracing = 0;
    free(trace_path);
    if (comms_known)
        comms_end();
    PMPI_Comm_free(&world);
}
