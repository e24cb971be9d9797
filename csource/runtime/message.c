#include "repository.h"

#include <stdlib.h>
#include <string.h>

static PER_THREAD int carrying; /* whether messages of the current call carry the flag */
static PER_THREAD int flag;     /* whether this rank has the flag */

static PER_THREAD int first_error;

void note(int error)
{
    if (first_error == MPI_SUCCESS)
        first_error = error;
}

int noted_error(void)
{
    int error = first_error;
    first_error = MPI_SUCCESS;
    return error;
}

void flag_carry(int raised)
{
    carrying = 1;
    flag = raised;
}

int flag_received(void)
{
    carrying = 0;
    return flag;
}

static int out_tag(void) { return carrying && flag ? FLAGGED : TAG; }

static int in_tag(void) { return carrying ? MPI_ANY_TAG : TAG; }

/* Ends a receive of n elements and notes errors. It is an error if fewer arrived, since their sender had an error. */
static void received(const call *c, int e, const MPI_Status *s, int n)
{
    int got = n;
    if (e == MPI_SUCCESS)
        PMPI_Get_count(s, c->type, &got);
    flag |= e == MPI_SUCCESS && carrying && s->MPI_TAG == FLAGGED;
    note(got == n ? e : MPI_ERR_OTHER);
}

void send_to(const call *c, const char *from, int n, int to)
{
    note(PMPI_Send(from, n, c->type, rank_of(c, to), out_tag(), c->comm));
}

void receive_from(const call *c, char *into, int n, int from)
{
    MPI_Status s;
    received(c, PMPI_Recv(into, n, c->type, rank_of(c, from), in_tag(), c->comm, &s), &s, n);
}

void start_send(const call *c, const char *from, int n, int to, MPI_Request *r)
{
    note(PMPI_Isend(from, n, c->type, rank_of(c, to), out_tag(), c->comm, r));
}

void start_receive(const call *c, char *into, int n, int from, MPI_Request *r)
{
    note(PMPI_Irecv(into, n, c->type, rank_of(c, from), in_tag(), c->comm, r));
}

void send_receive(const call *c, const char *out, int n, int to, char *in, int m, int from)
{
    MPI_Status s;
    received(c, PMPI_Sendrecv(out, n, c->type, rank_of(c, to), out_tag(), in, m, c->type, rank_of(c, from), in_tag(), c->comm, &s), &s, m);
}

void wait_all(MPI_Request *r, int n)
{
    for (int i = 0; i < n; i++)
        note(PMPI_Wait(&r[i], MPI_STATUS_IGNORE));
}

void wait_receives(const call *c, MPI_Request *r, int n, int count)
{
    for (int i = 0; i < n; i++)
        if (r[i] != MPI_REQUEST_NULL) {
            MPI_Status s;
            received(c, PMPI_Wait(&r[i], &s), &s, count);
        }
}

void copy(const call *c, char *to, const char *from, int n)
{
    if (n == 0 || to == from)
        return;
    if (c->plain)
        memcpy(to, from, (size_t)n * (size_t)c->extent);
    else
        send_receive(c, from, n, c->rank, to, n, c->rank);
}

MPI_Request *requests_of(int n) { return memory((size_t)n * sizeof(MPI_Request)); }

/* Returns memory for n elements. The first byte of an element may lie before or after the element's address. The
 * extent of the type is not negative, because calls with other types are left to the MPI library. */
char *scratch(const call *c, int n)
{
    char *base = memory((size_t)(c->span + c->extent * n) + 1);
    return (char *)((MPI_Aint)base - c->lower); /* not by `moved`, which the compiler takes for a read */
}

void scratch_free(const call *c, char *p) { free(moved(p, c->lower)); }

void combine(const call *c, char *own, char *other, int n, int other_first)
{
    if (n == 0)
        return;
    if (other_first || c->commutative) {
        note(PMPI_Reduce_local(other, own, n, c->type, c->op));
        return;
    }
    note(PMPI_Reduce_local(own, other, n, c->type, c->op));
    copy(c, own, other, n);
}

/* Returns a copy of the call in which ranks are numbered by their positions in the topology. */
call by_position(const call *c)
{
    call there = *c;
    there.map = c->layout->order;
    there.rank = c->layout->position[c->rank];
    there.root = c->layout->position[c->root];
    return there;
}
