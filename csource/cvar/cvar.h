/* MPI_T control variables with integer values. */
#ifndef TUTTI_CVAR_H
#define TUTTI_CVAR_H

#include <mpi.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

typedef struct {
    MPI_T_cvar_handle handle;
    MPI_Datatype type;
    MPI_T_enum items;
} cvar;

/* All functions below return MPI_SUCCESS or an error of MPI. MPI_ERR_TYPE means that a variable is not an integer
 * or does not apply to the whole process. */

int cvar_start(void); /* must come first; MPI_T_finalize undoes it */
int cvar_open(cvar *v, const char *name);
int cvar_fetch(const cvar *v, long long *value);
int cvar_store(const cvar *v, long long value);

const char *cvar_words(int error);

/* Finds a component of Open MPI that may serve collectives instead of coll/tuned. Such a component has a higher
 * priority and is not disabled. Returns the component's priority and copies its name to `name` (capacity bytes).
 * Returns 0 if there is none. */
int cvar_rival(char *name, size_t capacity);

#pragma GCC visibility pop

/* Prints a line "cvar NAME=VALUE" for each control variable whose name begins with a prefix: those that are a text, a whole
 * number or a truth value of the whole program. The call of MPI_T_init_thread has read environment and parameter files. */
void cvar_print(const char *prefix);

#endif
