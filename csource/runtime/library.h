/* Algorithms of the MPI library that tutti selects for a single call through control variables. The table names
 * the variables and their values. */
#ifndef TUTTI_LIBRARY_H
#define TUTTI_LIBRARY_H

#include "comm.h"
#include "serve.h"

#include "cvar.h" /* depends on MPI alone */

#pragma GCC visibility push(hidden)

/* Requirements that algorithms of MPI libraries have in addition to those of libtutti's algorithms. */
enum {
    TWO_RANKS = 1 << 16,  /* size2: two ranks */
    PARENT = 1 << 17,     /* parent: some node has two ranks or more */
    ONE_NODE = 1 << 18,   /* one_node: all ranks are on one node */
    BUILTIN_OP = 1 << 19, /* builtin_op: the operation is predefined */
};

typedef struct {
    char *name;
    cvar cvar;
    long long value, first; /* value: of the variable for the algorithm; first: at other times */
} control;

typedef struct library_algorithm {
    algorithm algorithm; /* without a function */
    char *name;
    int fresh; /* the variables affect only communicators created later */
    int controls;
    control *control;
    struct library_algorithm *next;
} library_algorithm;

int library_read(const char *line, char *why);                /* parses a line after its first word, "algorithm"; 0, or -1 with the reason */
const algorithm *library_find(collective what, const char *name);
void library_forget(void);                                     /* frees all algorithms */
int library_open(char *why);                                   /* opens the variables of all algorithms; 0, or -1 with the reason */
void one_line(char *text); /* replaces each sequence of blanks, tabs and line ends by one blank */
int library_is(const char *name); /* whether the MPI library's version contains a text */
void library_version(char *says); /* writes the MPI library's version as one line, in MPI_MAX_LIBRARY_VERSION_STRING + 1 bytes */
int library_matches(const char *banner, char *why);              /* whether the version contains the banner; 0, or -1 with the reason */

static inline int is_library(const algorithm *a) { return a->run == NULL && !(a->needs & USERS); }

/* Prepares a call that an algorithm of the MPI library is to serve. Returns the algorithm, and in *on the
 * communicator on which the call must be made. Returns NULL if the algorithm cannot serve the call. After the call,
 * library_leave must be called. If *on is not the application's communicator, library_leave raises the call's error
 * on the application's. */
const library_algorithm *library_enter(const arguments *a, const algorithm *of, comm *c, uint64_t bytes, MPI_Comm *on);
void library_leave(const library_algorithm *t, const comm *c, int error);

void library_set(const library_algorithm *t, int on); /* sets the variables to the algorithm's values, or if on is 0 to their first values */

#pragma GCC visibility pop

#endif
