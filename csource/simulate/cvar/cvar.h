/* Replaces csource/cvar in simulations, because the simulated MPI library (SMPI) has no control variables. */
#ifndef TUTTI_CVAR_H
#define TUTTI_CVAR_H

#include <mpi.h>

typedef struct {
    MPI_Datatype type;
} cvar;

static inline int cvar_start(void) { return MPI_ERR_OTHER; }
static inline int cvar_open(cvar *v, const char *name) { return (void)v, (void)name, MPI_ERR_OTHER; }
static inline int cvar_fetch(const cvar *v, long long *value) { return (void)v, (void)value, MPI_ERR_OTHER; }
static inline int cvar_store(const cvar *v, long long value) { return (void)v, (void)value, MPI_ERR_OTHER; }
static inline const char *cvar_words(int error) { return (void)error, "SMPI has no control variables"; }

#endif
