#include "native.h"
#include "cvar.h"
#include "pairs.h"
#include "source.h" /* defines SOURCE, the checksum of these files */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DONE = 0, WRONG_PLAN = 2, WRONG_WORLD = 3, HANG = 4 };
enum { FINALIZE_SECONDS = 10 };
enum { BARRIERS = 5, BARRIERS_MOST = 100 }; /* number of measured barriers; the second shortest counts */
enum { LATER = 2 }; /* seconds that other ranks wait longer than rank 0 before they abort, because launchers kill a job when one rank exits */

/* Returns how ranks are distributed over the nodes: "block", "cyclic", "any" if both apply, or "mixed". Nodes are
 * numbered in the order of their first ranks. */
static const char *order(const world *w, int ranks)
{
    int block = 1, cyclic = 1;
    for (int r = 0; r < ranks; r++) {
        block &= r == 0 || w->node[r] >= w->node[r - 1];
        cyclic &= w->node[r] == r % w->nodes;
    }
    if (block)
        return cyclic ? "any" : "block";
    return cyclic ? "cyclic" : "mixed";
}

static void hello(const session *s, int argc, char **argv)
{
    const world *w = &s->world;
    line l;
    line_begin(&l, "hello");
    line_integer(&l, "format", FORMAT);
    line_string(&l, "source", SOURCE);
    line_integer(&l, "ranks", s->ctl.size);
    line_integer(&l, "hosts", w->hosts);
    line_integer(&l, "domains", w->domains);
    line_raw(&l, ",\"nodes\":[");
    for (int i = 0; i < w->nodes; i++) {
        const place *p = &w->place[w->leader[i]];
        line_raw(&l, "%s{\"host\":", i ? "," : "");
        line_quoted(&l, p->host);
        line_raw(&l, ",\"domain\":%d,\"ranks\":%d}", p->domain, w->ranks[i]);
    }
    line_raw(&l, "]");
    line_string(&l, "order", order(w, s->ctl.size));
    line_raw(&l, ",\"args\":[");
    for (int i = 0; i < argc; i++) {
        line_raw(&l, i ? "," : "");
        line_quoted(&l, argv[i]);
    }
    line_raw(&l, "]");
    line_string(&l, "library", s->library);
    line_string(&l, "clock", s->clocks.shared ? "shared" : "estimated");
    line_number(&l, "clock_error", s->clocks.error);
    line_number(&l, "latency", s->latency);
    line_number(&l, "at", seconds() - s->origin);
    line_end(&l);
}

static void complain(const session *s, const char *why)
{
    line l;
    if (s->ctl.rank != 0)
        return;
    line_begin(&l, "error");
    line_string(&l, "why", why);
    line_end(&l);
}

/* Returns the text of the plan. Rank 0 reads it and sends it to the other ranks. On an error the function returns NULL
 * on all ranks, and `why` holds the reason on rank 0. */
static char *share_plan(const session *s, const char *path, char *why)
{
    char *text = NULL;
    int bytes = 0;
    if (s->ctl.rank == 0)
        text = plan_load(path, &bytes, why);
    control_bcast(&s->ctl, &bytes, (int)sizeof bytes);
    if (bytes == 0)
        return NULL;
    if (s->ctl.rank != 0 && (text = malloc((size_t)bytes)) == NULL)
        MPI_Abort(s->ctl.comm, 1);
    control_bcast(&s->ctl, text, bytes);
    return text;
}

static int right_world(const session *s, int nodes, int ppn)
{
    const world *w = &s->world;
    char why[WHY];
    if (s->ctl.size == 1 && nodes * ppn != 1) {
        snprintf(why, sizeof why, "a world of one rank instead of %d: does the launcher belong to this MPI library?", nodes * ppn);
        complain(s, why);
        return 0;
    }
    int even = 1;
    for (int i = 0; i < w->nodes; i++)
        even &= w->ranks[i] == ppn;
    if (even && w->nodes == nodes)
        return 1;
    int used = snprintf(why, sizeof why, "the world is %d ranks on %d nodes (", s->ctl.size, w->nodes);
    for (int i = 0; i < w->nodes && used < WHY - 100; i++)
        used += snprintf(why + used, sizeof why - (size_t)used, "%s%d", i ? "+" : "", w->ranks[i]);
    snprintf(why + used, sizeof why - (size_t)used, "), the plan wants %d nodes of %d", nodes, ppn);
    complain(s, why);
    return 0;
}

/* Returns the duration of this program's barrier in seconds, equal on all ranks: the second shortest of five
 * barriers. If all five are long, it runs more barriers. */
static double latency(const control *c)
{
    double least = 1e9, second = 1e9;
    for (int i = 0; i < BARRIERS || (i < BARRIERS_MOST && second > LONG); i++) {
        double from = seconds();
        control_barrier(c);
        double took = seconds() - from;
        control_max(c, &took, 1);
        control_bcast(c, &took, (int)sizeof took);
        if (took < least) {
            second = least;
            least = took;
        } else if (took < second) {
            second = took;
        }
    }
    return second;
}

static void start(session *s)
{
    char why[WHY] = "";
    int length;
    s->origin = seconds();
    MPI_Comm_dup(MPI_COMM_WORLD, &s->ctl.comm);
    MPI_Comm_rank(s->ctl.comm, &s->ctl.rank);
    MPI_Comm_size(s->ctl.comm, &s->ctl.size);
    MPI_Comm_dup(MPI_COMM_WORLD, &s->pristine);
    MPI_Comm_set_errhandler(s->pristine, MPI_ERRORS_RETURN);
    MPI_Comm_dup(s->pristine, &s->current);
    MPI_Comm_set_errhandler(s->current, MPI_ERRORS_RETURN);
    MPI_Get_library_version(s->library, &length);
    if (switches_start(why)) {
        fprintf(stderr, "tutti-native: %s\n", why);
        MPI_Abort(s->ctl.comm, 1);
    }
    world_find(&s->world, &s->ctl);
    s->latency = latency(&s->ctl);
    clocks_start(&s->clocks, &s->ctl, &s->world, s->latency);
}

static volatile sig_atomic_t speaks; /* whether this is rank 0, which prints */

static void hung(int signal)
{
    static const char text[] = "{\"event\":\"hang\"}\n";
    (void)signal;
    if (speaks && write(STDOUT_FILENO, text, sizeof text - 1) < 0)
        _exit(HANG);
    _exit(HANG);
}

static void measure_cases(session *s)
{
    for (int i = 0; i < s->plan.ncases; i++) {
        line l;
        if (s->ctl.rank == 0) {
            line_begin(&l, "begin");
            line_integer(&l, "case", s->plan.cases[i].number);
            line_number(&l, "at", seconds() - s->origin);
            line_end(&l);
        }
        alarm((unsigned)s->plan.hang + (s->ctl.rank == 0 ? 0 : LATER));
        measure_case(s, &s->plan.cases[i]);
        alarm(0);
    }
}

static void tell_end(const session *s)
{
    line l;
    load now;
    load_read(&now);
    double most[2] = {now.preempted - s->load.preempted, now.all > s->load.all ? (now.stolen - s->load.stolen) / (now.all - s->load.all) : 0};
    control_max(&s->ctl, most, 2);
    if (s->ctl.rank != 0)
        return;
    line_begin(&l, "end");
    line_integer(&l, "cases", s->plan.ncases);
    line_number(&l, "at", seconds() - s->origin);
    line_number(&l, "measured", seconds() - s->origin - s->began);
    line_number(&l, "preempted", most[0]);
    line_number(&l, "stolen", most[1]);
    line_end(&l);
}

/* Measures what a plan lists: either cases of collectives or pairs of ranks. Returns the program's exit code. */
static int measure(session *s, const char *path)
{
    pairs_plan pairs;
    char why[WHY] = "", *text = share_plan(s, path, why);
    int of_pairs = text != NULL && pairs_asked(text);
    if (text == NULL || (of_pairs ? pairs_parse(&pairs, &s->world, path, text, why) : plan_parse(&s->plan, path, text, why))) {
        complain(s, why);
        free(text);
        return WRONG_PLAN;
    }
    free(text);
    if (!right_world(s, of_pairs ? pairs.nodes : s->plan.nodes, of_pairs ? pairs.ppn : s->plan.ppn))
        return WRONG_WORLD;
    speaks = s->ctl.rank == 0;
    signal(SIGALRM, hung);
    s->began = seconds() - s->origin;
    load_read(&s->load);
    if (of_pairs)
        pairs_measure(s, &pairs);
    else
        measure_cases(s);
    tell_end(s);
    return DONE;
}

enum { CRASHES = 5 };
static const int crashes[CRASHES] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static struct sigaction before[CRASHES]; /* handlers of the MPI library */

/* Delays the end of a crashing process. When the process ends, its launcher ends the other processes and may drop
 * their last output. */
static void crashed(int number)
{
    struct timespec pause = {0, 500000000};
    nanosleep(&pause, NULL);
    for (int i = 0; i < CRASHES; i++)
        if (crashes[i] == number)
            sigaction(number, &before[i], NULL);
    raise(number);
}

static void catch_crashes(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = crashed;
    for (int i = 0; i < CRASHES; i++)
        sigaction(crashes[i], &action, &before[i]);
}

static void give_up(int signal)
{
    (void)signal;
    _exit(DONE);
}

/* Ends the program after a pause. With MPICH's UCX over TCP, MPI_Finalize sometimes hangs, more rarely if connections
 * have become idle. All output is already written, so a process that hangs exits by itself. If the number of nodes or
 * ranks is wrong, the pause is longer: when the first rank exits, srun ends the others and drops their last output. */
static void leave(session *s, int code)
{
    struct timespec pause = {code == WRONG_WORLD, 300000000};
    char why[WHY];
    switches_apply(NULL, 0, why);
    signal(SIGALRM, give_up);
    alarm(FINALIZE_SECONDS);
    control_barrier(&s->ctl);
    if (s->ctl.size > 1 || code == WRONG_WORLD)
        nanosleep(&pause, NULL);
    MPI_T_finalize();
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    static session s;
    int code;
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("tutti-native %d %s\n", FORMAT, SOURCE);
        return DONE;
    }
    if (argc == 3 && strcmp(argv[1], "--settings") == 0) {
        if (cvar_start() != MPI_SUCCESS)
            return WRONG_WORLD;
        cvar_print(argv[2]);
        MPI_T_finalize();
        return DONE;
    }
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: tutti-native PLAN\n       tutti-native --settings PREFIX\n       tutti-native --version\n");
        return WRONG_PLAN;
    }
    MPI_Init(&argc, &argv);
    catch_crashes();
    start(&s);
    if (s.ctl.rank == 0)
        hello(&s, argc, argv);
    code = measure(&s, argv[1]);
    leave(&s, code);
    return code;
}
