#include "monitor.h"

#include <math.h>
#include <stdlib.h>

enum { MIN_ASK_INTERVAL = 8, MAX_INTERVAL = 1 << 20, MIN_RECHECK_INTERVAL = 32 }; /* in calls */
enum { MAX_FALSE_ALARMS = 3 }; /* after these false alarms the sensitivity stays the same, because changes would be found too late */

#ifndef RUN_LENGTH
#define RUN_LENGTH 10000     /* calls of a class between two false alarms of all ranks together */
#define RUN_LENGTH_FACTOR 16 /* by which RUN_LENGTH grows after a false alarm; an alarm then needs about one more time */
#endif

static const double ask_share = 0.002;      /* share of the time of all calls that ranks may spend to ask one another */
static const double recheck_share = 0.0005; /* share for the first recheck without an alarm; each later one may cost half as much */
static const double timing_share = 0.002;   /* share for reading the clock */
static const double clock_seconds = 1e-7;   /* cost of timing a call */

static uint64_t interval(double calls, double least)
{
    return calls < least ? (uint64_t)least : calls > MAX_INTERVAL ? MAX_INTERVAL : (uint64_t)calls;
}

/* Returns whether the collective gives each rank data that depend on every other rank. */
static int reaches_all(collective what)
{
    return what == ALLGATHER || what == ALLREDUCE || what == ALLTOALL || what == BARRIER;
}

/* Returns whether the messages of an algorithm can carry a flag in addition to the data. This is possible only
 * if libtutti itself sends the messages. */
static int carries_flag(const pick *by)
{
    const algorithm *a = by == NULL ? NULL : by->algorithm;
    return a != NULL && a->run != NULL && !(a->needs & SIGNALS);
}

void monitor_new(monitor *m, int candidates, int ranks)
{
    *m = (monitor){.candidate = -1, .n = candidates, .run_length = (double)RUN_LENGTH * ranks};
    m->candidates = allocate((size_t)candidates, sizeof *m->candidates);
}

void monitor_free(monitor *m)
{
    free(m->candidates);
    channel_close(&m->channel);
}

/* Removes all recorded times if the elimination has restarted since the last call. */
static void follow_restart(monitor *m, int restarts)
{
    if (m->restarts == restarts)
        return;
    memset(m->candidates, 0, (size_t)m->n * sizeof *m->candidates);
    m->restarts = restarts;
    m->candidate = -1;
}

void monitor_add_time(monitor *m, int candidate, int restarts, uint64_t took)
{
    change_detector *d = &m->candidates[candidate];
    follow_restart(m, restarts);
    if (d->n == 0)
        detector_start(d, m->run_length);
    if (took > 0 && detector_add(d, (double)took))
        detector_start(d, m->run_length);
}

void monitor_stop(monitor *m)
{
    m->watching = 0;
    m->rechecks++;
    m->candidates[m->candidate] = (change_detector){0};
}

/* Starts watching a candidate. The detector begins with the times of the candidate that this rank measured
 * before. After a recheck the detector keeps its state, unless this rank detected a change or the times of the
 * recheck differ. If the same candidate is watched again after an alarm, the alarm was false. All ranks then
 * become less sensitive, because false alarms are frequent if successive times are correlated. */
void monitor_start(monitor *m, int candidate, int restarts, double seconds, double exchange)
{
    follow_restart(m, restarts);
    int same = m->candidate == candidate;
    if (!same) {
        m->rechecks = 0;
    } else if (m->announced && m->false_alarms < MAX_FALSE_ALARMS) {
        m->run_length *= RUN_LENGTH_FACTOR;
        m->false_alarms++;
    }
    if (!same || m->detected || !detector_agrees(&m->detector, &m->candidates[candidate]))
        m->detector = m->candidates[candidate];
    detector_restart(&m->detector, m->run_length);
    m->candidate = candidate;
    m->watching = 1;
    m->detected = m->announced = m->by_message = 0;
    m->calls = m->asked = 0;
    m->time_interval = 1;
    m->ask_interval = m->next_recheck = MAX_INTERVAL;
    if (seconds > 0) {
        double ask = exchange > 0 ? exchange : seconds;
        m->time_interval = interval(clock_seconds / (timing_share * seconds) + 1, 1);
        m->ask_interval = interval(ask / (ask_share * seconds), MIN_ASK_INTERVAL);
        m->next_recheck = interval(ldexp(ask / (recheck_share * seconds), m->rechecks), MIN_RECHECK_INTERVAL);
    }
}

/* Returns whether this rank times the next call. It times calls at intervals, and the call after a suspicious
 * time. */
static int is_timed(const monitor *m)
{
    return !m->detected && (m->calls % m->time_interval == 0 || detector_suspects(&m->detector));
}

int monitor_enter(monitor *m, MPI_Comm on, collective what, const pick *by, int *timed)
{
    int announced = 0;
    if (++m->calls == m->next_recheck) {
        *timed = 0;
        return 1;
    }
    m->by_message = reaches_all(what) && carries_flag(by);
    m->by_channel = reaches_all(what) && !m->by_message && channel_open(&m->channel, on);
    *timed = m->by_message || m->by_channel || is_timed(m);
    if (m->by_message)
        flag_carry(m->detected);
    else if (!m->by_channel && ++m->asked % m->ask_interval == 0 &&
             PMPI_Allreduce(&m->detected, &announced, 1, MPI_INT, MPI_MAX, on) != MPI_SUCCESS)
        announced = 0;
    m->announced |= announced;
    return announced;
}

int monitor_leave(monitor *m, uint64_t took, int served)
{
    int announced = m->by_message && flag_received() && served;
    if (took > 0 && is_timed(m))
        m->detected = detector_add(&m->detector, (double)took);
    if (m->by_channel)
        announced = channel_step(&m->channel, m->detected);
    m->announced |= announced;
    return announced;
}
