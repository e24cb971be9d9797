/* Algorithms of our own, on messages between two ranks. */
#ifndef TUTTI_REPOSITORY_H
#define TUTTI_REPOSITORY_H

#include "layout.h"

#pragma GCC visibility push(hidden)

/* One call as an algorithm sees it. Vectors are elements of one type, at distances
 * of its extent; where nothing is reduced they are bytes, but for alltoallv. What data holds, before
 * and after:
 *
 *   allgather   size blocks of count; before, the own one is in its place
 *   allreduce   count elements: the own ones, then the result
 *   allgatherv  blocks of counts at starts; before, the own one is in its place
 *   alltoall    size blocks of count, received; those to be sent are in send
 *   alltoallv   blocks of counts at starts, received; sends says what is sent, where
 *               send is not NULL, else what is received is sent before
 *   bcast       count elements, at the root before
 *   exscan      count elements: the own ones, then the result; rank 0 has none
 *   gather      at the root size blocks of count, the own one in its place; else
 *               the own block
 *   reduce      count elements: the own ones, then at the root the result
 *   reduce_scatter, reduce_scatter_block
 *               as many elements as all counts together; after, the own block is
 *               right and the others are anything
 *   scan        as exscan, and rank 0 has its own
 *   scatter     the own block of count; at the root send has all size blocks */
typedef struct {
    char *data;
    const char *send;
    int count;
    const int *counts, *starts; /* of each rank; starts of reduce_scatter are the sums before */
    struct {
        const int *counts, *starts;
        MPI_Datatype type;
        MPI_Aint extent;
    } sends; /* of alltoallv */
    MPI_Datatype type;
    MPI_Aint extent, lower, span; /* of an element; span: first byte to last */
    int plain;                    /* elements have no holes */
    MPI_Op op;
    int commutative;
    int root;
    int parameter;        /* of the algorithm, 0: none; a segsize is in bytes */
    layout *layout;       /* of algorithms that ask for places */
    const int *map;       /* the rank that each number stands for; NULL: itself */
    MPI_Comm comm;     /* no one else's messages are in it */
    int rank, size;
} call;

/* What must hold for an algorithm to run; the names are the catalogue's. */
enum {
    POWER_OF_TWO = 1,    /* pow2 */
    EVEN = 2,            /* even */
    COMMUTATIVE = 4,     /* commutative */
    COUNT_SIZE = 8,      /* count_ge_size: count reaches the size of the communicator */
    COUNT_POWER_OF_TWO = 16, /* count_ge_pof2: ... the largest power of two up to it */
    PLACES = 32,         /* not of the catalogue: where ranks lie */
    ONE_BY_ONE = 128,    /* nor this: nothing; without segments its messages go one after another, as many as ranks */
    WORDS = 64,          /* nor this: nothing; some of its messages are signals, of a tag of their own */
};

typedef struct algorithm {
    collective what;
    const char *name;
    int (*run)(const call *c); /* returns an error of MPI */
    unsigned needs;
    const char *parameter; /* the one that it takes; NULL: none */
} algorithm;

extern const algorithm repository[]; /* ends with one without a name */

int repository_fits(const algorithm *a, int ranks);      /* whether it can serve communicators of that size */
int repository_can(const algorithm *a, const call *c);   /* ... and this call: the same answer on every rank */

/* The algorithms, in files by collective. */
int allgather_bruck(const call *c), allgather_linear(const call *c), allgather_neighbor(const call *c);
int allgather_recursive_doubling(const call *c), allgather_ring(const call *c);
int allgather_ring_depth_first(const call *c), allgather_two_level(const call *c);
int allgatherv_bruck(const call *c), allgatherv_linear(const call *c), allgatherv_ring(const call *c);
int allreduce_nonoverlapping(const call *c), allreduce_rabenseifner(const call *c);
int allreduce_recursive_doubling(const call *c), allreduce_ring(const call *c);
int allreduce_rabenseifner_depth_first(const call *c), allreduce_rabenseifner_far(const call *c);
int allreduce_recursive_doubling_depth_first(const call *c), allreduce_ring_depth_first(const call *c);
int allreduce_two_level(const call *c), allreduce_two_level_rabenseifner(const call *c);
int alltoall_bruck(const call *c), alltoall_linear(const call *c), alltoall_mesh(const call *c);
int alltoall_pair(const call *c), alltoall_pairwise(const call *c), alltoall_scheduled(const call *c), alltoall_scheduled_barrier(const call *c);
int alltoall_windows(const call *c);
int alltoallv_linear(const call *c), alltoallv_pairwise(const call *c);
int barrier_bruck(const call *c), barrier_linear(const call *c), barrier_recursive_doubling(const call *c);
int bcast_binary_tree(const call *c), bcast_binomial(const call *c), bcast_linear(const call *c);
int bcast_binomial_depth_first(const call *c), bcast_knomial(const call *c), bcast_magpie(const call *c);
int bcast_multi_level(const call *c), bcast_multi_level_binary(const call *c), bcast_multi_level_pipeline(const call *c);
int bcast_pipeline(const call *c), bcast_pipeline_depth_first(const call *c);
int bcast_scatter_ring(const call *c), bcast_scatter_ring_depth_first(const call *c), bcast_split_binary(const call *c);
int bcast_two_level(const call *c), bcast_two_level_binary(const call *c), bcast_two_level_pipeline(const call *c);
int bcast_two_level_postal(const call *c);
int exscan_linear(const call *c), exscan_recursive_doubling(const call *c);
int gather_binomial(const call *c), gather_linear(const call *c);
int reduce_binomial(const call *c), reduce_linear(const call *c), reduce_magpie(const call *c);
int reduce_multi_level(const call *c), reduce_pipeline(const call *c), reduce_pipeline_depth_first(const call *c);
int reduce_rabenseifner(const call *c), reduce_rabenseifner_depth_first(const call *c);
int reduce_two_level(const call *c), reduce_two_level_pipeline(const call *c);
int reduce_scatter_halving(const call *c), reduce_scatter_nonoverlapping(const call *c);
int reduce_scatter_pairwise(const call *c), reduce_scatter_ring(const call *c);
int scan_linear(const call *c), scan_recursive_doubling(const call *c);
int scatter_binomial(const call *c), scatter_linear(const call *c);

/* message.c: what they are made of. */

enum { TAG = 1, WORD, FLAGGED };

/* In the next call of this rank messages tell whether a rank has raised a flag: who has it, or hears of it, sends it on, by
 * another tag. Not in calls with words. Afterwards: whether this rank has it. */
void flag_carry(int raised);
int flag_heard(void);

int put(const call *c, const char *from, int n, int to);
int get(const call *c, char *into, int n, int from);
int start_put(const call *c, const char *from, int n, int to, MPI_Request *r);
int start_get(const call *c, char *into, int n, int from, MPI_Request *r);
int swap(const call *c, const char *out, int n, int to, char *in, int m, int from);
int wait_all(MPI_Request *r, int n);
int wait_gets(MPI_Request *r, int n); /* of what is received, which may tell of a flag */

/* All ranks send to all others at once, beginning with different ones: what begins
 * at out for rank 0 and step elements later for each rank after it. */
int exchange(const call *c, const char *out, int step);

int copy(const call *c, char *to, const char *from, int n);
char *scratch(const call *c, int n); /* room for n elements; NULL: no memory */
void scratch_free(const call *c, char *p);

/* mine = mine and theirs combined, in the order of the ranks; theirs is destroyed. */
int combine(const call *c, char *mine, char *theirs, int n, int theirs_first);

/* halving.c: reductions by halves, on as many ranks as the largest power of two. Of
 * the first pairs of ranks the odd one stands for both. */

typedef struct {
    int power;  /* members */
    int rest;   /* pairs */
    int number; /* of this rank among the members; -1: another stands for it */
    int far;    /* members are numbered so that partners at distance 1 are far from one another */
} team;

team team_of(const call *c);
team team_far(const call *c);
int team_rank(const team *m, int number);
int team_join(const call *c, const team *m, char *tmp);  /* pairs combine what they have */
int team_leave(const call *c, const team *m);            /* ... and share the result */
int halve(const call *c, const team *m, int number, char *tmp, int *first, int *n); /* the part that is this rank's then */
int unhalve(const call *c, const team *m, int number, int to_one);

call by_position(const call *c); /* ranks are numbered depth first; needs a layout */

static inline int rank_of(const call *c, int number) { return c->map == NULL ? number : c->map[number]; }

static inline char *at(const call *c, const char *p, int i) { return (char *)p + (MPI_Aint)i * c->extent; }

/* The rank that is i after another one, round the ring. */
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

/* How many elements a segment has: all, or what fits, but at least one. */
static inline int segment_of(const call *c, int n)
{
    MPI_Aint fit = c->parameter > 0 && c->extent > 0 ? c->parameter / c->extent : n;
    return fit < 1 ? 1 : fit < n ? (int)fit : n;
}

#pragma GCC visibility pop

#endif
