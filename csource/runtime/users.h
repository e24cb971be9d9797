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

/* Loads the shared objects whose paths are separated by colons. If an object is wrong, rank 0 prints the reason in
 * one line, and no rank uses the object's algorithms. All ranks must call this function. Only rank 0's paths count. */
void users_load(MPI_Comm world, const char *paths);
/* Returns the algorithm whose name is the first n letters of `name`, with a parameter that may be NULL. Returns
 * user_missing if there is none. */
const algorithm *users_find(collective what, const char *name, size_t n, const char *parameter);

#pragma GCC visibility pop

#endif
