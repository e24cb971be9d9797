#include "monitor.h"

enum { OFTEN = 8, SELDOM = 1 << 20 }; /* calls between two questions */
enum { SOON = 32 };                    /* calls after which the first doubt comes */

static const double mean_run = 10000;    /* calls of a class between two false alarms, of all ranks together */
static const double asking = 0.003;      /* the share of the time that asking may take */
static const double watching = 0.002;    /* ... and timing */
static const double look = 1e-7;         /* seconds that timing a call takes */

static uint64_t between(double n, double least)
{
    return n < least ? (uint64_t)least : n > SELDOM ? SELDOM : (uint64_t)n;
}

/* Each rank's part of such a call is in what every other one has in the end, so that one that sent a flag along has told
 * all. */
static int tells_all(collective what, const pick *by)
{
    const algorithm *a = by == NULL ? NULL : by->algorithm;
    int all = what == ALLGATHER || what == ALLREDUCE || what == ALLTOALL || what == BARRIER;
    return all && a != NULL && a->run != NULL && !(a->needs & WORDS);
}

/* A detector learns from the first times what is usual: a change among them is found by doubt alone. Where the same one goes
 * on and nobody saw anything, it is known already. */
void monitor_start(monitor *m, int who, int ranks, double seconds, double exchange)
{
    uint64_t before = m->who == who ? m->doubted : 0;
    detector times = m->times;
    if (m->who != who || m->heard)
        detector_start(&times, mean_run * ranks);
    *m = (monitor){.times = times, .who = who, .every = 1, .interval = SELDOM, .doubted = SELDOM};
    if (seconds <= 0)
        return;
    m->every = between(look / (watching * seconds) + 1, 1);
    double worth = (exchange > 0 ? exchange : seconds) / (asking * seconds); /* calls that pay for a question */
    m->interval = between(worth, OFTEN);
    m->doubted = before > 0 ? between(2 * (double)before, SOON) : between(worth, SOON);
}

int monitor_enter(monitor *m, MPI_Comm on, collective what, const pick *by, int *looks)
{
    int heard = 0;
    if (++m->calls == m->doubted) {
        *looks = 0;
        return 1;
    }
    m->carried = tells_all(what, by);
    *looks = m->carried || m->calls % m->every == 0;
    if (m->carried)
        flag_carry(m->saw);
    else if (++m->asked % m->interval == 0 && PMPI_Allreduce(&m->saw, &heard, 1, MPI_INT, MPI_MAX, on) != MPI_SUCCESS)
        heard = 0;
    m->heard |= heard;
    return heard;
}

int monitor_leave(monitor *m, uint64_t took, int served)
{
    int heard = m->carried && flag_heard() && served;
    if (took > 0 && !m->saw && m->calls % m->every == 0)
        m->saw = detector_add(&m->times, (double)took);
    m->heard |= heard;
    return heard;
}
