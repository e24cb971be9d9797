/* fuzz SEED STEPS  makes random calls of collectives on random communicators: prints "wrong ..." for each call with wrong data, and
 *                  "right CALLS" at the end if there was none
 *
 * All ranks draw the same numbers, so that they know what the others do. The groups of a split communicator make their calls at the same
 * time. A few calls in succession use the same communicator, since the library may change its algorithm with the number of calls. */
#include "workload.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE = 20, /* seconds after which a step hangs */
    SLOTS = 6,     /* communicators at a time */
    MOST = 5,      /* calls of a step */
    BITS = 13      /* bits of a number of elements */
};

static int rank, size, calls, wrong, step;
static int mpich, mpich40, openmpi; /* the library is MPICH, MPICH 4.0, or Open MPI */
static int node[64];         /* of each rank of the world: the first rank of its node */
static uint64_t state;
static MPI_Comm slots[SLOTS];

/* The random number generator SplitMix64. Source: Steele, Lea and Flood (2014). */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t draw(uint64_t below)
{
    state += 0x9e3779b97f4a7c15u;
    return mix(state) % below;
}

static void leave(int signal)
{
    struct timespec pause = {0, 200000000}; /* a launcher may drop the last output of a program that dies */
    fprintf(stderr, "step %d of rank %d: signal %d\n", step, rank, signal);
    nanosleep(&pause, NULL);
    _exit(1);
}

/* Finds the ranks of each node with point-to-point messages only, since the collectives are under test. */
static void find_nodes(void)
{
    MPI_Comm here;
    MPI_Group group, all;
    int first = 0, own;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here);
    MPI_Comm_group(here, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_translate_ranks(group, 1, &first, all, &own);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    MPI_Comm_free(&here);
    for (int r = 0; r < size; r++)
        MPI_Sendrecv(&own, 1, MPI_INT, (rank + r) % size, 2, &node[(rank - r + size) % size], 1, MPI_INT,
                     (rank - r + size) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Returns whether the first rank is alone on its node and some other node has several ranks. */
static int first_alone(MPI_Comm comm, int n)
{
    MPI_Group group, all;
    int own[64], at[64], shared = 0;
    for (int i = 0; i < n; i++)
        own[i] = i;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_translate_ranks(group, n, own, all, at);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    for (int i = 1; i < n; i++) {
        if (node[at[i]] == node[at[0]])
            return 0;
        for (int k = 1; k < i; k++)
            shared |= node[at[i]] == node[at[k]];
    }
    return shared;
}

/* Returns whether MPICH or Open MPI computes this call wrongly. docs/reference/failures.md lists the faults. */
static int faulty(MPI_Comm comm, collective what, form f, int count, int n)
{
    size_t bytes = (size_t)count * element_bytes(what);
    if (openmpi)
        return (what == ALLGATHERV && f.counts && !f.in_place) || (what == ALLREDUCE && f.gaps && f.op == OWN && bytes >= 4096);
    if (!mpich || count == 0)
        return 0;
    if (what == REDUCE)
        return mpich40 && f.op != ORDERED && bytes > 2048 && ((f.in_place && f.root > 0) || first_alone(comm, n));
    if (what == REDUCE_SCATTER || what == REDUCE_SCATTER_BLOCK)
        return f.gaps && f.op == ORDERED && !f.uneven && (n & (n - 1)) == 0;
    return 0;
}

/* Replaces a buffer by MPI_BOTTOM and its type by one of absolute addresses. */
static void to_bottom(const void **buf, MPI_Datatype *type)
{
    MPI_Datatype placed;
    MPI_Aint address, lower, extent;
    int one = 1;
    MPI_Get_address(*buf, &address);
    MPI_Type_get_extent(*type, &lower, &extent);
    MPI_Type_create_hindexed(1, &one, &address, *type, &placed);
    MPI_Type_create_resized(placed, 0, extent, type);
    MPI_Type_free(&placed);
    MPI_Type_commit(type);
    *buf = MPI_BOTTOM;
}

/* Subtracts `by` from all displacements, which may become negative. The addresses of the buffers grow by as many
 * items, so that the blocks stay where they are. */
static void shift(workload *w, int by)
{
    size_t items = (size_t)by;
    for (int r = 0; r < 2 * w->size; r++)
        w->displs[r] -= by;
    w->args.to = (char *)w->args.to + items * item_bytes(&w->received, w->what);
    if (w->what == ALLTOALLV && w->args.from != MPI_IN_PLACE && w->args.from != NULL)
        w->args.from = (const char *)w->args.from + items * item_bytes(&w->sent, w->what);
}

/* Passes NULL for a buffer that holds nothing. MPICH rejects two NULLs as one buffer that is both sent and received. */
static void drop_empty(workload *w)
{
    int all = 0, own = w->counts[w->rank];
    for (int r = 0; r < w->size; r++)
        all += w->counts[r];
    if (w->args.from != MPI_IN_PLACE && (w->what == ALLGATHERV ? own : all) == 0)
        w->args.from = NULL;
    else if (w->args.to != MPI_IN_PLACE && (w->what == REDUCE_SCATTER && !workload_in_place(w) ? own : all) == 0)
        w->args.to = NULL;
}

/* Makes this rank describe its buffers in another way that the standard permits. `made` gets the datatypes that
 * replace those of the arguments. */
static void disguise(workload *w, uint64_t number, MPI_Datatype made[2])
{
    int vectors = w->what == ALLGATHERV || w->what == ALLTOALLV, reduces = collective_has(w->what, REDUCES);
    made[0] = made[1] = MPI_DATATYPE_NULL;
    if (w->received.count == 0 && !vectors && !reduces && (mix(number) & 1)) { /* elements of size zero, on all ranks */
        MPI_Type_contiguous(0, MPI_INT, &made[0]);
        MPI_Type_commit(&made[0]);
        w->args.from_type = w->args.to_type = made[0];
        w->args.from_count = w->args.to_count = 3;
    }
    number = mix(number + (uint64_t)rank);
    if (vectors && (number & 2) && w->size > 1) /* alone, MPICH ignores displacements */
        shift(w, 1 + (int)(number >> 16) % 5);
    if (number & 4)
        drop_empty(w);
    if (w->received.count == 0 || w->what == BARRIER)
        return;
    /* If a call in place receives at MPI_BOTTOM, reductions of Open MPI and gathers of MPICH give wrong data. */
    if (w->args.from != MPI_IN_PLACE && w->args.from != NULL && w->args.from_type != MPI_DATATYPE_NULL && !reduces && (number & 8)) {
        to_bottom(&w->args.from, &w->args.from_type);
        made[0] = w->args.from_type;
    }
    int in_place = w->args.from == MPI_IN_PLACE;
    int placed = reduces ? !openmpi && in_place && w->form.op != BUILTIN : !mpich40 || w->what != GATHER || !in_place;
    if (w->args.to != MPI_IN_PLACE && w->args.to != NULL && placed && (number & 16)) {
        const void *to = w->args.to;
        to_bottom(&to, &w->args.to_type);
        w->args.to = MPI_BOTTOM;
        made[1] = w->args.to_type;
    }
}

static void attempt(MPI_Comm comm, collective what, form f, int count, int salt, uint64_t number)
{
    workload w;
    MPI_Datatype made[2];
    char name[WHY], why[WHY] = "";
    if (workload_make(&w, what, f, count, comm, why) == 0) {
        int length;
        workload_fill(&w, salt);
        disguise(&w, number, made);
        int error = workload_call(&w);
        for (int i = 0; i < 2; i++)
            if (made[i] != MPI_DATATYPE_NULL)
                MPI_Type_free(&made[i]);
        if (error == MPI_SUCCESS)
            workload_right(&w, salt, why);
        else
            MPI_Error_string(error, why, &length);
        workload_free(&w);
    }
    if (why[0] == 0)
        return;
    form_name(f, name);
    printf("wrong step %d: %s %d %s: %s\n", step, collective_name(what), count, name, why);
    fflush(stdout);
    wrong++;
}

/* Makes a random call. All ranks draw the same random numbers, also a rank that is not in the call's communicator. */
static void call(void)
{
    MPI_Comm comm = slots[draw(SLOTS)];
    collective what = (collective)draw(COLLECTIVES);
    uint64_t number = draw(1u << 30);
    int count = (int)draw((uint64_t)1 << draw(BITS)), repeat = 1 + (int)draw(MOST), n;
    calls += repeat;
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_size(comm, &n);
    form f = form_at((int)(number % (uint64_t)forms(n)), n);
    if (!form_exists(f, what) || faulty(comm, what, f, count, n))
        return;
    for (int i = 0; i < repeat; i++)
        attempt(comm, what, f, count, step + i, number);
}

/* Replaces the communicator of a slot. The new one is a part of the world, the world in another order, a copy of
 * another communicator, or a part of it. */
static void replace(void)
{
    int into = (int)draw(SLOTS), from = (int)draw(SLOTS), kind = (int)draw(4), parts = 1 + (int)draw((uint64_t)size);
    uint64_t seed = draw(1u << 30);
    int color = (int)(mix(seed + (uint64_t)rank) % (uint64_t)parts), key = (int)(mix(seed * 31 + (uint64_t)rank) % 1000);
    MPI_Comm made = MPI_COMM_NULL, of = slots[from];
    if (kind == 0)
        MPI_Comm_split(MPI_COMM_WORLD, color, rank, &made);
    else if (kind == 1)
        MPI_Comm_split(MPI_COMM_WORLD, color == 0 ? MPI_UNDEFINED : 0, key, &made);
    else if (kind == 2 && of != MPI_COMM_NULL)
        MPI_Comm_dup(of, &made);
    else if (of != MPI_COMM_NULL)
        MPI_Comm_split(of, color, key, &made);
    if (made != MPI_COMM_NULL)
        MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    if (slots[into] != MPI_COMM_NULL)
        MPI_Comm_free(&slots[into]);
    slots[into] = made;
}

/* Prints "right" if no process had wrong data. */
static void conclude(void)
{
    if (rank != 0)
        MPI_Send(&wrong, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    for (int r = 1; rank == 0 && r < size; r++) {
        int other;
        MPI_Recv(&other, 1, MPI_INT, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong += other;
    }
    if (rank == 0 && wrong == 0)
        printf("right %d\n", calls);
}

int main(int argc, char **argv)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Init(&argc, &argv);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    signal(SIGALRM, leave);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(library, &length);
    mpich = strstr(library, "MPICH Version:") != NULL;
    mpich40 = strstr(library, "MPICH Version:\t4.0") != NULL;
    openmpi = strstr(library, "Open MPI") != NULL;
    find_nodes();
    state = strtoull(argv[1], NULL, 10);
    for (int i = 0; i < SLOTS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &slots[i]);
        MPI_Comm_set_errhandler(slots[i], MPI_ERRORS_RETURN);
    }
    for (step = 0; step < atoi(argv[2]); step++) {
        alarm(PATIENCE);
        if (draw(16) == 0)
            replace();
        else
            call();
    }
    alarm(PATIENCE);
    for (int i = 0; i < SLOTS; i++)
        if (slots[i] != MPI_COMM_NULL)
            MPI_Comm_free(&slots[i]);
    conclude();
    MPI_Finalize();
    return 0;
}
