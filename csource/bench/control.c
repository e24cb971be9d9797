#include "native.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_BCAST = 1, TAG_MAX, TAG_BARRIER, TAG_FAULT };

#define PATIENCE 200e-6 /* seconds of polling, after which a waiting rank yields the processor */

/* Waits until a request completes, and meanwhile yields the processor to other ranks. MPICH's blocking calls do not
 * yield: with more ranks than cores, each waiting rank would use up its time slice. */
static void complete(MPI_Request *r)
{
    int done = 0;
    double from = seconds();
    for (MPI_Test(r, &done, MPI_STATUS_IGNORE); !done; MPI_Test(r, &done, MPI_STATUS_IGNORE))
        if (seconds() - from > PATIENCE)
            sched_yield();
}

void control_give(const control *c, const void *buf, int bytes, int to, int tag)
{
    MPI_Request r;
    MPI_Isend(buf, bytes, MPI_BYTE, to, tag, c->comm, &r);
    complete(&r);
}

void control_take(const control *c, void *buf, int bytes, int from, int tag)
{
    MPI_Request r;
    MPI_Irecv(buf, bytes, MPI_BYTE, from, tag, c->comm, &r);
    complete(&r);
}

void control_bcast(const control *c, void *buf, int bytes)
{
    int bit = 1;
    for (; bit < c->size; bit <<= 1)
        if (c->rank & bit) {
            control_take(c, buf, bytes, c->rank - bit, TAG_BCAST);
            break;
        }
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (c->rank + bit < c->size)
            control_give(c, buf, bytes, c->rank + bit, TAG_BCAST);
}

void control_max(const control *c, double *values, int n)
{
    int bytes = n * (int)sizeof *values;
    double *other = malloc((size_t)bytes);
    if (other == NULL) {
        fprintf(stderr, "tutti-native: no memory\n");
        MPI_Abort(c->comm, 1);
    }
    for (int bit = 1; bit < c->size; bit <<= 1) {
        if (c->rank & bit) {
            control_give(c, values, bytes, c->rank - bit, TAG_MAX);
            break;
        }
        if (c->rank + bit >= c->size)
            continue;
        control_take(c, other, bytes, c->rank + bit, TAG_MAX);
        for (int i = 0; i < n; i++)
            if (other[i] > values[i])
                values[i] = other[i];
    }
    free(other);
}

void control_barrier(const control *c)
{
    char out = 0, in;
    for (int step = 1; step < c->size; step <<= 1) {
        MPI_Request r;
        MPI_Isend(&out, 1, MPI_BYTE, (c->rank + step) % c->size, TAG_BARRIER, c->comm, &r);
        control_take(c, &in, 1, (c->rank - step + c->size) % c->size, TAG_BARRIER);
        complete(&r);
    }
}

int control_agree(const control *c, fault *f)
{
    fault other;
    for (int bit = 1; bit < c->size; bit <<= 1) {
        if (c->rank & bit) {
            control_give(c, f, (int)sizeof *f, c->rank - bit, TAG_FAULT);
            break;
        }
        if (c->rank + bit >= c->size)
            continue;
        control_take(c, &other, (int)sizeof other, c->rank + bit, TAG_FAULT);
        if (f->rank < 0 && other.rank >= 0)
            *f = other; /* ranks of a subtree are higher than all ranks before the subtree */
    }
    control_bcast(c, f, (int)sizeof *f);
    return f->rank >= 0;
}

void fault_none(fault *f)
{
    memset(f, 0, sizeof *f);
    f->rank = -1;
}

void fault_set(fault *f, int rank, const char *format, ...)
{
    va_list args;
    f->rank = rank;
    va_start(args, format);
    vsnprintf(f->why, sizeof f->why, format, args);
    va_end(args);
}

void fault_mpi(fault *f, int rank, const char *what, int error)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    MPI_Error_string(error, text, &length);
    fault_set(f, rank, "%s: %s", what, text);
}
