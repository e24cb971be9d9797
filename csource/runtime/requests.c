#include "clock.h"
#include "comm.h"
#include "next.h"
#include "requests.h"
#include "trace.h"

#include <stdlib.h>

enum { SLOTS = 256, MOST = 1 << 16 }; /* MOST: requests that are remembered at a time */

typedef struct request {
    MPI_Request handle; /* may be that of several requests: a library may have one for all that are complete at once */
    traced_call call;
    int started;  /* whether a persistent request is started */
    int position; /* in the list with which the application waits; -1: it does not wait */
    struct request *next, *also; /* also: the next one in that list */
} request;

static char guard; /* lock of the table */
static request *slots[SLOTS];
static int known; /* requests; atomic */

static request **slot_of(MPI_Request handle)
{
    uint64_t bits = 0;
    memcpy(&bits, &handle, sizeof handle < sizeof bits ? sizeof handle : sizeof bits);
    return &slots[bits * 0x9e3779b97f4a7c15u >> 56];
}

/* Returns whether no request is traced. The functions of this file then only forward calls to the MPI
 * library. */
static int none_known(void) { return __atomic_load_n(&known, __ATOMIC_RELAXED) == 0; }

static void record(const traced_call *t, uint64_t now) { trace_add(t->what, t->how, t->shape, t->bytes, now - t->from); }

void request_new(int error, const MPI_Request *made, traced_call call)
{
    if (error != MPI_SUCCESS || call.shape == NULL || __atomic_load_n(&known, __ATOMIC_RELAXED) == MOST)
        return;
    request *r = allocate(1, sizeof *r), **at = slot_of(*made);
    *r = (request){.handle = *made, .call = call, .position = -1};
    lock(&guard);
    r->next = *at;
    *at = r;
    unlock(&guard);
    __atomic_fetch_add(&known, 1, __ATOMIC_RELAXED);
}

/* Returns the traced request with the given handle, or NULL. It leaves out the requests that the function
 * `watch` has listed, because the application already waits for them. If the request is persistent, its field
 * `started` must have the given value. */
static request *find(MPI_Request handle, int started)
{
    request *r = *slot_of(handle);
    while (r != NULL && (r->handle != handle || r->position >= 0 || (r->call.how == PERSISTENT && r->started != started)))
        r = r->next;
    return r;
}

static void forget(request *r)
{
    request **at = slot_of(r->handle);
    lock(&guard);
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    unlock(&guard);
    __atomic_fetch_sub(&known, 1, __ATOMIC_RELAXED);
    free(r);
}

/* Returns a list of those of the given requests that are traced. The function `release` ends the list. */
static request *watch(int n, const MPI_Request *handles)
{
    request *all = NULL;
    if (none_known())
        return NULL;
    lock(&guard);
    for (int i = 0; i < n; i++) {
        request *r = find(handles[i], 1);
        if (r == NULL)
            continue;
        r->position = i;
        r->also = all;
        all = r;
    }
    unlock(&guard);
    return all;
}

static int contains(int n, const int *list, int what)
{
    int i = 0;
    while (i < n && list[i] != what)
        i++;
    return i < n;
}

/* Ends the tracing of requests that are complete: those whose positions are in the list `complete`. If the list is NULL
 * and n is not 0, all of them are complete. */
static void release(request *all, int n, const int *complete)
{
    uint64_t now = all == NULL ? 0 : ticks();
    while (all != NULL) {
        request *r = all;
        int done = complete == NULL ? n != 0 : contains(n, complete, r->position);
        all = r->also;
        if (done)
            record(&r->call, now);
        lock(&guard);
        r->position = -1;
        r->started &= !done;
        unlock(&guard);
        if (done && r->call.how == NONBLOCKING)
            forget(r);
    }
}

static void begin_again(MPI_Request handle)
{
    lock(&guard);
    request *r = find(handle, 0);
    if (r != NULL && r->call.how == PERSISTENT) {
        r->started = 1;
        r->call.from = ticks();
    }
    unlock(&guard);
}

int MPI_Start(MPI_Request *r)
{
    if (!none_known())
        begin_again(*r);
    return next.Start(r);
}

int MPI_Startall(int n, MPI_Request r[])
{
    for (int i = 0; i < n && !none_known(); i++)
        begin_again(r[i]);
    return next.Startall(n, r);
}

int MPI_Request_free(MPI_Request *r)
{
    lock(&guard);
    request *gone = none_known() ? NULL : find(*r, 0);
    unlock(&guard);
    if (gone != NULL && gone->call.how == PERSISTENT)
        forget(gone);
    return next.Request_free(r);
}

int MPI_Wait(MPI_Request *r, MPI_Status *s)
{
    request *w = watch(1, r);
    int e = next.Wait(r, s);
    release(w, e == MPI_SUCCESS, NULL);
    return e;
}

int MPI_Waitall(int n, MPI_Request r[], MPI_Status s[])
{
    request *w = watch(n, r);
    int e = next.Waitall(n, r, s);
    release(w, e == MPI_SUCCESS, NULL);
    return e;
}

int MPI_Waitany(int n, MPI_Request r[], int *one, MPI_Status *s)
{
    request *w = watch(n, r);
    int e = next.Waitany(n, r, one, s);
    release(w, e == MPI_SUCCESS, one);
    return e;
}

int MPI_Waitsome(int n, MPI_Request r[], int *some, int which[], MPI_Status s[])
{
    request *w = watch(n, r);
    int e = next.Waitsome(n, r, some, which, s);
    release(w, e == MPI_SUCCESS ? *some : 0, which);
    return e;
}

int MPI_Test(MPI_Request *r, int *done, MPI_Status *s)
{
    request *w = watch(1, r);
    int e = next.Test(r, done, s);
    release(w, e == MPI_SUCCESS && *done, NULL);
    return e;
}

int MPI_Testall(int n, MPI_Request r[], int *done, MPI_Status s[])
{
    request *w = watch(n, r);
    int e = next.Testall(n, r, done, s);
    release(w, e == MPI_SUCCESS && *done, NULL);
    return e;
}

int MPI_Testany(int n, MPI_Request r[], int *one, int *done, MPI_Status *s)
{
    request *w = watch(n, r);
    int e = next.Testany(n, r, one, done, s);
    release(w, e == MPI_SUCCESS && *done, one);
    return e;
}

int MPI_Testsome(int n, MPI_Request r[], int *some, int which[], MPI_Status s[])
{
    request *w = watch(n, r);
    int e = next.Testsome(n, r, some, which, s);
    release(w, e == MPI_SUCCESS ? *some : 0, which);
    return e;
}
