#include "explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_EXPLORED = 1000,       /* calls of a class, and as many of what is selected */
    FIRST_BATCH = 8, BATCH = 64 /* calls whose times ranks bring together at once */
};

enum { FOR_SHARE = 3, FOR_WEIGHTS }; /* what a draw is for, as in campaign/online/draw.go */

/* Calls of a communicator that one mix holds for, with sizes of as many bits. */
typedef struct class {
    collective what;
    uint64_t low, high; /* bytes */
    const mix *mix;     /* NULL: nothing is explored */
    uint64_t count;
    int explored, watched;
    unsigned char *seen; /* whether each pick of the mix, the selected one and the MPI library's own have served */
    struct class *next;
} class;

struct sample {
    class *class;
    uint64_t bytes, took;
    int chosen;       /* of the mix; its size: what is selected */
    const char *text; /* what is to be written; NULL: nothing */
};

struct explorer {
    int root; /* the world's first rank; -1: it is not there, or nodes have different numbers of ranks: nothing is explored */
    uint64_t group;
    class *classes, *last[COLLECTIVES];
    int waiting, batch;
    sample samples[BATCH];
};

int exploring;

static struct {
    double share;
    uint64_t seed;
    int checked; /* ranks compare what they drew */
    int opened;
} told;

static class nothing; /* of no size */

static struct explorer *explorer_new(MPI_Comm handle, const shape *at)
{
    struct explorer *e = need(1, sizeof *e);
    int n, *members = comm_members(handle, &n);
    uint64_t h = 14695981039346656037u; /* FNV-1a, a member at a time */
    e->root = -1;
    e->batch = FIRST_BATCH;
    for (int i = 0; i < n; i++) {
        h = (h ^ (uint64_t)members[i]) * 1099511628211u;
        if (members[i] == 0 && at->ranks == at->nodes * at->ppn)
            e->root = i;
    }
    for (int i = 0; i < COLLECTIVES; i++)
        e->last[i] = &nothing;
    e->group = h;
    free(members);
    return e;
}

void explorer_free(struct explorer *e)
{
    while (e != NULL && e->classes != NULL) {
        class *c = e->classes;
        e->classes = c->next;
        free(c->seen);
        free(c);
    }
    free(e);
}

static class *class_new(struct explorer *e, const shape *at, collective what, uint64_t bytes)
{
    class *c = need(1, sizeof *c);
    int bits = bytes == 0 ? 0 : 64 - __builtin_clzll(bytes);
    c->what = what;
    c->low = bits == 0 ? 0 : (uint64_t)1 << (bits - 1);
    c->high = bits == 0 ? 0 : c->low + (c->low - 1);
    c->mix = table_mix(what, at->ranks, at->ppn, bytes, &c->low, &c->high);
    if (c->mix != NULL)
        c->seen = need((size_t)c->mix->n + 2, 1);
    c->next = e->classes;
    return e->classes = c;
}

static class *class_of(struct explorer *e, const shape *at, collective what, uint64_t bytes)
{
    class *c = e->last[what];
    if (c->what == what && bytes >= c->low && bytes <= c->high && c != &nothing)
        return c;
    for (c = e->classes; c != NULL; c = c->next)
        if (c->what == what && bytes >= c->low && bytes <= c->high)
            return e->last[what] = c;
    return e->last[what] = class_new(e, at, what, bytes);
}

/* For those who look for faults: an Allreduce before each call shows whether all ranks chose the same. */
static void compare(const comm *c, const class *of, int chosen)
{
    struct timespec pause = {0, 300000000}; /* a launcher may drop the last words of a job that dies */
    int64_t both[2], most[2];
    both[0] = ((int64_t)of->what << 56) ^ (int64_t)(of->low << 16) ^ (int64_t)(of->count << 9) ^ (chosen + 2);
    both[1] = ~both[0];
    PMPI_Allreduce(both, most, 2, MPI_INT64_T, MPI_MAX, c->handle);
    if (most[0] == ~most[1])
        return;
    if (both[0] == most[0])
        fprintf(stderr, "tutti: ranks chose differently: call %llu of %s from %llu bytes on\n", (unsigned long long)of->count,
                collective_name(of->what), (unsigned long long)of->low);
    nanosleep(&pause, NULL);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

/* Which pick of the mix the next call of a class runs; its size: what is selected, timed; -1: the same, not timed. */
static int choose(const struct explorer *e, class *c)
{
    uint64_t at[] = {told.seed, e->group, (uint64_t)table_place(c->mix), c->low, c->count, FOR_SHARE};
    int n = sizeof at / sizeof *at;
    double u = uniform(at, n);
    if (u < told.share && c->explored < MOST_EXPLORED) {
        c->explored++;
        at[n - 1] = FOR_WEIGHTS;
        return drawn(c->mix->sums, c->mix->n, uniform(at, n));
    }
    if (u < told.share || u >= 2 * told.share || c->watched == MOST_EXPLORED)
        return -1;
    c->watched++;
    return c->mix->n;
}

const pick *explore_call(comm *c, collective what, uint64_t bytes, const pick *best, sample **to)
{
    if (c->explorer == NULL)
        c->explorer = explorer_new(c->handle, c->shape);
    struct explorer *e = c->explorer;
    if (e->root < 0 || (bytes == 0 && what != BARRIER) || what == ALLTOALLV)
        return best;
    class *of = class_of(e, c->shape, what, bytes);
    if (of->mix == NULL)
        return best;
    of->count++;
    int done = of->explored == MOST_EXPLORED && of->watched == MOST_EXPLORED, chosen = done ? -1 : choose(e, of);
    if (told.checked)
        compare(c, of, chosen);
    if (chosen < 0)
        return best;
    *to = &e->samples[e->waiting];
    (*to)->class = of;
    (*to)->chosen = chosen;
    if (chosen == of->mix->n)
        return best;
    const pick *p = &of->mix->picks[chosen];
    return p->algorithm != NULL && !repository_fits(p->algorithm, c->shape->ranks) ? NULL : p;
}

/* The longest and the shortest time over the ranks of each call that waits. */
static void bring_together(comm *c)
{
    struct explorer *e = c->explorer;
    double t[2 * BATCH], period = clock_period();
    int n = e->waiting, here = c->rank == e->root;
    for (int i = 0; i < n; i++) {
        t[i] = (double)e->samples[i].took * period;
        t[n + i] = -t[i];
    }
    e->waiting = 0;
    e->batch = at_most(2 * e->batch, BATCH);
    if (PMPI_Reduce(here ? MPI_IN_PLACE : t, t, 2 * n, MPI_DOUBLE, MPI_MAX, e->root, c->handle) != MPI_SUCCESS || !here)
        return;
    for (int i = 0; i < n; i++)
        if (e->samples[i].text != NULL)
            samples_add(e->samples[i].class->what, c->shape, e->samples[i].bytes, e->samples[i].text, t[i], -t[n + i]);
    samples_flush(0);
}

/* The first call that an algorithm serves makes communicators and plans: it is not kept. */
void explore_took(comm *c, sample *s, uint64_t bytes, uint64_t took, const char *ran)
{
    struct explorer *e = c->explorer;
    unsigned char *seen = &s->class->seen[ran == NULL ? s->class->mix->n + 1 : s->chosen];
    s->text = !*seen ? NULL : ran != NULL ? ran : "library_default";
    *seen = 1;
    s->bytes = bytes;
    s->took = took;
    if (++e->waiting == e->batch)
        bring_together(c);
}

/* A number from 0 to 1 of a variable; 0 with the reason in why when it is none. */
static int share_of(const char *text, double *share, char *why)
{
    char *end;
    if (text == NULL)
        return 1;
    *share = strtod(text, &end);
    if (end != text && *end == 0 && *share >= 0 && *share <= 1)
        return 1;
    snprintf(why, WHY, "TUTTI_EXPLORE=%.80s: want a share from 0 to 1", text);
    return 0;
}

static uint64_t seed_of(const char *text)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return text != NULL ? strtoull(text, NULL, 10) : (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void explore_start(MPI_Comm world, const char *folder)
{
    char why[WHY] = "";
    int rank;
    PMPI_Comm_rank(world, &rank);
    told.share = 0.1;
    told.opened = 0;
    if (rank == 0) {
        told.seed = seed_of(getenv("TUTTI_SEED"));
        told.checked = getenv("TUTTI_CHECK") != NULL;
        if (table_mixes() == 0)
            snprintf(why, WHY, "the table does not say what to explore");
        else
            told.opened = share_of(getenv("TUTTI_EXPLORE"), &told.share, why) && samples_open(folder, why) == 0;
        if (!told.opened)
            fprintf(stderr, "tutti: %s: %s: nothing is explored\n", folder, why);
    }
    PMPI_Bcast(&told, sizeof told, MPI_BYTE, 0, world);
    exploring = told.opened;
}

/* Only of the world all ranks know that it is still there. */
void explore_end(void)
{
    comm *c = comm_of(MPI_COMM_WORLD);
    if (c->explorer != NULL && c->explorer->waiting > 0)
        bring_together(c);
    samples_close();
}
