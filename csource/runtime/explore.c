#include "explore.h"
#include "monitor.h"
#include "race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef LEARN_FROM
#define LEARN_FROM 8 /* calls of a class that are left alone: so few do not tell that more will come */
#endif

enum {
    MOST_EXPLORED = 1000,        /* calls of a class, and as many of what is selected */
    FIRST_BATCH = 8, BATCH = 64, /* calls whose times ranks bring together at once */
    FIRST_SITE = 3               /* level of MPI_Pcontrol; lower ones mean something else */
};

enum { FOR_SHARE = 3, FOR_WEIGHTS }; /* what a draw is for, as in online/draw.go */

/* Calls of a communicator at one site that one mix holds for, with sizes of as many bits. */
typedef struct class {
    collective what;
    int site;
    uint64_t low, high; /* bytes */
    const mix *mix;     /* NULL: nothing is explored */
    uint64_t count;
    int explored, watched;
    unsigned char *seen; /* whether each pick of the mix, the selected one and the MPI library's own have served */
    race *race;
    monitor monitor;
    struct class *next;
} class;

struct sample {
    class *class;
    uint64_t bytes, took;
    int chosen;       /* of the mix; its size: what is selected */
    int served;       /* by what was chosen */
    const char *text; /* what is to be written */
    int first;        /* that it served: makes communicators and plans */
};

struct explorer {
    int root; /* the world's first rank; -1: it is not there, or nodes have different numbers of ranks: nothing is explored */
    uint64_t group;
    class *classes, *last[COLLECTIVES];
    account account;
    uint64_t exchange, exchanges; /* ticks that times were brought together in the last time, and how often they were */
    int waiting, batch;
    sample samples[BATCH], watched;
};

int exploring, explore_doubts;

static int site; /* of the next calls */

static struct {
    double share, over;
    uint64_t seed;
    int within;  /* a run */
    int linked;  /* ranks tell one another by RMA where they can */
    int checked; /* ranks compare what they chose */
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
    e->account.over = told.over;
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
        race_free(c->race);
        monitor_free(&c->monitor);
        free(c);
    }
    free(e);
}

/* Whether a pick is what is selected. */
static int is_best(const pick *p, const pick *best)
{
    if (best == NULL || best->algorithm == NULL || p->algorithm == NULL)
        return p->algorithm == (best == NULL ? NULL : best->algorithm);
    return p->algorithm == best->algorithm && p->parameter == best->parameter;
}

/* What a pick may take, beside what is selected. Messages one after another are as many as ranks, where others take turns as
 * often as their number has bits. */
static double may_take(const mix *m, int chosen, int ranks)
{
    const pick *p = &m->picks[chosen];
    double turns = 0;
    if (p->algorithm != NULL && (p->algorithm->needs & ONE_BY_ONE) && p->parameter == 0)
        turns = (double)ranks / (64 - __builtin_clzll((uint64_t)ranks));
    return m->most[chosen] > turns ? m->most[chosen] : turns;
}

static race *race_of(const mix *m, int ranks, uint64_t seed, const pick *best)
{
    race *r = race_new(m->n, m->sums, m->spend, seed);
    for (int i = 0; i < m->n; i++) {
        const algorithm *a = m->picks[i].algorithm;
        if ((a != NULL && !repository_fits(a, ranks)) || (told.within && is_best(&m->picks[i], best)))
            race_leave_out(r, i);
        race_may_take(r, i, may_take(m, i, ranks));
    }
    return r;
}

static class *class_new(struct explorer *e, const shape *at, collective what, uint64_t bytes, const pick *best)
{
    class *c = need(1, sizeof *c);
    int bits = bytes == 0 ? 0 : 64 - __builtin_clzll(bytes);
    c->what = what;
    c->site = site;
    c->low = bits == 0 ? 0 : (uint64_t)1 << (bits - 1);
    c->high = bits == 0 ? 0 : c->low + (c->low - 1);
    c->mix = table_mix(what, at->ranks, at->ppn, bytes, &c->low, &c->high);
    if (c->mix != NULL) {
        monitor_new(&c->monitor, c->mix->n + 1, at->ranks);
        c->seen = need((size_t)c->mix->n + 2, 1);
        c->race = race_of(c->mix, at->ranks, told.seed ^ e->group ^ (uint64_t)table_place(c->mix), best);
    }
    c->next = e->classes;
    return e->classes = c;
}

static int is_of(const class *c, collective what, uint64_t bytes)
{
    return c->what == what && bytes >= c->low && bytes <= c->high && c->site == site;
}

static class *class_of(struct explorer *e, const shape *at, collective what, uint64_t bytes, const pick *best)
{
    class *c = e->last[what];
    if (is_of(c, what, bytes) && c != &nothing)
        return c;
    for (c = e->classes; c != NULL; c = c->next)
        if (is_of(c, what, bytes))
            return e->last[what] = c;
    return e->last[what] = class_new(e, at, what, bytes, best);
}

/* For those who look for faults: an Allreduce before each call shows whether all ranks chose the same. */
static void compare(const comm *c, const class *of, int64_t chosen)
{
    struct timespec pause = {0, 300000000}; /* a launcher may drop the last words of a job that dies */
    int64_t both[2], most[2];
    both[0] = ((int64_t)of->what << 56) ^ (int64_t)(of->low << 40) ^ (int64_t)(of->count << 32) ^ (chosen + 2);
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

/* Whether no rank leaves a call before all have come: then the shortest time is that of the last one, who did not wait. */
static int all_wait(collective what)
{
    return what == ALLGATHER || what == ALLGATHERV || what == ALLREDUCE || what == ALLTOALL || what == BARRIER ||
           what == REDUCE_SCATTER || what == REDUCE_SCATTER_BLOCK;
}

static void tell_race(struct explorer *e, const sample *s, double seconds)
{
    if (told.within)
        race_took(s->class->race, &e->account, s->chosen, seconds);
    else if (s->served)
        race_note(s->class->race, &e->account, s->chosen, seconds, !s->first);
}

/* A first call is kept only when a race gives the algorithm up by it, which is slow without plans: else each job would find that out anew. */
static int is_kept(const sample *s, double seconds)
{
    const algorithm *a = s->chosen < s->class->mix->n ? s->class->mix->picks[s->chosen].algorithm : NULL;
    if (!s->first)
        return 1;
    return told.within && s->served && a != NULL && a->run != NULL && !(a->needs & PLACES) && race_hopeless(s->class->race, seconds);
}

/* The longest and the shortest time over the ranks of each call that waits. What it costs to find them is known the next
 * time. */
static void bring_together(comm *c)
{
    struct explorer *e = c->explorer;
    double t[2 * BATCH + 1], period = clock_period();
    int n = e->waiting;
    for (int i = 0; i < n; i++) {
        t[i] = (double)e->samples[i].took * period;
        t[n + i] = -t[i];
    }
    t[2 * n] = -(double)e->exchange * period;
    e->waiting = 0;
    e->batch = at_most(2 * e->batch, BATCH);
    uint64_t from = ticks();
    if (PMPI_Allreduce(MPI_IN_PLACE, t, 2 * n + 1, MPI_DOUBLE, MPI_MAX, c->handle) != MPI_SUCCESS) {
        e->root = -1;
        return;
    }
    e->exchange = e->exchanges++ == 0 ? 0 : ticks() - from; /* the first one sets up what the others use */
    e->account.held = 0;
    e->account.balance += t[2 * n];
    if (t[2 * n] < 0 && (e->account.exchange <= 0 || -t[2 * n] < e->account.exchange))
        e->account.exchange = -t[2 * n];
    for (int i = 0; i < n; i++)
        tell_race(e, &e->samples[i], all_wait(e->samples[i].class->what) ? -t[n + i] : t[i]);
    for (int i = 0; i < n && c->rank == e->root; i++)
        if (is_kept(&e->samples[i], t[i]))
            samples_add(e->samples[i].class->what, c->shape, e->samples[i].bytes, e->samples[i].text, t[i], -t[n + i]);
    if (c->rank == e->root)
        samples_flush(0);
}

/* Which pick of the mix the next call of a class runs; its size: what is selected, timed; -1: the same, not timed. What is
 * selected is timed first; after that the account must hold the price of a draw. */
static int draw(struct explorer *e, class *c)
{
    uint64_t at[] = {told.seed, e->group, (uint64_t)table_place(c->mix), c->low, c->count, FOR_SHARE};
    int n = sizeof at / sizeof *at;
    double u = uniform(at, n);
    if (u < told.share && c->explored < MOST_EXPLORED && race_begun(c->race)) {
        at[n - 1] = FOR_WEIGHTS;
        int chosen = drawn(c->mix->sums, c->mix->n, uniform(at, n));
        int paid = race_pays(c->race, &e->account, chosen);
        c->explored += paid;
        return paid ? chosen : -1;
    }
    if ((u < told.share && race_begun(c->race)) || u >= 2 * told.share || c->watched == MOST_EXPLORED)
        return -1;
    c->watched++;
    return c->mix->n;
}

static int explore(comm *c, class *of)
{
    int chosen = -1;
    race_earns(of->race, &c->explorer->account);
    if (of->explored < MOST_EXPLORED || of->watched < MOST_EXPLORED)
        chosen = draw(c->explorer, of);
    if (told.checked)
        compare(c, of, chosen);
    return chosen;
}

/* What is chosen of a mix. */
static const pick *pick_of(const comm *c, const class *of, int chosen, const pick *best)
{
    if (chosen < 0 || chosen == of->mix->n)
        return best;
    const pick *p = &of->mix->picks[chosen];
    return p->algorithm != NULL && !repository_fits(p->algorithm, c->shape->ranks) ? NULL : p;
}

static int ask_race(comm *c, class *of)
{
    int chosen = race_next(of->race, &c->explorer->account);
    if (told.checked)
        compare(c, of, (race_state(of->race) << 9) + chosen);
    return chosen;
}

static int race_goes_on(comm *c, class *of)
{
    int chosen = ask_race(c, of);
    if (chosen != RACE_WAIT)
        return chosen;
    bring_together(c);
    return c->explorer->root < 0 ? RACE_BEST : ask_race(c, of);
}

/* Whether all ranks hear now that the best one of a class may have changed. */
static int watch(comm *c, class *of, const pick *best, int *looks)
{
    int who = race_best(of->race);
    if (!of->monitor.on || of->monitor.who != who) {
        monitor_start(&of->monitor, who, race_age(of->race), race_seconds(of->race), c->explorer->account.exchange);
        if (told.checked)
            compare(c, of, (int64_t)(of->monitor.interval ^ of->monitor.doubted << 20));
    }
    if (who == of->mix->n && !race_settled(of->race))
        of->monitor.doubted = 0; /* the race times the base by itself */
    return monitor_enter(&of->monitor, c->handle, of->what, pick_of(c, of, who, best), looks);
}

static void doubt(class *of)
{
    race_doubt(of->race);
    monitor_stop(&of->monitor);
    explore_doubts++;
}

/* Which pick the next call of a class runs: *timed for the race, or, with *watched, the best one, at which the monitor looks
 * afterwards; else neither. */
static int learn(comm *c, class *of, const pick *best, int *timed, int *watched)
{
    race_earns(of->race, &c->explorer->account);
    int chosen = race_goes_on(c, of);
    if (chosen == RACE_BEST && watch(c, of, best, watched)) {
        doubt(of);
        chosen = race_goes_on(c, of);
        *watched = 0;
    }
    *timed = chosen >= 0;
    return *timed ? chosen : race_best(of->race);
}

const pick *explore_call(comm *c, collective what, uint64_t bytes, const pick *best, sample **to)
{
    int timed, watched = 0, chosen;
    if (c->explorer == NULL)
        c->explorer = explorer_new(c->handle, c->shape);
    struct explorer *e = c->explorer;
    if (e->root < 0 || (bytes == 0 && what != BARRIER) || what == ALLTOALLV)
        return best;
    class *of = class_of(e, c->shape, what, bytes, best);
    if (of->mix == NULL || (++of->count <= LEARN_FROM && told.within))
        return best;
    if (told.within) {
        c->lasts = 1;
        chosen = learn(c, of, best, &timed, &watched);
    } else {
        chosen = explore(c, of);
        timed = chosen >= 0;
    }
    if (timed || watched) {
        *to = timed ? &e->samples[e->waiting] : &e->watched;
        (*to)->class = of;
        (*to)->chosen = chosen;
    }
    return pick_of(c, of, chosen, best);
}

void explore_took(comm *c, sample *s, uint64_t bytes, uint64_t took, const char *ran)
{
    struct explorer *e = c->explorer;
    class *of = s->class;
    if (s == &e->watched) {
        if (monitor_leave(&of->monitor, took, ran != NULL))
            doubt(of);
        return;
    }
    unsigned char *seen = &of->seen[ran == NULL ? of->mix->n + 1 : s->chosen];
    s->served = s->chosen == of->mix->n || ran != NULL || of->mix->picks[s->chosen].algorithm == NULL;
    s->text = ran != NULL ? ran : "library_default";
    s->first = !*seen;
    *seen = 1;
    s->bytes = bytes;
    s->took = took;
    if (told.within && !s->first)
        monitor_timed(&of->monitor, s->chosen, race_age(of->race), took);
    if (told.within && !s->served)
        race_refused(of->race, &e->account, s->chosen);
    else if (++e->waiting == (told.within ? BATCH : e->batch))
        bring_together(c);
}

void tutti_site(int number) { site = told.within ? number : 0; }

int MPI_Pcontrol(const int level, ...)
{
    if (level == 1 || level >= FIRST_SITE)
        tutti_site(level == 1 ? 0 : level);
    return PMPI_Pcontrol(level);
}

/* A number of a variable, from 0 to most; 0 with the reason in why when it is none. */
static int share_of(const char *name, double most, double *share, char *why)
{
    char *end;
    const char *text = getenv(name);
    if (text == NULL)
        return 1;
    *share = strtod(text, &end);
    if (end != text && *end == 0 && *share >= 0 && *share <= most)
        return 1;
    snprintf(why, WHY, "%s=%.80s: want a share from 0 to %g", name, text, most);
    return 0;
}

static uint64_t seed_of(const char *text)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return text != NULL ? strtoull(text, NULL, 10) : (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

const char *explore_mode(void)
{
    const char *mode = getenv("TUTTI_MODE");
    return mode != NULL && *mode != 0 ? mode : NULL;
}

/* 0 with the reason in why when something is wrong. */
static int read_settings(const char *folder, char *why)
{
    const char *mode = explore_mode(), *how = getenv("TUTTI_MONITOR");
    told.linked = how == NULL || strcmp(how, "ask") != 0;
    told.seed = seed_of(getenv("TUTTI_SEED"));
    told.checked = getenv("TUTTI_CHECK") != NULL;
    told.within = mode != NULL && strcmp(mode, "learn") == 0;
    if (mode != NULL && !told.within && strcmp(mode, "explore") != 0)
        snprintf(why, WHY, "TUTTI_MODE=%.80s: want explore or learn", mode);
    else if (folder == NULL && !told.within)
        snprintf(why, WHY, "TUTTI_MODE=explore: want a folder, TUTTI_LEARN");
    else if (how != NULL && strcmp(how, "ask") != 0 && strcmp(how, "rma") != 0)
        snprintf(why, WHY, "TUTTI_MONITOR=%.80s: want ask or rma", how);
    else if (table_mixes() == 0)
        snprintf(why, WHY, "the table does not say what to explore");
    else
        return share_of("TUTTI_EXPLORE", 1, &told.share, why) && share_of("TUTTI_OVER", 1e9, &told.over, why) &&
               (folder == NULL || samples_open(folder, why) == 0);
    return 0;
}

void explore_start(MPI_Comm world, const char *folder)
{
    char why[WHY] = "";
    int rank;
    PMPI_Comm_rank(world, &rank);
    told.share = 0.1;
    told.over = 0.03;
    if (rank == 0 && !(told.opened = read_settings(folder, why)))
        fprintf(stderr, "tutti: %s%s%s: nothing is explored\n", folder == NULL ? "" : folder, folder == NULL ? "" : ": ", why);
    PMPI_Bcast(&told, sizeof told, MPI_BYTE, 0, world);
    exploring = told.opened;
    if (exploring && told.within && told.linked)
        channels_start(world);
}

/* Only of the world all ranks know that it is still there. */
void explore_end(void)
{
    comm *c = comm_of(MPI_COMM_WORLD);
    if (c->explorer != NULL && c->explorer->waiting > 0)
        bring_together(c);
    channels_end();
    samples_close();
}
