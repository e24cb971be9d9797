#include "explore.h"
#include "library.h"
#include "next.h"

#include <stdarg.h>

/* A visit is one call of the application, from its entry into libtutti until it returns. */
typedef struct {
    comm *comm;
    uint64_t bytes, from;
    collective what;
    const pick *pick; /* NULL, or without an algorithm: the MPI library's own */
    sample *sample;   /* gets the time of a call that is explored; NULL: it is not timed */
} visit;

static const char *ran; /* points into the table */

const char *tutti_ran(void) { return ran; }

void ran_nothing(void) { ran = NULL; }

/* Chooses an algorithm to explore. This is a separate function, so that without exploration a call only tests a
 * flag. */
__attribute__((noinline)) static void explore(visit *v)
{
    if (v->comm->shape == NULL)
        return;
    v->pick = explore_call(v->comm, v->what, v->bytes, v->pick, &v->sample);
    ran = NULL;
    if (v->sample != NULL)
        v->from = ticks();
}

/* Initializes a visit. It fills the struct in place, because copying recently written memory would stall the
 * processor. */
static inline void enter(visit *v, collective what, comm *c, size_t bytes)
{
    const shape *s = c->shape;
    v->comm = c;
    v->bytes = bytes;
    v->from = tracing ? ticks() : 0;
    v->what = what;
    v->pick = s != NULL && s->rows[what] != NULL ? row_pick(s->rows[what], bytes) : NULL;
    v->sample = NULL;
    if (exploring)
        explore(v);
}

static inline int leave(const visit *v, int error)
{
    int traced = tracing && v->comm->shape != NULL;
    if (!traced && v->sample == NULL)
        return error;
    uint64_t now = ticks();
    if (traced)
        trace_add(v->what, v->comm->shape, v->bytes, now - v->from);
    if (v->sample != NULL)
        explore_record(v->comm, v->sample, v->bytes, now - v->from, ran);
    if (traced && now > trace_next)
        trace_flush(now);
    return error;
}

/* Lets the selected algorithm serve the call. Returns whether it did. */
__attribute__((noinline)) static int serve_visit(const visit *v, arguments *a)
{
    ran = NULL;
    if (is_library(v->pick->algorithm)) {
        if (!arguments_valid(a, v->comm->rank, v->comm->shape->ranks) || !library_serve(a, v->pick->algorithm, v->comm, v->bytes))
            return 0;
        ran = v->pick->text;
        return 1;
    }
    if (v->bytes == 0 && v->what != BARRIER && v->what != ALLTOALLV)
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

static inline int selected(const visit *v) { return v->pick != NULL && v->pick->algorithm != NULL; }

/* The size of a call in bytes. For allgather, alltoall, gather, scatter and their vector forms it is the size of
 * one rank's part; if parts differ, it is their mean size. For the other collectives it is the whole message. */

static inline size_t part(size_t bytes, const comm *c) { return c->shape == NULL ? 0 : bytes / (size_t)c->shape->ranks; }

static inline int ranks(const comm *c) { return c->shape == NULL ? 0 : c->shape->ranks; }

int MPI_Allgather(const void *send, int scount, MPI_Datatype stype, void *recv, int rcount, MPI_Datatype rtype, MPI_Comm on)
{
    if (!active)
        return next.Allgather(send, scount, stype, recv, rcount, rtype, on);
    visit v;
    enter(&v, ALLGATHER, comm_of(on), bytes_of(rcount, rtype));
    if (selected(&v)) {
        arguments a = {.what = ALLGATHER, .send = send, .scount = scount, .stype = stype, .recv = recv, .rcount = rcount, .rtype = rtype};
        if (serve_visit(&v, &a))
            return leave(&v, a.error);
    }
    return leave(&v, next.Allgather(send, scount, stype, recv, rcount, rtype, on));
}

int MPI_Allgatherv(const void *send, int scount, MPI_Datatype stype, void *recv, const int *rcounts, const int *displs,
                   MPI_Datatype rtype, MPI_Comm on)
{
    if (!active)
        return next.Allgatherv(send, scount, stype, recv, rcounts, displs, rtype, on);
    comm *c = comm_of(on);
    visit v;
    enter(&v, ALLGATHERV, c, part(counts_bytes(rcounts, ranks(c), rtype), c));
    if (selected(&v)) {
        arguments a = {.what = ALLGATHERV, .send = send, .scount = scount, .stype = stype, .recv = recv, .counts = rcounts,
                       .displs = displs, .rtype = rtype};
        if (serve_visit(&v, &a))
            return leave(&v, a.error);
    }
    return leave(&v, next.Allgatherv(send, scount, stype, recv, rcounts, displs, rtype, on));
}

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm on)
{
    if (!active)
        return next.Allreduce(send, recv, count, type, op, on);
    visit v;
    enter(&v, ALLREDUCE, comm_of(on), bytes_of(count, type));
    if (selected(&v)) {
        arguments a = {.what = ALLREDUCE, .send = send, .recv = recv, .rcount = count, .rtype = type, .op = op};
        if (serve_visit(&v, &a))
            return leave(&v, a.error);
    }
    return leave(&v, next.Allreduce(send, recv, count, type, op, on));
}

int MPI_Alltoall(const void *send, int scount, MPI_Datatype stype, void *recv, int rcount, MPI_Datatype rtype, MPI_Comm on)
{
    if (!active)
        return next.Alltoall(send, scount, stype, recv, rcount, rtype, on);
    visit v;
    enter(&v, ALLTOALL, comm_of(on), bytes_of(rcount, rtype));
    if (selected(&v)) {
        arguments a = {.what = ALLTOALL, .send = send, .scount = scount, .stype = stype, .recv = recv, .rcount = rcount, .rtype = rtype};
        if (serve_visit(&v, &a))
            return leave(&v, a.error);
    }
    return leave(&v, next.Alltoall(send, scount, stype, recv, rcount, rtype, on));
}

int MPI_Alltoallv(const void *send, const int *scounts, const int *sdispls, MPI_Datatype stype, void *recv, const int *rcounts,
                  const int *rdispls, MPI_Datatype rtype, MPI_Comm on)
{
    if (!active)
        return next.Alltoallv(send, scounts, sdispls, stype, recv, rcounts, rdispls, rtype, on);
    comm *c = comm_of(on);
    size_t bytes = send == MPI_IN_PLACE ? counts_bytes(rcounts, ranks(c), rtype) : counts_bytes(scounts, ranks(c), stype);
    visit v;
    enter(&v, ALLTOALLV, c, part(bytes, c));
    if (selected(&v)) {
        arguments a = {.what = ALLTOALLV, .send = send, .scounts = scounts, .sdispls = sdispls, .stype = stype, .recv = recv,
                       .counts = rcounts, .displs = rdispls, .rtype = rtype};
        if (serve_visit(&v, &a))
            return leave(&v, a.error);
    }
    return leave(&v, next.Alltoallv(send, scounts, sdispls, stype, recv, rcounts, rdispls, rtype, on));
}

int MPI_Barrier(MPI_Comm on)
{
    if (!active)
        return next.Barrier(on);
    visit v;
    enter(&v, BARRIER, comm_of(on), 0);
    if (selected(&v)) {
        arguments a = {.what = BARRIER};
        if (serve_visit(&v, &a))
            return leave(&v, a.error);
    }
    return leave(&v, next.Barrier(on));
}

int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm on)
{
    if (!active)
        return next.Bcast(buf, count, type, root, on);
    visit v;
    enter(&v, BCAST, comm_of(on), bytes_of(count, type));
    if (selected(&v)) {
        arguments a = {.what = BCAST, .recv = buf, .rcount = count, .rtype = type, .root = root};
        if (serve_visit(&v, &a))
            return leave(&v, a.error);
    }
    return leave(&v, next.Bcast(buf, count, type, root, on));
}

int MPI_Exscan(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm on)
{
    if (!active)
        return next.Exscan(send, recv, count, type, op, on);
    visit v;
    enter(&v, EXSCAN, comm_of(on), bytes_of(count, type));
    if (selected(&v)) {
        arguments a = {.what = EXSCAN, .send = send, .recv = recv, .rcount = count, .rtype = type, .op = op};
        if (serve_visit(&v, &a))
            return leave(&v, a.error);
    }
    return leave(&v, next.Exscan(send, recv, count, type, op, on));
}

/* Only the root may pass MPI_IN_PLACE. MPI ignores the receive arguments of the other ranks. */
int MPI_Gather(const void *send, int scount, MPI_Datatype stype, void *recv, int rcount, MPI_Datatype rtype, int root, MPI_Comm on)
{
    if (!active)
        return next.Gather(send, scount, stype, recv, rcount, rtype, root, on);
    visit v;
    enter(&v, GATHER, comm_of(on), send == MPI_IN_PLACE ? bytes_of(rcount, rtype) : bytes_of(scount, stype));
    if (selected(&v)) {
        arguments a = {.what = GATHER, .send = send, .scount = scount, .stype = stype, .recv = recv, .rcount = rcount, .rtype = rtype, .root = root};
        if (serve_visit(&v, &a))
            return leave(&v, a.error);
    }
    return leave(&v, next.Gather(send, scount, stype, recv, rcount, rtype, root, on));
}

int MPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm on)
{
    if (!active)
        return next.Reduce(send, recv, count, type, op, root, on);
    visit v;
    enter(&v, REDUCE, comm_of(on), bytes_of(count, type));
    if (selected(&v)) {
        arguments a = {.what = REDUCE, .send = send, .recv = recv, .rcount = count, .rtype = type, .op = op, .root = root};
        if (serve_visit(&v, &a))
            return leave(&v, a.error);
    }
    return leave(&v, next.Reduce(send, recv, count, type, op, root, on));
}

int MPI_Reduce_scatter(const void *send, void *recv, const int *rcounts, MPI_Datatype type, MPI_Op op, MPI_Comm on)
{
    if (!active)
        return next.Reduce_scatter(send, recv, rcounts, type, op, on);
    comm *c = comm_of(on);
    visit v;
    enter(&v, REDUCE_SCATTER, c, counts_bytes(rcounts, ranks(c), type));
    if (selected(&v)) {
        arguments a = {.what = REDUCE_SCATTER, .send = send, .recv = recv, .counts = rcounts, .rtype = type, .op = op};
        if (serve_visit(&v, &a))
            return leave(&v, a.error);
    }
    return leave(&v, next.Reduce_scatter(send, recv, rcounts, type, op, on));
}

int MPI_Reduce_scatter_block(const void *send, void *recv, int rcount, MPI_Datatype type, MPI_Op op, MPI_Comm on)
{
    if (!active)
        return next.Reduce_scatter_block(send, recv, rcount, type, op, on);
    comm *c = comm_of(on);
    visit v;
    enter(&v, REDUCE_SCATTER_BLOCK, c, (size_t)ranks(c) * bytes_of(rcount, type));
    if (selected(&v)) {
        arguments a = {.what = REDUCE_SCATTER_BLOCK, .send = send, .recv = recv, .rcount = rcount, .rtype = type, .op = op};
        if (serve_visit(&v, &a))
            return leave(&v, a.error);
    }
    return leave(&v, next.Reduce_scatter_block(send, recv, rcount, type, op, on));
}

int MPI_Scan(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm on)
{
    if (!active)
        return next.Scan(send, recv, count, type, op, on);
    visit v;
    enter(&v, SCAN, comm_of(on), bytes_of(count, type));
    if (selected(&v)) {
        arguments a = {.what = SCAN, .send = send, .recv = recv, .rcount = count, .rtype = type, .op = op};
        if (serve_visit(&v, &a))
            return leave(&v, a.error);
    }
    return leave(&v, next.Scan(send, recv, count, type, op, on));
}

int MPI_Scatter(const void *send, int scount, MPI_Datatype stype, void *recv, int rcount, MPI_Datatype rtype, int root, MPI_Comm on)
{
    if (!active)
        return next.Scatter(send, scount, stype, recv, rcount, rtype, root, on);
    visit v;
    enter(&v, SCATTER, comm_of(on), recv == MPI_IN_PLACE ? bytes_of(scount, stype) : bytes_of(rcount, rtype));
    if (selected(&v)) {
        arguments a = {.what = SCATTER, .send = send, .scount = scount, .stype = stype, .recv = recv, .rcount = rcount, .rtype = rtype, .root = root};
        if (serve_visit(&v, &a))
            return leave(&v, a.error);
    }
    return leave(&v, next.Scatter(send, scount, stype, recv, rcount, rtype, root, on));
}

enum { FIRST_SITE = 3 }; /* the least level of MPI_Pcontrol that names a site; MPI defines those below */

/* Passes on three arguments, because tools take a text or none. Reading an absent argument gives any value. */
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
