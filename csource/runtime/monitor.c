#include "monitor.h"

#include <math.h>
#include <stdlib.h>

enum { OFTEN = 8, SELDOM = 1 << 20 }; /* calls between two questions */
enum { SOON = 32 };                   /* calls between two doubts at least */

enum { WARIEST = 3 };                 /* alarms that doubts refuted make wary: more would make changes wait too long */

#ifndef MEAN_RUN
#define MEAN_RUN 10000 /* calls of a class between two false alarms, of all ranks together */
#define WARY 16        /* times as many after one that a doubt refuted: an alarm takes one time more */
#endif

static const double asking = 0.002;    /* the share of the time that asking may take */
static const double doubting = 0.0005; /* ... and the first doubt, later ones half as much each */
static const double watching = 0.002;  /* ... and timing */
static const double look = 1e-7;       /* seconds that timing a call takes */

static uint64_t between(double n, double least)
{
    return n < least ? (uint64_t)least : n > SELDOM ? SELDOM : (uint64_t)n;
}

/* Each rank's part of such a call is in what every other one has in the end. */
static int joins_all(collective what)
{
    return what == ALLGATHER || what == ALLREDUCE || what == ALLTOALL || what == BARRIER;
}

/* Its messages are ours: in a call that joins all, one that sent a flag along has told all. */
static int carries(const pick *by)
{
    const algorithm *a = by == NULL ? NULL : by->algorithm;
    return a != NULL && a->run != NULL && !(a->needs & WORDS);
}

void monitor_new(monitor *m, int candidates, int ranks)
{
    *m = (monitor){.who = -1, .candidates = candidates, .run = (double)MEAN_RUN * ranks};
    m->tried = need((size_t)candidates, sizeof *m->tried);
}

void monitor_free(monitor *m)
{
    free(m->tried);
    channel_close(&m->channel);
}

/* What was usual before all began anew is forgotten. */
static void become(monitor *m, int age)
{
    if (m->age == age)
        return;
    memset(m->tried, 0, (size_t)m->candidates * sizeof *m->tried);
    m->age = age;
    m->who = -1;
}

void monitor_timed(monitor *m, int candidate, int age, uint64_t took)
{
    detector *d = &m->tried[candidate];
    become(m, age);
    if (d->n == 0)
        detector_start(d, m->run);
    if (took > 0 && detector_add(d, (double)took))
        detector_start(d, m->run);
}

void monitor_stop(monitor *m)
{
    m->on = 0;
    m->doubts++;
    m->tried[m->who] = (detector){0};
}

/* Each rank's own times of the race say what is usual; after a doubt what was usual before, unless this rank saw a change or
 * the times of the doubt differ from it. An alarm that a doubt refutes makes all ranks wary: times depend on one another. */
void monitor_start(monitor *m, int who, int age, double seconds, double exchange)
{
    become(m, age);
    int same = m->who == who;
    if (!same)
        m->doubts = 0;
    else if (m->heard && m->refuted < WARIEST)
        m->run *= WARY, m->refuted++;
    if (!same || m->saw || !detector_agrees(&m->usual, &m->tried[who]))
        m->usual = m->tried[who];
    detector_again(&m->usual, m->run);
    m->who = who;
    m->on = 1;
    m->saw = m->heard = m->carried = 0;
    m->calls = m->asked = 0;
    m->every = 1;
    m->interval = m->doubted = SELDOM;
    if (seconds > 0) {
        double ask = exchange > 0 ? exchange : seconds;
        m->every = between(look / (watching * seconds) + 1, 1);
        m->interval = between(ask / (asking * seconds), OFTEN);
        m->doubted = between(ldexp(ask / (doubting * seconds), m->doubts), SOON);
    }
}

/* A suspicion is looked into at once. */
static int is_due(const monitor *m) { return !m->saw && (m->calls % m->every == 0 || detector_suspects(&m->usual)); }

int monitor_enter(monitor *m, MPI_Comm on, collective what, const pick *by, int *looks)
{
    int heard = 0;
    if (++m->calls == m->doubted) {
        *looks = 0;
        return 1;
    }
    m->carried = joins_all(what) && carries(by);
    m->linked = joins_all(what) && !m->carried && channel_open(&m->channel, on);
    *looks = m->carried || m->linked || is_due(m);
    if (m->carried)
        flag_carry(m->saw);
    else if (!m->linked && ++m->asked % m->interval == 0 && PMPI_Allreduce(&m->saw, &heard, 1, MPI_INT, MPI_MAX, on) != MPI_SUCCESS)
        heard = 0;
    m->heard |= heard;
    return heard;
}

int monitor_leave(monitor *m, uint64_t took, int served)
{
    int heard = m->carried && flag_heard() && served;
    if (took > 0 && is_due(m))
        m->saw = detector_add(&m->usual, (double)took);
    if (m->linked)
        heard = channel_step(&m->channel, m->saw);
    m->heard |= heard;
    return heard;
}
