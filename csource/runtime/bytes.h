/* Sizes of messages. */
#ifndef TUTTI_BYTES_H
#define TUTTI_BYTES_H

#include "tutti.h"

#include <stdint.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/* A cache of the sizes of MPI's predefined types. The index is a hash of the type's handle. */
enum { TYPES = 16 };
typedef struct {
    MPI_Datatype type;
    size_t size;
} sized;
extern PER_THREAD sized sizes_known[TYPES];

static inline sized *sized_of(MPI_Datatype type)
{
    uint64_t bits = 0;
    memcpy(&bits, &type, sizeof type);
    return &sizes_known[bits * 0x9e3779b97f4a7c15u >> 60];
}

int type_named(MPI_Datatype type);
size_t type_size(MPI_Datatype type);
size_t counts_bytes(const void *counts, int wide, int n, MPI_Datatype type); /* bytes of n blocks; their counts are of MPI_Count if wide is 1, else of int */

static inline size_t bytes_of(MPI_Count count, MPI_Datatype type)
{
    const sized *known = sized_of(type);
    return (size_t)(count > 0 ? count : 0) * (known->type == type ? known->size : type_size(type));
}

#pragma GCC visibility pop

#endif
