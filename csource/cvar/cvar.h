/* MPI_T control variables that are whole numbers. */
#ifndef TUTTI_CVAR_H
#define TUTTI_CVAR_H

#include <mpi.h>

#pragma GCC visibility push(hidden)

typedef struct {
    MPI_T_cvar_handle handle;
    MPI_Datatype type;
    MPI_T_enum items;
} cvar;

/* All return MPI_SUCCESS or an error: MPI_ERR_TYPE for a variable that is no whole
 * number of the whole process. */

int cvar_start(void); /* before the others; ends with MPI_T_finalize */
int cvar_open(cvar *v, const char *name);
int cvar_fetch(const cvar *v, long long *value);
int cvar_store(const cvar *v, long long value);

const char *cvar_words(int error);

#pragma GCC visibility pop

#endif
