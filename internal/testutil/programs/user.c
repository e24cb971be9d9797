/* Two algorithms such as a user can write, for tests of libtutti. */
#include "tutti_algorithm.h"

#include <stdlib.h>

/* Each rank combines the vectors of the ranks before it with its own. The last rank has the result. */
static int chain(const tutti_call *c)
{
    char *memory = malloc((size_t)(c->count * c->extent + c->span)), *before = memory - c->lower;
    int e = MPI_SUCCESS, last = c->size - 1;
    if (c->rank > 0) {
        e = PMPI_Recv(before, c->count, c->type, c->rank - 1, 0, c->comm, MPI_STATUS_IGNORE);
        PMPI_Reduce_local(before, c->data, c->count, c->type, c->op);
    }
    if (c->rank < last)
        PMPI_Send(c->data, c->count, c->type, c->rank + 1, 0, c->comm);
    PMPI_Bcast(c->data, c->count, c->type, last, c->comm);
    free(memory);
    return e;
}

/* The root sends each segment to every other rank. */
static int star(const tutti_call *c)
{
    int e = MPI_SUCCESS, step = c->parameter > 0 && c->parameter < c->count ? c->parameter : c->count;
    for (int at = 0; at < c->count; at += step) {
        int n = step < c->count - at ? step : c->count - at;
        if (c->rank != c->root)
            e = PMPI_Recv(c->data + at, n, c->type, c->root, 0, c->comm, MPI_STATUS_IGNORE);
        for (int r = 0; c->rank == c->root && r < c->size; r++)
            if (r != c->root)
                e = PMPI_Send(c->data + at, n, c->type, r, 0, c->comm);
    }
    return e;
}

const tutti_algorithm tutti_algorithms[] = {
    {.interface = TUTTI_INTERFACE, .collective = "allreduce", .name = "chain", .run = chain},
    {.interface = TUTTI_INTERFACE, .collective = "bcast", .name = "star", .parameter = "segsize", .max_ranks = 64, .run = star},
    {0},
};
