/* Algorithms of the MPI library itself, switched by its control variables for one call.
 * A table says which variables those are. */
#ifndef TUTTI_LIBRARY_H
#define TUTTI_LIBRARY_H

#include "serve.h"

#include "cvar.h" /* knows of MPI alone */

#pragma GCC visibility push(hidden)

/* What must hold, beside what algorithms of our own need. */
enum {
    TWO_RANKS = 1 << 16,  /* size2 */
    PARENT = 1 << 17,     /* parent: a node has two ranks or more */
    ONE_NODE = 1 << 18,   /* one_node */
    BUILTIN_OP = 1 << 19, /* builtin_op */
};

typedef struct {
    char *name;
    cvar cvar;
    long long value, first; /* first: what it has between calls */
} control;

typedef struct library_algorithm {
    algorithm algorithm; /* without a function */
    char *name;
    int fresh; /* the variables act on communicators made afterwards */
    int controls;
    control *control;
    struct library_algorithm *next;
} library_algorithm;

int library_read(const char *line, char *why);                /* what stands behind "algorithm "; 0, or -1 with the reason */
const algorithm *library_find(collective what, const char *name);
void library_forget(void);                                     /* all that were read */
int library_open(char *why);                                   /* all that were read; 0, or -1 with the reason */
void library_version(char *says);                                  /* what the MPI library says of itself, in MPI_MAX_LIBRARY_VERSION_STRING + 1 bytes */
int library_matches(const char *banner, char *why);              /* whether the MPI library says that it is that one */

static inline int is_library(const algorithm *a) { return a->run == NULL; }

/* Lets one serve a call and sets its error; 0 when it cannot, with nothing done. */
int library_serve(arguments *a, const algorithm *of, comm *c, uint64_t bytes);

void library_set(const library_algorithm *t, int on); /* on: the values that it wants, else the first ones */

#pragma GCC visibility pop

#endif
