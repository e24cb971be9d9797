/* The MPI functions that libtutti calls on behalf of the application. They belong to the MPI library or to a tool
 * that is loaded after libtutti, so that the tool sees these calls. libtutti's own calls have names that begin
 * with PMPI, so that no tool sees them. */
#ifndef TUTTI_NEXT_H
#define TUTTI_NEXT_H

#include "trace.h"

#pragma GCC visibility push(hidden)

/* Open MPI 5 has the functions of MPI 4, but not the ones with long counts. */
#if MPI_VERSION >= 4
#define LONG_COUNTS 1
#define MPI_4 1
#elif defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define LONG_COUNTS 0
#define MPI_4 1
#else
#define LONG_COUNTS 0
#define MPI_4 0
#endif

/* The MPI functions that libtutti forwards to the next library after MPI_Init. Each macro applies DO(name) to
 * its functions. The user of these macros defines DO. */
#define BASIC_FORMS(number, name, lower, ...) DO(name) DO(I##lower)
#define PERSISTENT_FORM(number, name, ...) DO(name##_init)
#define LONG_FORMS(number, name, lower, counts, ...) LONG_FORMS_##counts(name, lower)
#define LONG_FORMS_COUNTED(name, lower) DO(name##_c) DO(I##lower##_c) DO(name##_init_c)
#define LONG_FORMS_UNCOUNTED(name, lower)
#define BASIC_FUNCTIONS \
    EACH_COLLECTIVE(BASIC_FORMS) DO(Pcontrol) DO(Start) DO(Startall) DO(Request_free) DO(Wait) DO(Waitall) DO(Waitany) DO(Waitsome) \
    DO(Test) DO(Testall) DO(Testany) DO(Testsome)
#if LONG_COUNTS
#define EACH_FUNCTION BASIC_FUNCTIONS EACH_COLLECTIVE(PERSISTENT_FORM) EACH_COLLECTIVE(LONG_FORMS)
#elif MPI_4
#define EACH_FUNCTION BASIC_FUNCTIONS EACH_COLLECTIVE(PERSISTENT_FORM)
#else
#define EACH_FUNCTION BASIC_FUNCTIONS
#endif

#define DO(name) __typeof__(PMPI_##name) *name;
typedef struct { EACH_FUNCTION } functions;
#undef DO

extern functions next;
extern const functions mpi_library; /* those of the MPI library, for calls on communicators that tools do not know */

typedef void function(void);
function *next_function(const char *name);

/* Returns a file whose functions for collectives are called instead of those of libtutti, or NULL. Writes the
 * names of these collectives to `names`. If `stacked` is 1, libtutti's MPI_Init was called. A file that also
 * defines MPI_Init then hides nothing, because it passes calls on to libtutti. */
const char *hidden_by(int stacked, char *names, size_t size);

#pragma GCC visibility pop

#endif
