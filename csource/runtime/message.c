#include "repository.h"

#include <stdlib.h>
#include <string.h>

static int carrying; /* whether messages of the current call carry the flag */
static int flag;     /* whether this rank has the flag */

static int first_error;

int noted(int error)
{
    if (first_error == MPI_SUCCESS)
        first_error = error;
    return MPI_SUCCESS;
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

static int received(int e, const MPI_Status *s)
{
    flag |= e == MPI_SUCCESS && carrying && s->MPI_TAG == FLAGGED;
    return noted(e);
}

int send_to(const call *c, const char *from, int n, int to)
{
    return noted(PMPI_Send(from, n, c->type, rank_of(c, to), out_tag(), c->comm));
}

int receive_from(const call *c, char *into, int n, int from)
{
    MPI_Status s;
    return received(PMPI_Recv(into, n, c->type, rank_of(c, from), in_tag(), c->comm, &s), &s);
}

int start_send(const call *c, const char *from, int n, int to, MPI_Request *r)
{
    return noted(PMPI_Isend(from, n, c->type, rank_of(c, to), out_tag(), c->comm, r));
}

int start_receive(const call *c, char *into, int n, int from, MPI_Request *r)
{
    return noted(PMPI_Irecv(into, n, c->type, rank_of(c, from), in_tag(), c->comm, r));
}

int send_receive(const call *c, const char *out, int n, int to, char *in, int m, int from)
{
    MPI_Status s;
    return received(PMPI_Sendrecv(out, n, c->type, rank_of(c, to), out_tag(), in, m, c->type, rank_of(c, from), in_tag(), c->comm, &s), &s);
}

int wait_all(MPI_Request *r, int n)
{
    for (int i = 0; i < n; i++)
        noted(PMPI_Wait(&r[i], MPI_STATUS_IGNORE));
    return MPI_SUCCESS;
}

int wait_receives(MPI_Request *r, int n)
{
    for (int i = 0; i < n; i++)
        if (r[i] != MPI_REQUEST_NULL) {
            MPI_Status s;
            received(PMPI_Wait(&r[i], &s), &s);
        }
    return MPI_SUCCESS;
}

int copy(const call *c, char *to, const char *from, int n)
{
    if (n == 0 || to == from)
        return MPI_SUCCESS;
    if (!c->plain)
        return send_receive(c, from, n, c->rank, to, n, c->rank);
    memcpy(to, from, (size_t)n * (size_t)c->extent);
    return MPI_SUCCESS;
}

/* Returns memory for n elements. An element's first byte may lie before or after the element's address. The extent
 * is not negative, because the MPI library serves calls with other types. */
char *scratch(const call *c, int n)
{
    char *base = malloc((size_t)(c->span + c->extent * n) + 1);
    return base == NULL ? NULL : (char *)((MPI_Aint)base - c->lower); /* the compiler takes moved for a read */
}

void scratch_free(const call *c, char *p)
{
    if (p != NULL)
        free(moved(p, c->lower));
}

int combine(const call *c, char *own, char *other, int n, int other_first)
{
    if (n == 0)
        return MPI_SUCCESS;
    if (other_first || c->commutative)
        return PMPI_Reduce_local(other, own, n, c->type, c->op);
    int e = PMPI_Reduce_local(own, other, n, c->type, c->op);
    return e != MPI_SUCCESS ? e : copy(c, own, other, n);
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
