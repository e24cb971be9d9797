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
    TOGETHER = 1024,       /* no requirement: in a call of alltoallv it serves all ranks or none, so it needs a rule for all sizes */
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

/* The functions of the algorithms. Each collective has a file of its own. */
void allgather_bruck(const call *c), allgather_gather_bcast(const call *c), allgather_linear(const call *c);
void allgather_mesh(const call *c), allgather_mesh_3d(const call *c), allgather_neighbor(const call *c);
void allgather_pair(const call *c), allgather_pair_barrier(const call *c), allgather_pair_light_barrier(const call *c);
void allgather_pairwise(const call *c), allgather_pairwise_barrier(const call *c), allgather_pairwise_light_barrier(const call *c);
void allgather_recursive_doubling(const call *c), allgather_ring(const call *c);
void allgather_ring_depth_first(const call *c), allgather_simple(const call *c), allgather_two_level(const call *c);
void allgatherv_bruck(const call *c), allgatherv_linear(const call *c), allgatherv_pair(const call *c);
void allgatherv_pair_barrier(const call *c), allgatherv_pair_light_barrier(const call *c), allgatherv_pairwise(const call *c);
void allgatherv_pairwise_barrier(const call *c), allgatherv_pairwise_light_barrier(const call *c);
void allgatherv_recursive_doubling(const call *c), allgatherv_ring(const call *c), allgatherv_ring_depth_first(const call *c);
void allgatherv_simple(const call *c);
void allreduce_allgather(const call *c), allreduce_alltoall_allgather(const call *c), allreduce_halving_allgather(const call *c);
void allreduce_nonoverlapping(const call *c), allreduce_rabenseifner(const call *c);
void allreduce_recursive_doubling(const call *c), allreduce_ring(const call *c);
void allreduce_rabenseifner_depth_first(const call *c), allreduce_rabenseifner_far(const call *c);
void allreduce_recursive_doubling_depth_first(const call *c), allreduce_ring_depth_first(const call *c);
void allreduce_two_level(const call *c), allreduce_two_level_rabenseifner(const call *c);
void alltoall_bruck(const call *c), alltoall_linear(const call *c), alltoall_mesh(const call *c), alltoall_mesh_3d(const call *c);
void alltoall_pair(const call *c), alltoall_pair_barrier(const call *c), alltoall_pair_light_barrier(const call *c);
void alltoall_pairwise(const call *c), alltoall_pairwise_barrier(const call *c), alltoall_pairwise_light_barrier(const call *c);
void alltoall_recursive_doubling(const call *c), alltoall_scheduled(const call *c), alltoall_scheduled_barrier(const call *c);
void alltoall_simple(const call *c), alltoall_windows(const call *c);
void alltoallv_greedy(const call *c), alltoallv_linear(const call *c), alltoallv_pairwise(const call *c), alltoallv_simple(const call *c);
void alltoallv_scheduled_barrier(const call *c);
void barrier_bruck(const call *c), barrier_linear(const call *c), barrier_recursive_doubling(const call *c);
void bcast_binary_tree(const call *c), bcast_binomial(const call *c), bcast_chain(const call *c), bcast_k_chain(const call *c);
void bcast_linear(const call *c);
void bcast_binomial_depth_first(const call *c), bcast_knomial(const call *c), bcast_magpie(const call *c);
void bcast_multi_level(const call *c), bcast_multi_level_binary(const call *c), bcast_multi_level_pipeline(const call *c);
void bcast_pipeline(const call *c), bcast_pipeline_depth_first(const call *c);
void bcast_scatter_ring(const call *c), bcast_scatter_ring_depth_first(const call *c), bcast_split_binary(const call *c);
void bcast_two_level(const call *c), bcast_two_level_binary(const call *c), bcast_two_level_pipeline(const call *c);
void bcast_two_level_postal(const call *c);
void exscan_linear(const call *c), exscan_recursive_doubling(const call *c);
void gather_binomial(const call *c), gather_linear(const call *c);
void reduce_binomial(const call *c), reduce_linear(const call *c), reduce_magpie(const call *c);
void reduce_multi_level(const call *c), reduce_pipeline(const call *c), reduce_pipeline_depth_first(const call *c);
void reduce_rabenseifner(const call *c), reduce_rabenseifner_depth_first(const call *c);
void reduce_two_level(const call *c), reduce_two_level_pipeline(const call *c);
void reduce_scatter_halving(const call *c), reduce_scatter_nonoverlapping(const call *c);
void reduce_scatter_pairwise(const call *c), reduce_scatter_ring(const call *c);
void scan_linear(const call *c), scan_recursive_doubling(const call *c);
void scatter_binomial(const call *c), scatter_linear(const call *c);

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
