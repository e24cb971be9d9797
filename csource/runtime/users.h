/* Algorithms of users, which libtutti loads from shared objects. */
#ifndef TUTTI_USERS_H
#define TUTTI_USERS_H

#include "repository.h"

#pragma GCC visibility push(hidden)

typedef struct user_algorithm {
    algorithm algorithm; /* without a function */
    char name[sizeof "user." + sizeof ((tutti_algorithm *)0)->name];
    const tutti_algorithm *own;
    struct user_algorithm *next;
} user_algorithm;

extern user_algorithm *user_algorithms;     /* all; the same on all ranks */
extern const algorithm user_missing;        /* stands for an algorithm that no object has, and serves no call */
extern const char *const user_parameters[]; /* ends with NULL */

/* Loads objects, whose paths are separated by colons. If an object is wrong, one line of rank 0 says why, and no rank
 * uses its algorithms. Collective; rank 0's paths count. */
void users_load(MPI_Comm world, const char *paths);
/* Returns the algorithm with a name of n letters and a parameter, which may be NULL, or user_missing. */
const algorithm *users_find(collective what, const char *name, size_t n, const char *parameter);

#pragma GCC visibility pop

#endif
