/* tutti-native measures many algorithms of MPI collectives in one launch (one run). For everything that is not
 * measured, processes exchange point-to-point messages on a communicator of their own (control.c). A broken algorithm
 * therefore affects only its own case. Rank 0 takes all decisions and writes all output. */
#ifndef TUTTI_NATIVE_H
#define TUTTI_NATIVE_H

#include "workload.h"

#define FORMAT 1        /* of the plan and of the output */
#define MAX_NAME 128    /* bytes of a variable's name, with the final 0 */
#define MAX_SWITCHES 64 /* of one case */

/* control.c: messages that the processes exchange outside of measurements. */

typedef struct {
    MPI_Comm comm;
    int rank, size;
} control;

/* A fault is the reason why a part of the measurement failed, and the rank on which it failed. A negative
 * rank means no fault. */
typedef struct {
    int rank;
    char why[WHY];
} fault;

void control_give(const control *c, const void *buf, int bytes, int to, int tag);
void control_take(const control *c, void *buf, int bytes, int from, int tag);
void control_bcast(const control *c, void *buf, int bytes);  /* from rank 0 */
void control_max(const control *c, double *values, int n);   /* the largest of each, on rank 0 */
void control_barrier(const control *c);                      /* by dissemination */
int control_agree(const control *c, fault *f);               /* all ranks get the fault of the lowest rank; returns 1 if there is any */
void fault_none(fault *f);
void fault_set(fault *f, int rank, const char *format, ...);
void fault_mpi(fault *f, int rank, const char *what, int error);

/* world.c: finds out which ranks share a node. */

typedef struct {
    char host[MPI_MAX_PROCESSOR_NAME];
    int domain; /* lowest rank of the shared-memory domain */
} place;

typedef struct {
    int nodes, hosts, domains;
    int *node;    /* of each rank; nodes are numbered by their lowest rank */
    int *leader;  /* lowest rank of each node */
    int *ranks;   /* number of ranks of each node */
    place *place; /* of each rank */
} world;

void world_find(world *w, const control *c);

/* clocks.c: clock offsets, which give all ranks the same time scale. */

#define LONG 1e-4 /* seconds of a message: no network takes longer */

typedef struct {
    int shared;          /* all ranks read one clock */
    double offset, rate; /* global = local + offset + rate * (local - at) */
    double at;           /* local time of the estimate */
    double relative;     /* this rank's clock minus its leader's */
    double within;       /* on rank 0: half the shortest round trip of the worst rank to its leader */
    double error;        /* on rank 0: within, plus half the shortest round trip of the worst leader to rank 0 */
    double age;          /* on rank 0: seconds for which an estimate is valid */
    double credible;     /* a round trip of more than twice this time was disturbed */
} clocks;

void clocks_start(clocks *k, const control *c, const world *w, double barrier); /* barrier: seconds of a barrier */
void clocks_estimate(clocks *k, const control *c, const world *w);
double clocks_now(const clocks *k); /* seconds of rank 0's clock */
double clocks_error(const clocks *k); /* on rank 0: seconds by which the times of two ranks may differ */
double seconds(void);               /* of this node's clock */

/* switches.c: MPI_T control variables. */

typedef struct {
    char name[MAX_NAME];
    int value;
} setting;

int switches_start(char *why);
int switches_apply(const setting *s, int n, char *why); /* resets all other variables to their first values */
int switches_enum(const setting *s, int n, collective what, char *name, char *why);

/* own.c: algorithms of libtutti. */

int own_force(collective what, const char *algorithm, char *why);
int own_obeyed(const char *algorithm, char *why);

/* plan.c: the plan, which says what to measure. */

typedef struct {
    int number;
    collective what;
    form form; /* the one that is timed */
    long bytes;
    int new_comm;
    char *own; /* algorithm of libtutti; NULL: of the MPI library */
    setting *switches;
    int nswitches;
} plan_case;

typedef struct {
    int nodes, ppn;
    int warmup, min, max;             /* calls */
    double precision, slice, hang;    /* relative half-width; seconds; seconds */
    double abort_factor;              /* 0: no case is aborted */
    int check;
    int ncases;
    plan_case *cases;
} plan;

char *plan_load(const char *path, int *bytes, char *why); /* on rank 0 */
int plan_parse(plan *p, const char *path, char *text, char *why);

/* stats.c: order statistics. */

typedef struct {
    double median, low, high, min, max; /* seconds; low = high = 0 with fewer than 6 samples */
} summary;

void summarise(const double *samples, int n, double *scratch, summary *out);

/* bound.c: detects which function of Open MPI ran an algorithm. */

/* Empties the slots through which Open MPI's component coll/tuned calls algorithms. */
void bound_clear(void);

/* Writes the name of the function that ran the collective since bound_clear() to `name`, of MAX_NAME bytes. It is empty if
 * the component ran none. Returns 0 if functions cannot be detected in this library. */
int bound_name(collective what, char *name);

/* probe.c: detects which algorithm of MPICH ran. */

int probe_possible(collective what, const char *library);
void probe_run(const control *c, MPI_Comm comm, collective what, char *seen);

/* load.c: signs that other programs use the nodes. */

typedef struct {
    double preempted;   /* involuntary context switches of this rank */
    double stolen, all; /* processor time of the node in ticks: taken by other virtual machines, and in total */
} load;

void load_read(load *l);

/* measure.c: measures one case. */

typedef struct {
    control ctl;
    world world;
    clocks clocks;
    plan plan;
    MPI_Comm pristine; /* created before any switch was written */
    MPI_Comm current;  /* for cases that need no new communicator */
    double latency;    /* seconds of a barrier */
    double origin;     /* seconds() at the start */
    double began;      /* seconds after origin at which the first case began */
    load load;         /* when the first case began */
    int no_clock;      /* cases in a row that used barriers because of late starts */
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    struct best *best;
    int nbest;
    struct known *known;
    int nknown;
} session;

void measure_case(session *s, const plan_case *c);

/* output.c: the JSON lines that rank 0 writes. */

typedef struct {
    char *text;
    size_t used, capacity;
    int bad; /* a number was not finite */
} line;

void line_begin(line *l, const char *event);
void line_string(line *l, const char *key, const char *value);
void line_number(line *l, const char *key, double value);
void line_integer(line *l, const char *key, long value);
void line_raw(line *l, const char *format, ...);
void line_quoted(line *l, const char *value);
void line_end(line *l);

#endif
