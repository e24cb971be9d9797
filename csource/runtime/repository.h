/* The algorithms of libtutti. Each of them consists of point-to-point messages. */
#ifndef TUTTI_REPOSITORY_H
#define TUTTI_REPOSITORY_H

#include "layout.h"
#include "tutti_algorithm.h"

#pragma GCC visibility push(hidden)

typedef tutti_call call;

/* Requirements of an algorithm. They have the same names as in the catalogue (package mpi). */
enum {
    POWER_OF_TWO = TUTTI_POWER_OF_TWO,             /* pow2 */
    EVEN = TUTTI_EVEN,                             /* even */
    COMMUTATIVE = TUTTI_COMMUTATIVE,               /* commutative */
    COUNT_SIZE = TUTTI_COUNT_SIZE,                 /* count_ge_size */
    COUNT_POWER_OF_TWO = TUTTI_COUNT_POWER_OF_TWO, /* count_ge_pof2 */
    LAYOUT = 32,         /* not in the catalogue: it needs a layout */
    ONE_BY_ONE = 128,    /* no requirement: without segments it sends as many messages as there are ranks, one after another */
    GATHERS = 256,         /* no requirement: each rank holds the vectors of all ranks, which together are at most MOST_GATHERED */
    SIGNALS = 64,          /* no requirement: its messages carry no flag. Some of them are signals, with another tag */
    USERS = 512,           /* no requirement: it is a user_algorithm */
    TOGETHER = 1024,       /* no requirement: if ranks pass different sizes, it serves all ranks or none, so it needs a rule for all sizes */
};

enum { MOST_GATHERED = 64 << 20 }; /* bytes */
enum { MOST_TOGETHER = 512 };      /* ranks; each schedules the messages between all of them, which takes about 0.3 s with 512 */

typedef struct algorithm {
    collective what;
    const char *name;
    void (*run)(const call *c); /* NULL: an algorithm of a user or of the MPI library */
    unsigned needs;
    const char *parameter; /* its parameter; NULL: none */
} algorithm;

extern const algorithm repository[]; /* the last one has no name */

int repository_fits(const algorithm *a, int ranks);      /* whether it can serve communicators of that size */
int repository_can(const algorithm *a, const call *c);   /* whether it can serve this call; the same answer on all ranks */
void repository_run(const algorithm *a, const call *c);

/* Applies X to the fields of each algorithm of libtutti. Those that Open MPI also has are named as in Open MPI. The functions
 * of each collective have a file of their own. */
#define EACH_ALGORITHM(X) \
    X(ALLGATHER, "linear", allgather_linear, 0, NULL) \
    X(ALLGATHER, "bruck", allgather_bruck, 0, NULL) \
    X(ALLGATHER, "recursive_doubling", allgather_recursive_doubling, POWER_OF_TWO, NULL) \
    X(ALLGATHER, "ring", allgather_ring, 0, NULL) \
    X(ALLGATHER, "neighbor", allgather_neighbor, EVEN, NULL) \
    X(ALLGATHER, "two_level", allgather_two_level, LAYOUT, NULL) \
    X(ALLGATHER, "ring_depth_first", allgather_ring_depth_first, LAYOUT, NULL) \
    X(ALLGATHER, "simple", allgather_simple, 0, NULL) \
    X(ALLGATHER, "pairwise", allgather_pairwise, 0, NULL) \
    X(ALLGATHER, "pairwise_light_barrier", allgather_pairwise_light_barrier, 0, NULL) \
    X(ALLGATHER, "pairwise_barrier", allgather_pairwise_barrier, 0, "barriers") \
    X(ALLGATHER, "pair", allgather_pair, POWER_OF_TWO, NULL) \
    X(ALLGATHER, "pair_light_barrier", allgather_pair_light_barrier, POWER_OF_TWO, NULL) \
    X(ALLGATHER, "pair_barrier", allgather_pair_barrier, POWER_OF_TWO, "barriers") \
    X(ALLGATHER, "mesh", allgather_mesh, 0, NULL) \
    X(ALLGATHER, "mesh_3d", allgather_mesh_3d, 0, NULL) \
    X(ALLGATHER, "gather_bcast", allgather_gather_bcast, 0, NULL) \
    X(ALLGATHERV, "linear", allgatherv_linear, 0, NULL) \
    X(ALLGATHERV, "bruck", allgatherv_bruck, 0, NULL) \
    X(ALLGATHERV, "ring", allgatherv_ring, 0, NULL) \
    X(ALLGATHERV, "ring_depth_first", allgatherv_ring_depth_first, LAYOUT, NULL) \
    X(ALLGATHERV, "simple", allgatherv_simple, 0, NULL) \
    X(ALLGATHERV, "recursive_doubling", allgatherv_recursive_doubling, POWER_OF_TWO, NULL) \
    X(ALLGATHERV, "pairwise", allgatherv_pairwise, 0, NULL) \
    X(ALLGATHERV, "pairwise_light_barrier", allgatherv_pairwise_light_barrier, 0, NULL) \
    X(ALLGATHERV, "pairwise_barrier", allgatherv_pairwise_barrier, 0, "barriers") \
    X(ALLGATHERV, "pair", allgatherv_pair, POWER_OF_TWO, NULL) \
    X(ALLGATHERV, "pair_light_barrier", allgatherv_pair_light_barrier, POWER_OF_TWO, NULL) \
    X(ALLGATHERV, "pair_barrier", allgatherv_pair_barrier, POWER_OF_TWO, "barriers") \
    X(ALLREDUCE, "nonoverlapping", allreduce_nonoverlapping, 0, NULL) \
    X(ALLREDUCE, "recursive_doubling", allreduce_recursive_doubling, 0, NULL) \
    X(ALLREDUCE, "ring", allreduce_ring, COMMUTATIVE | COUNT_SIZE, NULL) \
    X(ALLREDUCE, "rabenseifner", allreduce_rabenseifner, COMMUTATIVE | COUNT_POWER_OF_TWO, NULL) \
    X(ALLREDUCE, "rabenseifner_far", allreduce_rabenseifner_far, COMMUTATIVE | COUNT_POWER_OF_TWO, NULL) \
    X(ALLREDUCE, "segmented_ring", allreduce_ring, COMMUTATIVE | COUNT_SIZE, "segsize") \
    X(ALLREDUCE, "two_level", allreduce_two_level, COMMUTATIVE | LAYOUT, NULL) \
    X(ALLREDUCE, "two_level_rabenseifner", allreduce_two_level_rabenseifner, COMMUTATIVE | COUNT_POWER_OF_TWO | LAYOUT, NULL) \
    X(ALLREDUCE, "ring_depth_first", allreduce_ring_depth_first, COMMUTATIVE | COUNT_SIZE | LAYOUT, NULL) \
    X(ALLREDUCE, "recursive_doubling_depth_first", allreduce_recursive_doubling_depth_first, COMMUTATIVE | LAYOUT, NULL) \
    X(ALLREDUCE, "rabenseifner_depth_first", allreduce_rabenseifner_depth_first, COMMUTATIVE | COUNT_POWER_OF_TWO | LAYOUT, NULL) \
    X(ALLREDUCE, "allgather", allreduce_allgather, LAYOUT | GATHERS, NULL) \
    X(ALLREDUCE, "halving_allgather", allreduce_halving_allgather, POWER_OF_TWO | COMMUTATIVE | COUNT_SIZE | LAYOUT, NULL) \
    X(ALLREDUCE, "alltoall_allgather", allreduce_alltoall_allgather, COUNT_SIZE | LAYOUT, NULL) \
    X(ALLTOALL, "linear", alltoall_linear, 0, NULL) \
    X(ALLTOALL, "pairwise", alltoall_pairwise, 0, NULL) \
    X(ALLTOALL, "modified_bruck", alltoall_bruck, 0, "radix") \
    X(ALLTOALL, "windows", alltoall_windows, 0, "window") \
    X(ALLTOALL, "mesh", alltoall_mesh, 0, NULL) \
    X(ALLTOALL, "scheduled", alltoall_scheduled, LAYOUT | SIGNALS, NULL) \
    X(ALLTOALL, "scheduled_barrier", alltoall_scheduled_barrier, LAYOUT, NULL) \
    X(ALLTOALL, "pair", alltoall_pair, POWER_OF_TWO, NULL) \
    X(ALLTOALL, "pair_light_barrier", alltoall_pair_light_barrier, POWER_OF_TWO, NULL) \
    X(ALLTOALL, "pair_barrier", alltoall_pair_barrier, POWER_OF_TWO, "barriers") \
    X(ALLTOALL, "pairwise_light_barrier", alltoall_pairwise_light_barrier, 0, NULL) \
    X(ALLTOALL, "pairwise_barrier", alltoall_pairwise_barrier, 0, "barriers") \
    X(ALLTOALL, "simple", alltoall_simple, 0, NULL) \
    X(ALLTOALL, "mesh_3d", alltoall_mesh_3d, 0, NULL) \
    X(ALLTOALL, "recursive_doubling", alltoall_recursive_doubling, POWER_OF_TWO, NULL) \
    X(ALLTOALLV, "linear", alltoallv_linear, 0, NULL) \
    X(ALLTOALLV, "pairwise", alltoallv_pairwise, 0, NULL) \
    X(ALLTOALLV, "greedy", alltoallv_greedy, LAYOUT | TOGETHER, NULL) \
    X(ALLTOALLV, "scheduled_barrier", alltoallv_scheduled_barrier, LAYOUT | TOGETHER, NULL) \
    X(ALLTOALLV, "simple", alltoallv_simple, 0, NULL) \
    X(BARRIER, "linear", barrier_linear, ONE_BY_ONE, NULL) \
    X(BARRIER, "recursive_doubling", barrier_recursive_doubling, 0, NULL) \
    X(BARRIER, "bruck", barrier_bruck, 0, NULL) \
    X(BCAST, "basic_linear", bcast_linear, ONE_BY_ONE, NULL) \
    X(BCAST, "pipeline", bcast_pipeline, ONE_BY_ONE, "segsize") \
    X(BCAST, "binary_tree", bcast_binary_tree, 0, "segsize") \
    X(BCAST, "binomial", bcast_binomial, 0, "segsize") \
    X(BCAST, "scatter_allgather_ring", bcast_scatter_ring, 0, NULL) \
    X(BCAST, "knomial", bcast_knomial, 0, "radix") \
    X(BCAST, "split_binary_tree", bcast_split_binary, 0, "segsize") \
    X(BCAST, "two_level", bcast_two_level, LAYOUT, "segsize") \
    X(BCAST, "two_level_pipeline", bcast_two_level_pipeline, LAYOUT, "segsize") \
    X(BCAST, "two_level_binary", bcast_two_level_binary, LAYOUT, "segsize") \
    X(BCAST, "magpie", bcast_magpie, LAYOUT, "segsize") \
    X(BCAST, "multi_level", bcast_multi_level, LAYOUT, "segsize") \
    X(BCAST, "binomial_depth_first", bcast_binomial_depth_first, LAYOUT, "segsize") \
    X(BCAST, "pipeline_depth_first", bcast_pipeline_depth_first, LAYOUT | ONE_BY_ONE, "segsize") \
    X(BCAST, "scatter_ring_depth_first", bcast_scatter_ring_depth_first, LAYOUT, NULL) \
    X(BCAST, "two_level_postal", bcast_two_level_postal, LAYOUT, "radix") \
    X(BCAST, "multi_level_pipeline", bcast_multi_level_pipeline, LAYOUT, "segsize") \
    X(BCAST, "multi_level_binary", bcast_multi_level_binary, LAYOUT, "segsize") \
    X(BCAST, "chain", bcast_chain, ONE_BY_ONE, "segsize") \
    X(BCAST, "k_chain", bcast_k_chain, ONE_BY_ONE, "radix") \
    X(EXSCAN, "linear", exscan_linear, ONE_BY_ONE, NULL) \
    X(EXSCAN, "recursive_doubling", exscan_recursive_doubling, 0, NULL) \
    X(GATHER, "basic_linear", gather_linear, 0, NULL) \
    X(GATHER, "binomial", gather_binomial, 0, NULL) \
    X(REDUCE, "linear", reduce_linear, ONE_BY_ONE, NULL) \
    X(REDUCE, "pipeline", reduce_pipeline, ONE_BY_ONE, "segsize") \
    X(REDUCE, "binomial", reduce_binomial, 0, NULL) \
    X(REDUCE, "rabenseifner", reduce_rabenseifner, COMMUTATIVE | COUNT_POWER_OF_TWO, NULL) \
    X(REDUCE, "two_level", reduce_two_level, COMMUTATIVE | LAYOUT, "segsize") \
    X(REDUCE, "two_level_pipeline", reduce_two_level_pipeline, COMMUTATIVE | LAYOUT, "segsize") \
    X(REDUCE, "magpie", reduce_magpie, COMMUTATIVE | LAYOUT, "segsize") \
    X(REDUCE, "multi_level", reduce_multi_level, COMMUTATIVE | LAYOUT, "segsize") \
    X(REDUCE, "pipeline_depth_first", reduce_pipeline_depth_first, COMMUTATIVE | LAYOUT | ONE_BY_ONE, "segsize") \
    X(REDUCE, "rabenseifner_depth_first", reduce_rabenseifner_depth_first, COMMUTATIVE | COUNT_POWER_OF_TWO | LAYOUT, NULL) \
    X(REDUCE_SCATTER, "non-overlapping", reduce_scatter_nonoverlapping, 0, NULL) \
    X(REDUCE_SCATTER, "recursive_halving", reduce_scatter_halving, POWER_OF_TWO | COMMUTATIVE, NULL) \
    X(REDUCE_SCATTER, "ring", reduce_scatter_ring, COMMUTATIVE, NULL) \
    X(REDUCE_SCATTER, "pairwise", reduce_scatter_pairwise, COMMUTATIVE, NULL) \
    X(REDUCE_SCATTER_BLOCK, "non-overlapping", reduce_scatter_nonoverlapping, 0, NULL) \
    X(REDUCE_SCATTER_BLOCK, "recursive_halving", reduce_scatter_halving, POWER_OF_TWO | COMMUTATIVE, NULL) \
    X(REDUCE_SCATTER_BLOCK, "ring", reduce_scatter_ring, COMMUTATIVE, NULL) \
    X(REDUCE_SCATTER_BLOCK, "pairwise", reduce_scatter_pairwise, COMMUTATIVE, NULL) \
    X(SCAN, "linear", scan_linear, ONE_BY_ONE, NULL) \
    X(SCAN, "recursive_doubling", scan_recursive_doubling, 0, NULL) \
    X(SCATTER, "basic_linear", scatter_linear, 0, NULL) \
    X(SCATTER, "binomial", scatter_binomial, 0, NULL)

#define DECLARATION(what, name, run, needs, parameter) void run(const call *c);
EACH_ALGORITHM(DECLARATION)
#undef DECLARATION

/* message.c: messages between two ranks. */

enum { TAG = 1, SIGNAL, FLAGGED };

/* A flag announces something to other ranks in the messages of a call. flag_carry makes the messages of the next call
 * carry a flag. Its parameter `raised` is 1 if this rank raises the flag. A rank that receives a raised flag forwards
 * it. After the call, flag_received returns whether this rank raised or received the flag. From then on, messages carry
 * no flag. Algorithms with signals cannot carry a flag. */
void flag_carry(int raised);
int flag_received(void);

/* After an error, such as a message longer than its buffer, a rank continues with the algorithm, because other ranks
 * wait for its messages. The functions for messages therefore only note their errors. noted_error returns the first
 * error since its last call. */
void note(int error);
int noted_error(void);

void send_to(const call *c, const char *from, int n, int to);
void receive_from(const call *c, char *into, int n, int from);
void start_send(const call *c, const char *from, int n, int to, MPI_Request *r);
void start_receive(const call *c, char *into, int n, int from, MPI_Request *r);
void send_receive(const call *c, const char *out, int n, int to, char *in, int m, int from);
void wait_all(MPI_Request *r, int n);
void wait_receives(const call *c, MPI_Request *r, int n, int count); /* r: receives of count elements each; their messages may carry the flag */

/* pattern.c: divides the messages of an alltoallv into phases. */

enum way { GREEDY, FROM_ALLTOALL };

/* A schedule of a call's messages in phases 0 to n - 1. The array `of` holds the phase of this rank's message to each
 * rank, then the phase of the message from each rank. A message that was unknown when the schedule was made has the
 * number n instead. */
typedef struct {
    int n, *of;
} phases_of_pattern;

/* Returns the schedule for the messages of a call, which must have a layout and must not be in place. All ranks must
 * call this function. The result is valid until the next call of this function. */
const phases_of_pattern *pattern_phases(const call *c, enum way by);

/* exchange.c: exchanges in which each rank sends one block to each other rank. The block for rank r begins r * `step`
 * elements after `out`. All blocks have c->count elements, or those that c->counts says for the rank that sends them. */

/* Exchanges all blocks at once. If `spread` is 1, a rank begins with the ranks that follow it, otherwise with rank 0. */
void exchange_all(const call *c, const char *out, int step, int spread);

enum partner { ALONG_RING, BY_XOR };                      /* BY_XOR: the number of ranks is a power of two */
enum separation { NOT_SEPARATED, BY_MESSAGES, BY_BARRIERS };

/* Exchanges blocks with one rank at a time. With ALONG_RING, a rank sends in round k to the rank k places after it.
 * With BY_XOR, it exchanges blocks in round k with rank (own rank XOR k). With BY_MESSAGES, a rank sends its block when
 * its partner is ready to receive. With BY_BARRIERS, c->parameter barriers are spread over the rounds; 0 means one
 * between any two rounds. Source: Faraj and Yuan, Automatic generation and tuning of MPI collective communication
 * routines (2005), 3.1. */
void exchange_in_rounds(const call *c, const char *out, int step, enum partner by, enum separation s);

/* A mesh of ranks. Each rank has one coordinate in each dimension. The stride of a dimension is the distance between
 * ranks whose coordinates differ by 1 in this dimension alone. */
typedef struct {
    int dimensions, length[32];
} mesh;

mesh mesh_of(int size, int dimensions); /* with lengths as close to each other as divisors of size allow */
/* Returns a copy of the call for a part of the ranks: those that differ from this rank only in one dimension of the
 * mesh. Writes these ranks to `ranks`. */
call line_of(const call *c, int stride, int length, int count, int *ranks);

void copy(const call *c, char *to, const char *from, int n);
char *scratch(const call *c, int n); /* memory for n elements */
MPI_Request *requests_of(int n);     /* memory for requests, to be freed */
void scratch_free(const call *c, char *p);

/* Combines n elements at `own` and n elements at `other` by the operation of the call. If `other_first` is 1, those at
 * `other` come first in the order of the ranks. The result replaces the elements at `own`. Those at `other` are
 * overwritten, too. */
void combine(const call *c, char *own, char *other, int n, int other_first);

/* halving.c: reductions by recursive halving. The members are the ranks that take part. Their number is the largest
 * power of two that does not exceed the number of ranks. Each odd rank among the first 2 × `pairs` ranks takes part for
 * itself and for the rank before it. */

typedef struct {
    int power;  /* members, a power of two */
    int pairs;  /* pairs of ranks of which one is a member */
    int number; /* this rank's number among the members; -1: another rank takes part for it */
    int far;    /* members are numbered so that partners at distance 1 are far from each other */
} team;

team team_of(const call *c);
team team_far(const call *c);
int team_rank(const team *m, int number);
void team_join(const call *c, const team *m, char *tmp);  /* combines the data of each pair */
void team_leave(const call *c, const team *m);            /* gives the result to both ranks of each pair */
void halve(const call *c, const team *m, int number, char *tmp, int *first, int *n); /* *first, *n: the part of the vector that this rank has afterwards */
void unhalve(const call *c, const team *m, int number, int to_one);

call by_position(const call *c); /* the call with ranks numbered in depth-first order; needs a layout */

static inline int rank_of(const call *c, int number) { return c->map == NULL ? number : c->map[number]; }

/* Returns the address that is the given number of bytes after another address, which may be MPI_BOTTOM. */
static inline char *moved(const void *p, MPI_Aint bytes) { return (char *)((MPI_Aint)p + bytes); }

static inline char *at(const call *c, const char *p, int i) { return moved(p, (MPI_Aint)i * c->extent); }

/* Returns the rank that is i places after the given rank in a ring of all ranks. */
static inline int after(const call *c, int rank, int i)
{
    int r = (rank + i) % c->size;
    return r < 0 ? r + c->size : r;
}

static inline int floor_power_of_two(int n)
{
    int p = 1;
    while (p <= n / 2)
        p *= 2;
    return p;
}

static inline int at_most(int n, int limit) { return n < limit ? n : limit; }

/* Returns the number of elements that fit into a segment of segsize bytes (a parameter of the call), at least one. If
 * segsize is not given, a segment has all n elements. */
static inline int segment_of(const call *c, int n)
{
    MPI_Aint fit = c->parameter > 0 && c->extent > 0 ? c->parameter / c->extent : n;
    return fit < 1 ? 1 : fit < n ? (int)fit : n;
}

#pragma GCC visibility pop

#endif
