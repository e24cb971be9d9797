#include "bytes.h"
#include "calls.h"
#include "clock.h"
#include "comm.h"
#include "explore.h"
#include "library.h"
#include "next.h"
#include "requests.h"
#include "trace.h"

#include <stdarg.h>

/* A visit is one call of the application, from its entry into libtutti until it returns. */
typedef struct {
    comm *comm;
    uint64_t bytes, from;
    collective what;
    const pick *pick; /* NULL, or without an algorithm: the MPI library's own */
    sample *sample;   /* gets the time of a call that is explored; NULL: it is not timed */
    const library_algorithm *library; /* the algorithm of the MPI library that serves the call; NULL: none was selected */
    MPI_Comm on;                      /* the communicator on which that algorithm serves the call */
} visit;

static PER_THREAD const char *ran; /* points into the table */

const char *tutti_ran(void) { return ran; }

void ran_nothing(void) { ran = NULL; }

/* Chooses an algorithm to explore. This is a separate function so that a call without exploration only tests a flag. */
__attribute__((noinline)) static void explore(visit *v)
{
    if (v->comm->shape == NULL)
        return;
    v->pick = explore_call(v->comm, v->what, v->bytes, v->pick, &v->sample);
    ran = NULL;
    if (v->sample != NULL)
        v->from = ticks();
}

/* Initializes the record of one call (visit). It fills the struct in place, because copying recently written memory
 * would stall the processor. */
static inline void enter(visit *v, collective what, comm *c, size_t bytes)
{
    const shape *s = c->shape;
    v->comm = c;
    v->bytes = bytes;
    v->from = c->traced ? ticks() : 0;
    v->what = what;
    v->pick = s != NULL && s->rows[what] != NULL ? row_pick(s->rows[what], bytes) : NULL;
    v->sample = NULL;
    v->library = NULL;
    if (exploring)
        explore(v);
}

static inline int leave(const visit *v, int error)
{
    int traced = v->comm->traced;
    if (!traced && v->sample == NULL)
        return error;
    uint64_t now = ticks();
    if (traced)
        trace_add(v->what, BLOCKING, v->comm->shape, v->bytes, now - v->from);
    if (v->sample != NULL)
        explore_record(v->comm, v->sample, v->bytes, now - v->from, ran);
    if (traced && now > __atomic_load_n(&trace_next, __ATOMIC_RELAXED))
        trace_flush(now);
    return error;
}

/* Lets the selected algorithm serve the call. Returns whether it did. If the selected algorithm belongs to the MPI
 * library, sets v->library and v->on, and returns 0. */
__attribute__((noinline)) static int serve_visit(visit *v, arguments *a)
{
    ran = NULL;
    if (is_library(v->pick->algorithm)) {
        if (!many_threads && arguments_valid(a, v->comm->rank, v->comm->shape->ranks))
            v->library = library_enter(a, v->pick->algorithm, v->comm, v->bytes, &v->on);
        if (v->library != NULL)
            ran = v->pick->text;
        return 0;
    }
    if (v->bytes == 0 && v->what != BARRIER && !collective_has(v->what, SIZES_DIFFER))
        return 0;
    place on = {comm_private(v->comm), v->comm->rank, v->comm->shape->ranks, NULL, v->comm->shape->rows};
    if (on.comm != MPI_COMM_NULL && (v->pick->algorithm->needs & LAYOUT))
        on.layout = comm_layout(v->comm);
    if (on.comm == MPI_COMM_NULL || !arguments_valid(a, on.rank, on.size) || !serve(a, v->pick, &on, v->bytes))
        return 0;
    ran = v->pick->text;
    if (a->error != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(v->comm->handle, a->error);
    return 1;
}

/* Ends a call that an algorithm of the MPI library has served. */
__attribute__((noinline)) static int leave_library(const visit *v, int error)
{
    library_leave(v->library, v->comm, error);
    return leave(v, error);
}

static inline int selected(const visit *v) { return v->pick != NULL && v->pick->algorithm != NULL; }

static inline size_t part(size_t bytes, const comm *c) { return c->shape == NULL ? 0 : bytes / (size_t)c->shape->ranks; }

static inline int ranks(const comm *c) { return c->shape == NULL ? 0 : c->shape->ranks; }

#define SUM(counts, type) counts_bytes(counts, WIDE, ranks(c), type)

#define BLOCKING_CALL(number, name, bytes, arguments_) \
    int MPI_##name(LIST(PARAMETER, arguments_)) \
    { \
        if (!active) \
            return next.name arguments_; \
        comm *c = comm_of(on); \
        visit v; \
        enter(&v, number, c, bytes); \
        if (selected(&v)) { \
            arguments a = {.what = number, .wide = WIDE, LIST(FIELD, arguments_)}; \
            if (serve_visit(&v, &a)) \
                return leave(&v, a.error); \
            on = v.library != NULL ? v.on : on; \
            if (v.library != NULL) \
                return leave_library(&v, (v.library->fresh ? &mpi_library : &next)->name arguments_); \
        } \
        return leave(&v, next.name arguments_); \
    }

/* Nonblocking and persistent calls are only traced, because libtutti's algorithms block. In MPI_Start a blocking
 * algorithm could deadlock. */

#define NONBLOCKING_CALL(number, name, bytes, arguments_) \
    int MPI_##name(LIST(PARAMETER, arguments_), MPI_Request *request) \
    { \
        if (!tracing) \
            return next.name(OPEN arguments_, request); \
        uint64_t from = ticks(); \
        const comm *c = comm_of(on); \
        size_t n = bytes; \
        int e = next.name(OPEN arguments_, request); \
        request_new(e, request, (traced_call){number, NONBLOCKING, c->traced ? c->shape : NULL, n, from}); \
        return e; \
    }

#define PERSISTENT_CALL(number, name, bytes, arguments_) \
    int MPI_##name(LIST(PARAMETER, arguments_), MPI_Info info, MPI_Request *request) \
    { \
        int e = next.name(OPEN arguments_, info, request); \
        if (!tracing) \
            return e; \
        const comm *c = comm_of(on); \
        request_new(e, request, (traced_call){number, PERSISTENT, c->traced ? c->shape : NULL, bytes, 0}); \
        return e; \
    }

#if !MPI_4
#undef PERSISTENT_CALL
#define PERSISTENT_CALL(number, name, bytes, arguments_)
#endif

#define CALL(number, name, lower, counts, properties, bytes, arguments_) \
    BLOCKING_CALL(number, name, bytes, arguments_) \
    NONBLOCKING_CALL(number, I##lower, bytes, arguments_) \
    PERSISTENT_CALL(number, name##_init, bytes, arguments_)
#define COUNT int
#define PLACE int
#define WIDE 0 /* whether counts are long: the names of such functions end in _c */
EACH_COLLECTIVE(CALL)

#if LONG_COUNTS
#undef COUNT
#undef PLACE
#undef WIDE
#define LONG_CALL(number, name, lower, counts, properties, bytes, arguments_) LONG_CALL_##counts(number, name, lower, bytes, arguments_)
#define LONG_CALL_UNCOUNTED(number, name, lower, bytes, arguments_)
#define LONG_CALL_COUNTED(number, name, lower, bytes, arguments_) \
    BLOCKING_CALL(number, name##_c, bytes, arguments_) \
    NONBLOCKING_CALL(number, I##lower##_c, bytes, arguments_) \
    PERSISTENT_CALL(number, name##_init_c, bytes, arguments_)
#define COUNT MPI_Count
#define PLACE MPI_Aint
#define WIDE 1
EACH_COLLECTIVE(LONG_CALL)
#endif

enum { FIRST_SITE = 3 }; /* the least level of MPI_Pcontrol that names a site; MPI defines those below */

/* Forwards the call with three variable arguments, which is the largest number that known tools read. The number
 * that the caller passed is not known. On the supported platforms, reading an absent argument gives an arbitrary
 * value and has no other effect. */
int MPI_Pcontrol(const int level, ...)
{
    void *more[3];
    va_list list;
    va_start(list, level);
    for (int i = 0; i < 3; i++)
        more[i] = va_arg(list, void *);
    va_end(list);
    if (level == 1 || level >= FIRST_SITE)
        tutti_site(level == 1 ? 0 : level);
    return next.Pcontrol(level, more[0], more[1], more[2]);
}
