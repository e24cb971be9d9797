#include "clock.h"
#include "comm.h"
#include "draw.h"
#include "elimination.h"
#include "explore.h"
#include "monitor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef LEARN_FROM
#define LEARN_FROM 8 /* in mode learn, the first calls of a class try nothing; after so many calls, more are likely */
#endif

enum { MOST_EXPLORED = 1000 };              /* most calls of a class that run drawn algorithms; as many of the selected algorithm are timed */
enum { FIRST_BATCH = 8, MOST_PENDING = 64 }; /* calls whose times ranks exchange at once; a batch grows from the first to the second */
enum { UNTIMED = -1 };                      /* the selected algorithm serves without being timed */

enum { DRAW_SHARE, DRAW_ALGORITHM }; /* the last number that a draw hashes, so that the two draws of a call differ */

/* A class is the calls of one communicator that are explored together. They have the same collective, mix (the table's
 * list of algorithms to explore) and site (place in the program). Their sizes have the same number of bits. If ranks
 * pass different sizes, calls of one site are one class, whose pattern of messages is that of the site. */
typedef struct class {
    collective what;
    int site;
    uint64_t low, high; /* bytes */
    const mix *mix;     /* NULL: nothing is explored */
    uint64_t count;     /* calls */
    int explored, timed; /* calls in mode explore: of drawn algorithms, and of the selected one */
    unsigned char *seen; /* of each pick of the mix, the selected algorithm and the MPI library's: whether it has served */
    elimination *elimination;
    monitor monitor;
    struct class *next;
} class;

/* A sample is a timed call, with the algorithm that was chosen for it. */
struct sample {
    class *class;
    uint64_t bytes, ticks;
    int chosen;       /* index of a pick of the mix; the number of picks: the selected algorithm */
    int served;       /* whether the chosen algorithm served the call */
    const char *name; /* name of the algorithm that served, as in the file of samples */
    int first;        /* the algorithm's first call in the class, which may create communicators */
};

/* The state of exploration on one communicator. */
struct explorer {
    int root;       /* which writes samples: the rank that is rank 0 of the world. -1: nothing is explored, since that rank is
                       not a member or nodes have different numbers of ranks */
    uint64_t group; /* hash of the members */
    class *classes, *last[COLLECTIVES];
    exploration_budget budget;
    uint64_t exchange_ticks, exchanges; /* of the last exchange of times, and how many there were */
    int pending, batch;                 /* samples that are not exchanged yet, and how many of them are exchanged at once */
    sample samples[MOST_PENDING], watched;
};

int exploring, explore_trials, explore_rechecks;

static PER_THREAD int site; /* of the next calls */

/* The settings of exploration. All ranks use the settings of rank 0. */
static struct {
    double share; /* of calls that are explored */
    double budget; /* share of the selected algorithm's time that exploring may cost */
    uint64_t seed;
    int learn;  /* mode learn, else explore */
    int use_rma; /* ranks announce changes by one-sided communication where they can */
    int check;  /* ranks check that they choose alike */
    int valid;
} settings;

static class no_class; /* matches no call */

static struct explorer *explorer_new(MPI_Comm handle, const shape *at)
{
    struct explorer *e = allocate(1, sizeof *e);
    int n, *members = comm_members(handle, &n);
    uint64_t h = 14695981039346656037u; /* FNV-1a, one member at a time */
    e->root = -1;
    e->batch = FIRST_BATCH;
    e->budget.share = settings.budget;
    for (int i = 0; i < n; i++) {
        h = (h ^ (uint64_t)members[i]) * 1099511628211u;
        if (members[i] == 0 && at->ranks == at->nodes * at->ppn)
            e->root = i;
    }
    for (int i = 0; i < COLLECTIVES; i++)
        e->last[i] = &no_class;
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
        elimination_free(c->elimination);
        monitor_free(&c->monitor);
        free(c);
    }
    free(e);
}

static int same_pick(const pick *p, const pick *best)
{
    if (best == NULL || best->algorithm == NULL || p->algorithm == NULL)
        return p->algorithm == (best == NULL ? NULL : best->algorithm);
    return p->algorithm == best->algorithm && p->parameter == best->parameter;
}

/* Returns the time limit of a pick (an algorithm to explore), as a multiple of the selected algorithm's time; 0 means
 * unknown. It is the limit in the table. For an algorithm without a parameter that sends all messages one after
 * another, it is at least about ranks / log2(ranks): such an algorithm takes `ranks` steps, while others take about
 * log2(ranks). */
static double time_limit(const mix *m, int chosen, int ranks)
{
    const pick *p = &m->picks[chosen];
    double steps = 0;
    if (p->algorithm != NULL && (p->algorithm->needs & ONE_BY_ONE) && p->parameter == 0)
        steps = (double)ranks / (64 - __builtin_clzll((uint64_t)ranks));
    return m->most[chosen] > steps ? m->most[chosen] : steps;
}

static elimination *elimination_of(const mix *m, int ranks, uint64_t seed, const pick *best)
{
    elimination *e = elimination_new(m->n, m->sums, m->budget, seed);
    for (int i = 0; i < m->n; i++) {
        const algorithm *a = m->picks[i].algorithm;
        if ((a != NULL && !repository_fits(a, ranks)) || (settings.learn && same_pick(&m->picks[i], best)))
            elimination_exclude(e, i);
        elimination_limit(e, i, time_limit(m, i, ranks));
    }
    return e;
}

/* Returns the mix of a class, and limits its sizes to those of the mix. If ranks pass different sizes,
 * the mix is for every size, and nothing is explored if the table selects different algorithms for them. */
static const mix *mix_of(class *c, const shape *at, uint64_t bytes)
{
    const struct row *row = at->rows[c->what];
    if (collective_has(c->what, SIZES_DIFFER)) {
        c->low = 0;
        c->high = MOST_BYTES;
        if (row != NULL && row->bands[0].up_to < MOST_BYTES)
            return NULL;
    }
    return table_mix(c->what, at->ranks, at->ppn, bytes, &c->low, &c->high);
}

static class *class_new(struct explorer *e, const shape *at, collective what, uint64_t bytes, const pick *best)
{
    class *c = allocate(1, sizeof *c);
    int bits = bytes == 0 ? 0 : 64 - __builtin_clzll(bytes);
    c->what = what;
    c->site = site;
    c->low = bits == 0 ? 0 : (uint64_t)1 << (bits - 1);
    c->high = bits == 0 ? 0 : c->low + (c->low - 1);
    c->mix = mix_of(c, at, bytes);
    if (c->mix != NULL) {
        monitor_new(&c->monitor, c->mix->n + 1, at->ranks);
        c->seen = allocate((size_t)c->mix->n + 2, 1);
        c->elimination = elimination_of(c->mix, at->ranks, settings.seed ^ e->group ^ (uint64_t)table_place(c->mix), best);
    }
    c->next = e->classes;
    return e->classes = c;
}

static int contains(const class *c, collective what, uint64_t bytes)
{
    return c->what == what && bytes >= c->low && bytes <= c->high && c->site == site;
}

static class *class_of(struct explorer *e, const shape *at, collective what, uint64_t bytes, const pick *best)
{
    class *c = e->last[what];
    if (contains(c, what, bytes) && c != &no_class)
        return c;
    for (c = e->classes; c != NULL; c = c->next)
        if (contains(c, what, bytes))
            return e->last[what] = c;
    return e->last[what] = class_new(e, at, what, bytes, best);
}

/* Ends the job if ranks have chosen different algorithms. The check is for debugging, because it adds an allreduce
 * before each call. */
static void check_agreement(const comm *c, const class *of, int64_t chosen)
{
    struct timespec pause = {0, 300000000}; /* launchers may lose output that a job prints just before it aborts */
    int64_t both[2], most[2];
    both[0] = ((int64_t)of->what << 56) ^ (int64_t)(of->low << 40) ^ (int64_t)(of->count << 32) ^ (chosen + 2);
    both[1] = ~both[0];
    PMPI_Allreduce(both, most, 2, MPI_INT64_T, MPI_MAX, c->handle);
    if (most[0] == ~most[1])
        return;
    if (both[0] == most[0])
        fprintf(stderr, "tutti: ranks chose different algorithms: call %llu of %s, %llu bytes or more\n", (unsigned long long)of->count,
                collective_name(of->what), (unsigned long long)of->low);
    nanosleep(&pause, NULL);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

static void add_time(struct explorer *e, const sample *s, double seconds)
{
    if (settings.learn)
        elimination_add_time(s->class->elimination, &e->budget, s->chosen, seconds);
    else if (s->served)
        elimination_record(s->class->elimination, &e->budget, s->chosen, seconds, !s->first);
}

/* Returns whether a sample is written to the file. The first call of an algorithm may be slow because it creates
 * communicators, so its sample is usually not written. It is written if the algorithm creates none and is so slow that
 * the elimination drops it: otherwise each job would try the algorithm again. */
static int is_kept(const sample *s, double seconds)
{
    const algorithm *a = s->chosen < s->class->mix->n ? s->class->mix->picks[s->chosen].algorithm : NULL;
    if (!s->first)
        return 1;
    return settings.learn && s->served && a != NULL && a->run != NULL && !(a->needs & LAYOUT) && elimination_drops(s->class->elimination, seconds);
}

/* Lets the ranks exchange the times of their pending samples, so that all know the longest and the shortest time of
 * each. The budget pays for the previous exchange, because the duration of an exchange is known only afterwards. */
static void exchange_times(comm *c)
{
    struct explorer *e = c->explorer;
    double t[2 * MOST_PENDING + 1], period = clock_period();
    int n = e->pending;
    for (int i = 0; i < n; i++) {
        t[i] = (double)e->samples[i].ticks * period;
        t[n + i] = -t[i];
    }
    t[2 * n] = -(double)e->exchange_ticks * period;
    e->pending = 0;
    e->batch = at_most(2 * e->batch, MOST_PENDING);
    uint64_t from = ticks();
    if (PMPI_Allreduce(MPI_IN_PLACE, t, 2 * n + 1, MPI_DOUBLE, MPI_MAX, c->handle) != MPI_SUCCESS) {
        e->root = -1;
        return;
    }
    e->exchange_ticks = e->exchanges++ == 0 ? 0 : ticks() - from; /* the first exchange sets up connections */
    budget_settle(&e->budget, -t[2 * n]);
    for (int i = 0; i < n; i++) /* if every rank enters before any rank leaves, the rank that enters last does not wait for others */
        add_time(e, &e->samples[i], collective_has(e->samples[i].class->what, SYNCHRONIZES) ? -t[n + i] : t[i]);
    for (int i = 0; i < n && c->rank == e->root; i++)
        if (is_kept(&e->samples[i], t[i]))
            samples_add(e->samples[i].class->what, c->shape, e->samples[i].bytes, e->samples[i].name, t[i], -t[n + i]);
    if (c->rank == e->root)
        samples_flush(0);
}

/* Draws the algorithm that serves the next call of a class in mode explore. The mix is the table's list of algorithms
 * to explore (picks). Returns the index of a pick or, for the selected algorithm, the number of picks. Returns UNTIMED
 * if the selected algorithm serves the call without being timed. The selected algorithm is timed before any pick is
 * drawn. */
static int draw(struct explorer *e, class *c)
{
    uint64_t at[] = {settings.seed, e->group, (uint64_t)table_place(c->mix), c->low, c->count, DRAW_SHARE};
    int n = sizeof at / sizeof *at;
    double u = uniform(at, n);
    if (u < settings.share && c->explored < MOST_EXPLORED && elimination_has_baseline(c->elimination)) {
        at[n - 1] = DRAW_ALGORITHM;
        int chosen = draw_index(c->mix->sums, c->mix->n, uniform(at, n));
        int affordable = elimination_affords(c->elimination, &e->budget, chosen);
        c->explored += affordable;
        return affordable ? chosen : UNTIMED;
    }
    if ((u < settings.share && elimination_has_baseline(c->elimination)) || u >= 2 * settings.share || c->timed == MOST_EXPLORED)
        return UNTIMED;
    c->timed++;
    return c->mix->n;
}

static int explore(comm *c, class *of)
{
    int chosen = UNTIMED;
    elimination_credit(of->elimination, &c->explorer->budget);
    if (of->explored < MOST_EXPLORED || of->timed < MOST_EXPLORED)
        chosen = draw(c->explorer, of);
    if (settings.check)
        check_agreement(c, of, chosen);
    __atomic_fetch_add(&explore_trials, chosen >= 0 && chosen < of->mix->n, __ATOMIC_RELAXED);
    return chosen;
}

/* Returns the algorithm for a number that `draw` or `learn` returned. NULL means the MPI library's own algorithm. */
static const pick *pick_of(const comm *c, const class *of, int chosen, const pick *best)
{
    if (chosen < 0 || chosen == of->mix->n)
        return best;
    const pick *p = &of->mix->picks[chosen];
    return p->algorithm != NULL && !repository_fits(p->algorithm, c->shape->ranks) ? NULL : p;
}

static int next_candidate(comm *c, class *of)
{
    int chosen = elimination_next(of->elimination, &c->explorer->budget);
    if (settings.check)
        check_agreement(c, of, (elimination_state(of->elimination) << 9) + chosen);
    return chosen;
}

/* Returns the candidate that the elimination wants timed in the next call. Returns SERVE_BEST if it wants none: the
 * best candidate then serves the call. */
static int candidate_or_best(comm *c, class *of)
{
    int chosen = next_candidate(c, of);
    if (chosen != EXCHANGE_TIMES)
        return chosen;
    exchange_times(c);
    return c->explorer->root < 0 ? SERVE_BEST : next_candidate(c, of);
}

/* Prepares the monitor, which detects changed times, for the next call of a class that the best candidate serves.
 * Returns whether all ranks must compare this candidate with its rivals again at this call. */
static int watch(comm *c, class *of, const pick *best, int *timed)
{
    int candidate = elimination_best(of->elimination);
    if (!of->monitor.watching || of->monitor.candidate != candidate) {
        monitor_start(&of->monitor, candidate, elimination_restarts(of->elimination), elimination_seconds(of->elimination), c->explorer->budget.exchange);
        if (settings.check)
            check_agreement(c, of, (int64_t)(of->monitor.ask_interval ^ of->monitor.next_recheck << 20));
    }
    if (candidate == of->mix->n && !elimination_finished(of->elimination))
        of->monitor.next_recheck = 0; /* the elimination times the baseline by itself */
    return monitor_enter(&of->monitor, c->handle, of->what, pick_of(c, of, candidate, best), timed);
}

static void recheck(class *of)
{
    elimination_recheck(of->elimination);
    monitor_stop(&of->monitor);
    __atomic_fetch_add(&explore_rechecks, 1, __ATOMIC_RELAXED);
}

/* Chooses the algorithm that serves the next call of a class in mode learn. *timed becomes 1 if the time of the call
 * must be passed to the elimination. *watched becomes 1 if the monitor times the call. */
static int learn(comm *c, class *of, const pick *best, int *timed, int *watched)
{
    elimination_credit(of->elimination, &c->explorer->budget);
    int chosen = candidate_or_best(c, of);
    if (chosen == SERVE_BEST && watch(c, of, best, watched)) {
        recheck(of);
        chosen = candidate_or_best(c, of);
        *watched = 0;
    }
    *timed = chosen >= 0;
    __atomic_fetch_add(&explore_trials, *timed, __ATOMIC_RELAXED);
    return *timed ? chosen : elimination_best(of->elimination);
}

const pick *explore_call(comm *c, collective what, uint64_t bytes, const pick *best, sample **to)
{
    int timed, watched = 0, chosen;
    if (c->explorer == NULL)
        c->explorer = explorer_new(c->handle, c->shape);
    struct explorer *e = c->explorer;
    if (e->root < 0 || (bytes == 0 && what != BARRIER && !collective_has(what, SIZES_DIFFER)))
        return best;
    class *of = class_of(e, c->shape, what, bytes, best);
    if (of->mix == NULL || (++of->count <= LEARN_FROM && settings.learn))
        return best;
    if (settings.learn) {
        c->lasts = 1;
        chosen = learn(c, of, best, &timed, &watched);
    } else {
        chosen = explore(c, of);
        timed = chosen != UNTIMED;
    }
    if (timed || watched) {
        *to = timed ? &e->samples[e->pending] : &e->watched;
        (*to)->class = of;
        (*to)->chosen = chosen;
    }
    return pick_of(c, of, chosen, best);
}

void explore_record(comm *c, sample *s, uint64_t bytes, uint64_t took, const char *served_by)
{
    struct explorer *e = c->explorer;
    class *of = s->class;
    if (s == &e->watched) {
        if (monitor_leave(&of->monitor, took, served_by != NULL))
            recheck(of);
        return;
    }
    unsigned char *seen = &of->seen[served_by == NULL ? of->mix->n + 1 : s->chosen];
    s->served = s->chosen == of->mix->n || served_by != NULL || of->mix->picks[s->chosen].algorithm == NULL;
    s->name = served_by != NULL ? served_by : "library_default";
    s->first = !*seen;
    *seen = 1;
    s->bytes = collective_has(of->what, SIZES_DIFFER) ? 0 : bytes;
    s->ticks = took;
    if (settings.learn && !s->first)
        monitor_add_time(&of->monitor, s->chosen, elimination_restarts(of->elimination), took);
    if (settings.learn && !s->served)
        elimination_refuse(of->elimination, &e->budget, s->chosen);
    else if (++e->pending == (settings.learn ? MOST_PENDING : e->batch))
        exchange_times(c);
}

void tutti_site(int number) { site = settings.learn ? number : 0; }

/* Reads a number from 0 to `most` from an environment variable, if it is set. If the variable holds anything else,
 * the function returns 0, and `why` holds the reason. */
static int read_share(const char *name, double most, double *share, char *why)
{
    char *end;
    const char *text = getenv(name);
    if (text == NULL)
        return 1;
    *share = strtod(text, &end);
    if (end != text && *end == 0 && *share >= 0 && *share <= most)
        return 1;
    snprintf(why, WHY, "%s=%.80s: want a number from 0 to %g", name, text, most);
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

/* Reads this rank's environment and opens the file of samples. On an error it returns 0, and `why` holds the reason. */
static int read_settings(const char *folder, char *why)
{
    const char *mode = explore_mode(), *way = getenv("TUTTI_MONITOR");
    settings.share = 0.1;
    settings.budget = 0.03;
    settings.use_rma = way == NULL || strcmp(way, "allreduce") != 0;
    settings.seed = seed_of(getenv("TUTTI_SEED"));
    settings.check = getenv("TUTTI_CHECK") != NULL;
    settings.learn = mode != NULL && strcmp(mode, "learn") == 0;
    if (mode != NULL && !settings.learn && strcmp(mode, "explore") != 0)
        snprintf(why, WHY, "TUTTI_MODE=%.80s: want explore or learn", mode);
    else if (folder == NULL && !settings.learn)
        snprintf(why, WHY, "TUTTI_MODE=explore needs TUTTI_SAMPLES, a folder for samples");
    else if (way != NULL && strcmp(way, "allreduce") != 0 && strcmp(way, "rma") != 0)
        snprintf(why, WHY, "TUTTI_MONITOR=%.80s: want allreduce or rma", way);
    else if (table_mixes() == 0)
        snprintf(why, WHY, "the table has no explore line");
    else
        return read_share("TUTTI_EXPLORE_SHARE", 1, &settings.share, why) && read_share("TUTTI_BUDGET", 1e9, &settings.budget, why) &&
               (folder == NULL || samples_open(folder, why) == 0);
    return 0;
}

void explore_start(MPI_Comm world, const char *folder)
{
    char why[WHY] = "";
    int rank;
    PMPI_Comm_rank(world, &rank);
    if (rank == 0 && !(settings.valid = read_settings(folder, why)))
        fprintf(stderr, "tutti: %s%s%s: nothing is explored\n", folder == NULL ? "" : folder, folder == NULL ? "" : ": ", why);
    PMPI_Bcast(&settings, sizeof settings, MPI_BYTE, 0, world);
    exploring = settings.valid;
    if (exploring && settings.learn && settings.use_rma && !many_threads)
        channels_start(world);
}

/* Writes the last samples. Pending samples of communicators other than the world are lost, because only the world is
 * certain to exist on all ranks at this time. */
void explore_end(void)
{
    comm *c = comm_of(first_comm);
    if (c->explorer != NULL && c->explorer->pending > 0)
        exchange_times(c);
    channels_end();
    samples_close();
}
