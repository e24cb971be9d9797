#include "native.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FIRST = 10,      /* timed calls of the first block: with 9 or more the interval excludes the outermost samples */
    MOST = 1000,     /* most calls of a block */
    FEW = 6,         /* calls after which a case can be aborted: the fewest with an interval of the median */
    BAD_BLOCKS = 2,  /* blocks with many late starts after which a case uses barriers */
    OVERALL_LEAST = 3, /* fewest and most calls with computation before the wait */
    OVERALL_MOST = 10,
    NO_CLOCK = 3,    /* number of such cases in a row after which all cases use barriers */
    MEMORY_SHARE = 2 /* the buffers of a case may use 1/MEMORY_SHARE of a node's memory */
};
#define LATE 1e12       /* added to the time of a call that a rank entered late */
#define MANY_LATE 0.25  /* share of late calls in a block */
#define SPIN 200e-6     /* seconds before a start in which a rank keeps the processor */
#define LEAD 20e-6      /* seconds until the first start, in addition to four barriers */
#define LEAD_MORE 200e-6 /* the same after a block with many late starts */
#define SLACK_LEAST 5e-6
#define SLACK_MOST 1e-3
#define WARMUP_SHARE 0.25 /* of the time for a case */
#define OVERALL_SHARE 0.25 /* of the time for a case: calls with computation before the wait */
#define OTHERS_BYTES (1 << 20) /* if a process's buffers are larger, other forms of a call are checked with fewer elements */

typedef struct best {
    collective what;
    int nonblocking;
    long bytes;
    double median;
} best;

typedef struct known {
    collective what;
    const setting *switches;
    int n;
    char seen[WHY];
} known;

typedef struct {
    int calls; /* 0: done; -1: a call failed */
    int clock, estimate;
    double start, window;
} order;

typedef struct {
    session *s;
    const plan_case *c;
    MPI_Comm comm;
    workload w;
    const char *step;
    fault fault;
    double begin, first;                /* when the case and its timed calls began */
    double warmup, measure;             /* seconds */
    double *times, *samples, *scratch;  /* of a block, of the case, and sorted */
    double best, typical, slack, price; /* price: wall-clock time of a call */
    int n, late, bad, clock, failed, blocks;
    const char *stop;
    summary sum;
    double overall; /* seconds of a call with computation before the wait; 0: not measured */
    const char *how; /* how the algorithm was detected */
    char seen[WHY];
} task;

static int agree(task *t, const char *step)
{
    if (!control_agree(&t->s->ctl, &t->fault))
        return 0;
    t->step = step;
    return 1;
}

static void fail(task *t, const char *why) { fault_set(&t->fault, t->s->ctl.rank, "%s", why); }

static int apply(task *t, const setting *list, int n)
{
    char why[WHY] = "";
    if (switches_apply(list, n, why))
        fail(t, why);
    return agree(t, "switch");
}

static int duplicate(task *t, MPI_Comm *out)
{
    int error = MPI_Comm_dup(t->s->pristine, out);
    if (error != MPI_SUCCESS)
        fault_mpi(&t->fault, t->s->ctl.rank, "MPI_Comm_dup", error);
    else
        MPI_Comm_set_errhandler(*out, MPI_ERRORS_RETURN);
    return agree(t, "communicator");
}

/* Writes the control variables of a case. It also prepares the communicator t->comm, to which these values apply. */
static int prepare(task *t)
{
    const plan_case *c = t->c;
    char why[WHY] = "";
    if (apply(t, c->switches, c->nswitches))
        return 1;
    if (switches_enum(c->switches, c->nswitches, c->what, t->seen, why))
        fail(t, why);
    else if (own_force(c->what, c->own, why))
        fail(t, why);
    if (agree(t, "switch"))
        return 1;
    if (t->seen[0])
        t->how = "enumeration";
    t->comm = t->s->current;
    return c->new_comm ? duplicate(t, &t->comm) : 0;
}

/* Checks that the buffers of a case fit into half of a node's memory. If the system killed one process because
 * memory ran out, all other processes would end as well. */
static int fits(task *t, form f, int count)
{
#ifdef _SC_PHYS_PAGES
    const world *w = &t->s->world;
    int rank = t->s->ctl.rank;
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double need = (double)workload_bytes(t->c->what, f, count, rank, t->s->ctl.size) * w->ranks[w->node[rank]];
    if (have > 0 && need > have / MEMORY_SHARE)
        fault_set(&t->fault, rank, "buffers of a node take %.3g bytes, half its memory is %.3g", need, have / MEMORY_SHARE);
#else
    (void)f, (void)count;
#endif
    return agree(t, "memory");
}

static int make(task *t, workload *w, form f, int count)
{
    char why[WHY] = "";
    if (fits(t, f, count))
        return 1;
    if (workload_make(w, t->c->what, f, count, t->comm, why))
        fail(t, why);
    return agree(t, "memory");
}

static int check_barrier(task *t)
{
    const control *c = &t->s->ctl;
    double v[2]; /* the last entry, and minus the first exit */
    double until = seconds() + (c->rank == c->size - 1 ? 2e-3 : 0);
    control_barrier(c);
    while (seconds() < until)
        sched_yield();
    v[0] = clocks_now(&t->s->clocks);
    int error = workload_call(&t->w);
    v[1] = -clocks_now(&t->s->clocks);
    if (error != MPI_SUCCESS)
        fault_mpi(&t->fault, c->rank, "MPI_Barrier", error);
    if (agree(t, "call"))
        return 1;
    control_max(c, v, 2);
    if (c->rank == 0 && -v[1] < v[0] - clocks_error(&t->s->clocks) - 1e-6)
        fault_set(&t->fault, 0, "wrong: a rank left the barrier %g s before the last came", v[0] + v[1]);
    return agree(t, "data");
}

/* Makes one call and compares its result with the expected data. */
static int check_call(task *t, workload *w, int salt)
{
    char why[WHY] = "";
    workload_fill(w, salt);
    int error = workload_call(w);
    if (error != MPI_SUCCESS)
        fault_mpi(&t->fault, t->s->ctl.rank, collective_name(t->c->what), error);
    if (agree(t, "call"))
        return 1;
    if (!workload_right(w, salt, why))
        fail(t, why);
    return agree(t, "data");
}

static int check_form(task *t, form f, int count)
{
    workload w;
    if (make(t, &w, f, count))
        return 1;
    int bad = check_call(t, &w, 1 + t->c->number % 100);
    workload_free(&w);
    return bad;
}

/* Forms of a call that are checked in addition to the form that is timed. An algorithm may be wrong for these forms
 * even if it is right for the timed form. */
static const struct {
    const char *name;
    form f;
    int elsewhere, empty; /* elsewhere: the root is the last rank; empty: no elements */
} others[] = {
    {"in place", {0, 1, 0, 0, 0, BUILTIN, 0, 0}, 0, 0},
    {"with another root", {0, 0, 0, 0, 0, BUILTIN, 0, 0}, 1, 0},
    {"without elements", {0, 0, 0, 0, 0, BUILTIN, 0, 0}, 0, 1},
    {"of a derived type", {0, 0, 1, 0, 0, OWN, 0, 0}, 0, 0},
    {"with null arguments", {0, 0, 0, 0, 0, BUILTIN, 1, 0}, 0, 0},
    {"in place with null arguments", {0, 1, 0, 0, 0, BUILTIN, 1, 0}, 0, 0},
};

/* Rank 0 prints which form of the call is checked next. After a crash or a hang, the output thus shows the form
 * that caused it. An empty name ends the checks. */
static void announce(const task *t, const char *name)
{
    line l;
    if (t->s->ctl.rank != 0)
        return;
    line_begin(&l, "check");
    line_integer(&l, "case", t->c->number);
    line_string(&l, "form", name);
    line_end(&l);
}

static int check_others(task *t, int count)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        form f = others[i].f;
        f.nonblocking = t->c->form.nonblocking;
        f.root = others[i].elsewhere ? t->s->ctl.size - 1 : 0;
        f.op = collective_has(t->c->what, REDUCES) ? f.op : BUILTIN;
        if (!form_exists(f, t->c->what) || (others[i].elsewhere && f.root == 0))
            continue;
        announce(t, others[i].name);
        if (!check_form(t, f, others[i].empty ? 0 : count))
            continue;
        char why[WHY];
        snprintf(why, sizeof why, "a call %s: %.900s", others[i].name, t->fault.why);
        strcpy(t->fault.why, why);
        return 1;
    }
    announce(t, "");
    return 0;
}

/* Checks all forms of a call. The timed form is first checked with few elements: three for each rank, because
 * some algorithms need as many elements as ranks. The additional forms also use few elements if the buffers of
 * rank 0 (the largest ones) are large. */
static int check(task *t, int count)
{
    int size = t->s->ctl.size, small = 3 * size;
    if (t->c->what == BARRIER)
        return check_barrier(t);
    if (small < count && check_form(t, t->c->form, small))
        return 1;
    if (check_call(t, &t->w, 2 + t->c->number % 100))
        return 1;
    int large = workload_bytes(t->c->what, t->c->form, count, 0, size) > OTHERS_BYTES;
    return check_others(t, large && small < count ? small : count);
}

static known *remembered(session *s, const plan_case *c)
{
    for (int i = 0; i < s->nknown; i++) {
        known *k = &s->known[i];
        int same = k->what == c->what && k->n == c->nswitches;
        for (int j = 0; same && j < k->n; j++)
            same = k->switches[j].value == c->switches[j].value && strcmp(k->switches[j].name, c->switches[j].name) == 0;
        if (same)
            return k;
    }
    return NULL;
}

/* Returns whether the settings of a case select one algorithm for all sizes. If they do not, the library may
 * choose by size, and processes that pass different lengths could run different algorithms and deadlock. */
static int chosen(const plan_case *c)
{
    static const char end[] = "_INTRA_ALGORITHM";
    for (int i = 0; i < c->nswitches; i++) {
        size_t n = strlen(c->switches[i].name), m = sizeof end - 1;
        if (n > m && strcmp(c->switches[i].name + n - m, end) == 0)
            return c->switches[i].value != 0;
    }
    return 0;
}

/* Checks that libtutti served the last timed call. */
static int see_own(task *t)
{
    char why[WHY];
    if (!own_obeyed(t->c->own, why))
        fail(t, why);
    t->how = "libtutti";
    snprintf(t->seen, sizeof t->seen, "%s", t->c->own);
    return agree(t, "algorithm");
}

/* Detects which function of coll/tuned ran the warm-up calls. */
static int see_bound(task *t)
{
    char name[MAX_NAME];
    if (t->s->ctl.size > 1 && bound_name(t->c->what, name)) {
        t->how = "function";
        snprintf(t->seen, sizeof t->seen, "%s", name[0] ? name : "no function of coll/tuned");
    }
    return 0;
}

/* Detects which algorithm ran. This is done once for each algorithm of a collective, because the result does not
 * depend on the message size. */
static int see(task *t)
{
    session *s = t->s;
    MPI_Comm lost; /* not freed: its unreceived messages must not reach another communicator */
    known *k = remembered(s, t->c);
    if (t->c->own != NULL)
        return see_own(t);
    if (strcmp(t->how, "enumeration") == 0)
        return see_bound(t);
    if (t->c->form.nonblocking || !probe_possible(t->c->what, s->library) || !chosen(t->c) || s->ctl.size < 2)
        return 0;
    if (k == NULL) {
        known *more = realloc(s->known, ((size_t)s->nknown + 1) * sizeof *more);
        if (more == NULL)
            fail(t, "no memory");
        else
            s->known = more;
        if (agree(t, "memory") || apply(t, NULL, 0) || duplicate(t, &lost) || apply(t, t->c->switches, t->c->nswitches))
            return 1;
        k = &s->known[s->nknown++];
        k->what = t->c->what;
        k->switches = t->c->switches;
        k->n = t->c->nswitches;
        probe_run(&s->ctl, lost, t->c->what, k->seen);
    }
    if (k->seen[0]) {
        t->how = "error stack";
        strcpy(t->seen, k->seen);
    }
    return 0;
}

/* Makes calls that warm up the case; their times are not results. Rank 0 gets an estimate: the mean time of a
 * call on the slowest rank. */
static double warm(task *t, int calls)
{
    double sum[2] = {0, 0};
    for (int i = 0; i < calls; i++) {
        control_barrier(&t->s->ctl);
        double from = seconds();
        int error = workload_call(&t->w);
        sum[0] += seconds() - from;
        if (error != MPI_SUCCESS && t->fault.rank < 0)
            fault_mpi(&t->fault, t->s->ctl.rank, collective_name(t->c->what), error);
    }
    control_max(&t->s->ctl, sum, 1);
    return sum[0] / calls;
}

/* Makes one warm-up call, and further ones as long as the time for the case allows. */
static int warm_up(task *t)
{
    const plan *p = &t->s->plan;
    bound_clear();
    double from = seconds(), one = warm(t, 1);
    int more = p->warmup - 1;
    if (agree(t, "call"))
        return 1;
    if (one > 0)
        more = (int)fmin(more, p->slice * WARMUP_SHARE / one);
    if (t->best > 0 && p->abort_factor > 0 && one > p->abort_factor * t->best)
        more = (int)fmin(more, 2);
    control_bcast(&t->s->ctl, &more, (int)sizeof more);
    t->typical = more > 0 ? warm(t, more) : one;
    t->price = 2 * t->typical;
    t->warmup = seconds() - from;
    return agree(t, "call");
}

static void wait_for(const clocks *k, double start)
{
    while (clocks_now(k) < start - SPIN)
        sched_yield();
    while (clocks_now(k) < start)
        ;
}

/* Times a block of calls, which rank 0 ordered, on this rank. Stores the end of each call. It also stores the
 * beginning with the opposite sign: one maximum over all ranks then gives the latest end and the earliest beginning.
 * If calls start at agreed times, ends are relative to these times, and beginnings are 0. If this rank entered a call
 * late, it raises the end by LATE, and rank 0 discards the call. The last element is 1 if a call failed. */
static void timed(task *t, const order *o)
{
    const clocks *k = &t->s->clocks;
    double *times = t->times, *began = t->times + o->calls, base = o->start;
    int error = MPI_SUCCESS, i;
    for (i = 0; i < o->calls && error == MPI_SUCCESS; i++)
        if (o->clock) {
            double start = base + i * o->window;
            times[i] = clocks_now(k) > start ? LATE : 0;
            began[i] = 0;
            wait_for(k, start);
            error = workload_call(&t->w);
            times[i] += clocks_now(k) - start;
        } else {
            control_barrier(&t->s->ctl);
            began[i] = base - clocks_now(k);
            error = workload_call(&t->w);
            times[i] = clocks_now(k) - base;
        }
    for (; i < o->calls; i++)
        times[i] = began[i] = LATE;
    times[2 * o->calls] = error != MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        fault_mpi(&t->fault, t->s->ctl.rank, collective_name(t->c->what), error);
}

/* Rank 0 converts a block of times into samples and checks whether calls started in time. */
static void absorb(task *t, const order *o)
{
    int late = 0;
    t->failed = t->times[2 * o->calls] > 0;
    for (int i = 0; i < o->calls && !t->failed; i++)
        if (t->times[i] >= LATE / 2)
            late++;
        else
            t->samples[t->n++] = t->times[i] + t->times[o->calls + i];
    t->late += late;
    t->blocks++;
    if (t->n > 0) {
        summarise(t->samples, t->n, t->scratch, &t->sum);
        t->typical = t->scratch[t->n * 3 / 4];
    }
    if (!o->clock || late <= MANY_LATE * o->calls)
        return;
    t->slack *= 2;
    if (++t->bad >= BAD_BLOCKS) {
        t->clock = 0;
        t->s->no_clock++;
    }
}

static int exceeds_abort_factor(const task *t)
{
    double factor = t->s->plan.abort_factor;
    return factor > 0 && t->best > 0 && t->n >= FEW && t->sum.low > factor * t->best;
}

/* Returns how many times slower the case is than the best case of its collective and size. The case's time
 * is the lower end of the confidence interval of its median. The result is 1 if the case may be the best, or
 * if no case may be aborted. */
static double behind(const task *t)
{
    if (t->best <= 0 || t->s->plan.abort_factor <= 0 || t->sum.low <= 0)
        return 1;
    return fmax(1, t->sum.low / t->best);
}

/* Returns whether the median is known precisely enough. A case that is slower than the best case needs less
 * precision. */
static int tight(const task *t)
{
    const plan *p = &t->s->plan;
    double times = behind(t);
    return t->n >= fmin(p->min, fmax(FEW, p->min / times)) && t->sum.low > 0 &&
           (t->sum.high - t->sum.low) / 2 <= p->precision * times * t->sum.median;
}

static const char *reason(const task *t, double left)
{
    const plan *p = &t->s->plan;
    if (tight(t))
        return "tight";
    if (t->n >= p->max)
        return "max";
    if (exceeds_abort_factor(t))
        return "abort_factor";
    return t->n > 0 && left < t->price ? "slice" : NULL;
}

/* Returns the remaining seconds of the case's time slice. With fewer than FEW samples, only the timed calls
 * count, because on a busy machine the checks alone can take longer than the slice. */
static double remaining(const task *t) { return t->s->plan.slice - (seconds() - (t->n < FEW ? t->first : t->begin)); }

/* Returns whether the warm-up calls were so slow that the case is aborted. */
static int slow(const task *t)
{
    double factor = t->s->plan.abort_factor;
    return factor > 0 && t->best > 0 && t->typical > factor * t->best;
}

/* Returns the order (the number of calls) for the next block of calls. A block has half as many calls as there are
 * samples, limited by the remaining time. */
static order next(task *t)
{
    session *s = t->s;
    order o = {0, 0, 0, 0, 0};
    double left = remaining(t);
    t->stop = reason(t, left);
    if (t->failed)
        o.calls = -1;
    if (t->failed || t->stop != NULL)
        return o;
    o.clock = t->clock;
    o.window = 1.5 * t->typical + fmin(fmax(t->slack, SLACK_LEAST), SLACK_MOST);
    o.estimate = !s->clocks.shared && seconds() - s->clocks.at > s->clocks.age;
    if (t->blocks == 0 && o.clock)
        t->price = o.window;
    double calls = t->n > 0 ? fmax(t->n / 2, 1) : slow(t) ? FEW : FIRST;
    calls = fmin(fmin(calls, MOST), s->plan.max - t->n);
    o.calls = (int)fmax(fmin(calls, left / t->price), 1);
    return o;
}

static int measure(task *t)
{
    session *s = t->s;
    const control *c = &s->ctl;
    t->first = seconds();
    for (;;) {
        order o = {0, 0, 0, 0, 0};
        if (c->rank == 0)
            o = next(t);
        control_bcast(c, &o, (int)sizeof o);
        if (o.calls <= 0)
            break;
        if (o.estimate)
            clocks_estimate(&s->clocks, c, &s->world);
        double begin = seconds();
        o.start = clocks_now(&s->clocks) + 4 * s->latency + (t->bad ? LEAD_MORE : LEAD);
        control_bcast(c, &o.start, (int)sizeof o.start);
        timed(t, &o);
        t->price = (seconds() - begin) / o.calls;
        control_max(c, t->times, 2 * o.calls + 1);
        if (c->rank == 0)
            absorb(t, &o);
    }
    t->measure = seconds() - t->first;
    return agree(t, "call");
}

/* Times calls of the nonblocking form while all ranks compute for the median time of a call, as the OSU Micro-Benchmarks do. If
 * the computation hides all of the call, this takes as long as the call alone; if it hides nothing, twice as long. A case
 * that was aborted is not measured in this way. */
static int measure_overall(task *t)
{
    const control *c = &t->s->ctl;
    const clocks *k = &t->s->clocks;
    struct {
        int calls;
        double compute, base;
    } o = {0, t->sum.median, clocks_now(k)};
    int error = MPI_SUCCESS;
    if (!t->c->form.nonblocking)
        return 0;
    if (c->rank == 0 && strcmp(t->stop, "abort_factor") != 0)
        o.calls = (int)fmax(fmin(t->s->plan.slice * OVERALL_SHARE / (2 * o.compute), OVERALL_MOST), OVERALL_LEAST);
    control_bcast(c, &o, (int)sizeof o);
    for (int i = 0; i < o.calls; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        control_barrier(c);
        double begin = clocks_now(k);
        error = error == MPI_SUCCESS ? workload_start(&t->w, &request) : error;
        while (clocks_now(k) < begin + o.compute)
            ;
        error = error == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
        t->times[i] = clocks_now(k) - o.base;
        t->times[o.calls + i] = o.base - begin;
    }
    if (error != MPI_SUCCESS)
        fault_mpi(&t->fault, c->rank, collective_name(t->c->what), error);
    if (agree(t, "call") || o.calls == 0)
        return t->fault.rank >= 0;
    control_max(c, t->times, 2 * o.calls);
    for (int i = 0; c->rank == 0 && i < o.calls; i++)
        t->times[i] += t->times[o.calls + i];
    if (c->rank == 0) {
        summary overall;
        summarise(t->times, o.calls, t->scratch, &overall);
        t->overall = overall.median;
    }
    return 0;
}

static double best_of(const session *s, const plan_case *c)
{
    for (int i = 0; i < s->nbest; i++)
        if (s->best[i].what == c->what && s->best[i].nonblocking == c->form.nonblocking && s->best[i].bytes == c->bytes)
            return s->best[i].median;
    return 0;
}

static void remember_best(session *s, const plan_case *c, double median)
{
    best fresh = {c->what, c->form.nonblocking, c->bytes, median};
    for (int i = 0; i < s->nbest; i++)
        if (s->best[i].what == c->what && s->best[i].nonblocking == c->form.nonblocking && s->best[i].bytes == c->bytes) {
            s->best[i].median = fmin(s->best[i].median, median);
            return;
        }
    best *more = realloc(s->best, ((size_t)s->nbest + 1) * sizeof *more);
    if (more == NULL)
        return; /* later cases are not compared with this one */
    s->best = more;
    s->best[s->nbest++] = fresh;
}

static void tell(task *t, int bad)
{
    line l;
    line_begin(&l, bad ? "refused" : "result");
    line_integer(&l, "case", t->c->number);
    if (bad) {
        line_string(&l, "step", t->step);
        line_string(&l, "why", t->fault.why);
        line_integer(&l, "rank", t->fault.rank);
    } else {
        line_integer(&l, "bytes", workload_moved(&t->w));
        line_number(&l, "median", t->sum.median);
        if (t->sum.low > 0) {
            line_number(&l, "low", t->sum.low);
            line_number(&l, "high", t->sum.high);
        }
        if (t->overall > 0)
            line_number(&l, "overall", t->overall);
        line_number(&l, "min", t->sum.min);
        line_number(&l, "max", t->sum.max);
        line_integer(&l, "samples", t->n);
        line_integer(&l, "late", t->late);
        line_string(&l, "sync", t->clock ? "clock" : "barrier");
        line_string(&l, "stop", t->stop);
        line_string(&l, "verified", t->how);
        line_string(&l, "seen", t->seen);
    }
    line_number(&l, "warmup", t->warmup);
    line_number(&l, "measure", t->measure);
    line_number(&l, "wall", seconds() - t->begin);
    line_number(&l, "at", seconds() - t->s->origin);
    line_end(&l);
}

static int allocate_samples(task *t)
{
    size_t n = (size_t)t->s->plan.max + MOST, one = sizeof(double);
    t->times = malloc((2 * MOST + 1) * one);
    t->samples = malloc(t->s->ctl.rank == 0 ? n * one : one);
    t->scratch = malloc(t->s->ctl.rank == 0 ? n * one : one);
    if (t->times == NULL || t->samples == NULL || t->scratch == NULL)
        fail(t, "no memory for the times");
    return agree(t, "memory");
}

/* Abandons the communicator after a failure, because it may hold messages that nobody received. The next case gets
 * a new communicator. */
static void clear(task *t, int bad)
{
    fault first = t->fault;
    fault_none(&t->fault);
    if (t->c->new_comm && !bad && t->comm != MPI_COMM_NULL)
        MPI_Comm_free(&t->comm);
    if (bad && !t->c->new_comm && (apply(t, NULL, 0) || duplicate(t, &t->s->current))) {
        fprintf(stderr, "tutti-native: no way on after a failure: %s\n", t->fault.why);
        MPI_Abort(t->s->ctl.comm, 1);
    }
    t->fault = first;
    workload_free(&t->w);
    free(t->times);
    free(t->samples);
    free(t->scratch);
}

void measure_case(session *s, const plan_case *c)
{
    task t;
    int count = collective_count(c->what, c->bytes);
    memset(&t, 0, sizeof t);
    t.s = s;
    t.c = c;
    t.comm = MPI_COMM_NULL;
    t.begin = seconds();
    t.how = "no";
    t.clock = s->no_clock < NO_CLOCK;
    t.best = best_of(s, c);
    t.slack = 2 * s->latency;
    fault_none(&t.fault);
    int bad = allocate_samples(&t) || prepare(&t) || make(&t, &t.w, c->form, count) || (s->plan.check && check(&t, count)) ||
              warm_up(&t) || see(&t) || measure(&t) || measure_overall(&t);
    if (s->ctl.rank == 0) {
        if (!bad)
            remember_best(s, c, t.sum.median);
        if (!bad && t.clock)
            s->no_clock = 0;
        tell(&t, bad);
    }
    clear(&t, bad);
}
