/* Algorithms of users. A shared object defines the array tutti_algorithms, and the environment variable TUTTI_ALGORITHMS names
 * the objects that libtutti loads. In tables an algorithm has the name user.NAME. See docs/how-to/own-algorithms.md. */
#ifndef TUTTI_ALGORITHM_H
#define TUTTI_ALGORITHM_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    MPI_Count count;
    MPI_Aint start; /* in bytes */
} tutti_block;

/* The blocks that an alltoallv sends or receives: the block of each rank, and the type of the elements. */
typedef struct {
    const tutti_block *at;
    MPI_Datatype type;
} tutti_blocks;

/* The arguments of a call as an algorithm needs them. A vector holds elements of one type at intervals of `extent`
 * bytes. Elements are bytes in collectives without a reduction, except in alltoallv. The content of `data` before and
 * after a call:
 *
 *   allgather   `size` blocks of `count` elements; before the call only the rank's own block is there, in its place
 *   allreduce   `count` elements: the rank's own vector, then the result
 *   allgatherv  blocks of `counts` elements at `starts`; before the call only the rank's own block is there, in its place
 *   alltoall    `size` blocks of `count` elements that were received; `send` holds the blocks to send
 *   alltoallv   the blocks that `receives` describes. The blocks to send are in `send`, and `sends` describes them. If the
 *               call is in place, the blocks in `data` are sent before they are replaced
 *   bcast       `count` elements; before the call only at the root
 *   exscan      `count` elements: the rank's own vector, then the result, except on rank 0
 *   gather      at the root `size` blocks of `count` elements, before the call only its own; on other ranks their own block
 *   reduce      `count` elements: the rank's own vector, then at the root the result
 *   reduce_scatter, reduce_scatter_block
 *               the elements of all blocks; after the call only the rank's own block is the result
 *   scan        `count` elements: the rank's own vector, then the result
 *   scatter     the rank's own block of `count` elements; at the root `send` holds all `size` blocks */
typedef struct {
    char *data;
    const char *send;
    int count;
    const int *counts, *starts; /* of each rank; starts of reduce_scatter are prefix sums */
    int in_place;               /* whether an alltoallv is in place */
    tutti_blocks sends, receives; /* of an alltoallv */
    MPI_Datatype type;
    MPI_Aint extent, lower, span; /* of an element, in bytes; span: from the first to the last */
    int plain;                    /* elements have no holes */
    MPI_Op op;
    int commutative;
    int root;
    int parameter;  /* of the algorithm, 0: none; a segsize is in bytes */
    MPI_Comm comm;  /* for messages of libtutti only */
    int rank, size;

    /* For libtutti's own algorithms. Later versions may change these. */
    struct layout *layout; /* NULL: the algorithm does not need it */
    const struct row *const *rows; /* rules of the table for this communicator, by collective; an element may be NULL */
    const int *map;        /* the rank that each number stands for; NULL: the number itself */
} tutti_call;

/* Requirements of an algorithm. The MPI library serves calls that do not meet them. */
enum {
    TUTTI_POWER_OF_TWO = 1, /* the number of ranks is a power of two */
    TUTTI_EVEN = 2,         /* the number of ranks is even */
    TUTTI_COMMUTATIVE = 4,  /* the operation is commutative */
    TUTTI_COUNT_SIZE = 8,   /* count is at least the number of ranks */
    TUTTI_COUNT_POWER_OF_TWO = 16, /* count is at least the largest power of two that is not above the number of ranks */
};

enum { TUTTI_INTERFACE = 1 }; /* version of this file */

typedef struct {
    int interface;            /* TUTTI_INTERFACE; 0: after the last algorithm */
    unsigned needs;           /* sum of its requirements */
    int min_ranks, max_ranks; /* 0: no limit */
    char collective[32];      /* as "reduce_scatter" */
    char name[64];            /* letters, digits and _ */
    char parameter[16];       /* the name of what call.parameter holds: "segsize", "radix", "window", "barriers", or none */
    int (*run)(const tutti_call *c); /* returns MPI_SUCCESS, or the error of an MPI function */
} tutti_algorithm;

extern __attribute__((visibility("default"))) const tutti_algorithm tutti_algorithms[];

#ifdef __cplusplus
}
#endif

#endif
