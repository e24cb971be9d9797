/* policy FOLDER: makes the decisions of libtutti for a simulated job, without MPI. The settings are those of libtutti
 * (TUTTI_MODE, TUTTI_BUDGET, TUTTI_EXPLORE_SHARE, TUTTI_SEED); samples go into a file in FOLDER. Requests are lines of words
 * on the standard input:
 *
 *   class COLLECTIVE NODES PPN BYTES SELECTED BUDGET N  then N times  NAME WEIGHT MOST
 *         A class of calls, as a table describes it. Classes are numbered from 0, and so are their algorithms;
 *         SELECTED is the number of the one that the table selects. All classes come before the first call.
 *   call CLASS    The next call. Answer: the number of the algorithm that serves it, and 1 if the call is a trial that
 *                 compares algorithms, otherwise 0.
 *   took SECONDS  The time of that call. Answer: the number of rechecks of an algorithm after a change so far.
 *
 * At the end of the input the job ends. */
#include "clock.h"
#include "explore.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CLASSES = 4096, MAX_NAME = 256 };

static struct {
    comm *on;
    int selected;
    algorithm *algorithms; /* of the picks of the mix */
    mix mix;
} classes[MAX_CLASSES];
static int nclasses;

static void fail(const char *why)
{
    fprintf(stderr, "policy: %s\n", why);
    exit(1);
}

static collective collective_of(const char *name)
{
    collective what = COLLECTIVES;
    if (!collective_named(name, strlen(name), &what))
        fail("unknown collective");
    return what;
}

/* Takes the place of an algorithm that sends messages. A simulated job sends none. */
static void run_nothing(const call *c) { (void)c; }

int repository_fits(const algorithm *a, int ranks)
{
    (void)a, (void)ranks;
    return 1;
}

/* The table of the simulated job. Each class of calls has a list (mix) of algorithms to explore. */

int table_mixes(void) { return nclasses; }

int table_place(const mix *m)
{
    for (int i = 0; i < nclasses; i++)
        if (m == &classes[i].mix)
            return i;
    return -1;
}

const mix *table_mix(collective what, int ranks, int ppn, uint64_t bytes, uint64_t *low, uint64_t *high)
{
    for (int i = 0; i < nclasses; i++) {
        const mix *m = &classes[i].mix;
        if (m->what == what && m->low[0] == (uint64_t)ranks && m->low[1] == (uint64_t)ppn && m->low[2] == bytes) {
            *low = *high = bytes;
            return m;
        }
    }
    return NULL;
}

static void read_class(void)
{
    char name[MAX_NAME];
    int nodes, ppn, selected, n;
    unsigned long long bytes;
    double sum = 0, weight;
    if (nclasses == MAX_CLASSES)
        fail("too many classes");
    mix *m = &classes[nclasses].mix;
    if (scanf("%255s %d %d %llu %d %lf %d", name, &nodes, &ppn, &bytes, &selected, &m->budget, &n) != 7 || n < 1 || selected < 0 || selected >= n)
        fail("want class COLLECTIVE NODES PPN BYTES SELECTED BUDGET N");
    m->what = collective_of(name);
    m->low[0] = m->high[0] = (uint64_t)nodes * (uint64_t)ppn;
    m->low[1] = m->high[1] = (uint64_t)ppn;
    m->low[2] = m->high[2] = bytes;
    m->n = n;
    m->picks = allocate((size_t)n, sizeof *m->picks);
    m->sums = allocate((size_t)n, sizeof *m->sums);
    m->most = allocate((size_t)n, sizeof *m->most);
    algorithm *algorithms = allocate((size_t)n, sizeof *algorithms);
    for (int i = 0; i < n; i++) {
        if (scanf("%255s %lf %lf", name, &weight, &m->most[i]) != 3)
            fail("want NAME WEIGHT MOST");
        char *copy = allocate(strlen(name) + 1, 1);
        m->picks[i].text = memcpy(copy, name, strlen(name));
        algorithms[i] = (algorithm){.what = m->what, .name = copy, .run = run_nothing};
        if (strcmp(name, "library_default") != 0)
            m->picks[i].algorithm = &algorithms[i];
        m->sums[i] = sum += weight;
    }
    for (int i = 0; i < n; i++)
        m->sums[i] /= sum;
    classes[nclasses].algorithms = algorithms;
    classes[nclasses].selected = selected;
    classes[nclasses++].on = world_with(nodes, ppn);
}

static int number_of(const mix *m, const pick *p)
{
    for (int i = 0; i < m->n; i++)
        if (m->picks[i].algorithm == (p == NULL ? NULL : p->algorithm))
            return i;
    fail("an algorithm that is not of the class");
    return -1;
}

static void serve_call(void)
{
    int number;
    double seconds;
    char word[8];
    sample *timed = NULL;
    if (scanf("%d", &number) != 1 || number < 0 || number >= nclasses)
        fail("want call CLASS");
    const mix *m = &classes[number].mix;
    comm *on = classes[number].on;
    const pick *best = &m->picks[classes[number].selected];
    int trials = explore_trials;
    const pick *by = exploring ? explore_call(on, m->what, m->low[2], best, &timed) : best;
    printf("%d %d\n", number_of(m, by), explore_trials > trials);
    fflush(stdout);
    if (scanf("%7s %lf", word, &seconds) != 2 || strcmp(word, "took") != 0 || seconds <= 0)
        fail("want took SECONDS");
    world_wait(seconds);
    if (timed != NULL)
        explore_record(on, timed, m->low[2], (uint64_t)(seconds / clock_period()), by == NULL || by->algorithm == NULL ? NULL : by->text);
    printf("%d\n", explore_rechecks);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char word[8];
    if (argc != 2)
        fail("want a folder");
    int started = 0;
    while (scanf("%7s", word) == 1) {
        if (strcmp(word, "class") == 0) {
            read_class();
            continue;
        }
        if (strcmp(word, "call") != 0)
            fail("want class or call");
        if (!started++)
            explore_start(MPI_COMM_WORLD, argv[1]);
        serve_call();
    }
    if (exploring)
        explore_end();
    return 0;
}
