#include "repository.h"

#include <stdlib.h>

static char *block(const call *c, const char *p, int rank) { return at(c, p, rank * c->count); }

static int own_block(const call *c) { return copy(c, block(c, c->data, c->rank), block(c, c->send, c->rank), c->count); }

/* Each rank exchanges blocks with all others at once. */
int alltoall_linear(const call *c)
{
    int e = own_block(c);
    return e != MPI_SUCCESS ? e : exchange_all(c, c->send, c->count, 1);
}

/* Like alltoall_linear, but all ranks send first to rank 0, then to rank 1, and so on. Source: Faraj and Yuan (2005), 3.1. */
int alltoall_simple(const call *c)
{
    int e = own_block(c);
    return e != MPI_SUCCESS ? e : exchange_all(c, c->send, c->count, 0);
}

static int in_rounds(const call *c, enum partner by, enum separation s)
{
    int e = own_block(c);
    return e != MPI_SUCCESS ? e : exchange_in_rounds(c, c->send, c->count, by, s);
}

/* Each rank exchanges blocks with one other rank at a time. Source: Thakur, Rabenseifner and Gropp (2005), 3.4. Barriers or
 * messages between the rounds reduce contention. Source: Faraj and Yuan (2005), 3.1. */
int alltoall_pairwise(const call *c) { return in_rounds(c, ALONG_RING, NOT_SEPARATED); }
int alltoall_pairwise_light_barrier(const call *c) { return in_rounds(c, ALONG_RING, BY_MESSAGES); }
int alltoall_pairwise_barrier(const call *c) { return in_rounds(c, ALONG_RING, BY_BARRIERS); }
int alltoall_pair(const call *c) { return in_rounds(c, BY_XOR, NOT_SEPARATED); }
int alltoall_pair_light_barrier(const call *c) { return in_rounds(c, BY_XOR, BY_MESSAGES); }
int alltoall_pair_barrier(const call *c) { return in_rounds(c, BY_XOR, BY_BARRIERS); }

/* Each rank exchanges blocks with several ranks at a time, by default with eight. Source: Thakur, Rabenseifner and
 * Gropp (2005), 3.4, where a rank exchanges with all other ranks at the same time. */
int alltoall_windows(const call *c)
{
    int e = own_block(c), window = at_most(c->parameter > 0 ? c->parameter : 8, c->size), n = 0;
    MPI_Request *in = malloc(2 * (size_t)window * sizeof *in), *out = in + window;
    if (in == NULL)
        return MPI_ERR_NO_MEM;
    for (int k = 1; e == MPI_SUCCESS && k < c->size; k++) {
        int to = after(c, c->rank, k), from = after(c, c->rank, -k);
        e = start_receive(c, block(c, c->data, from), c->count, from, &in[n]);
        if (e == MPI_SUCCESS)
            e = start_send(c, block(c, c->send, to), c->count, to, &out[n]);
        if (++n < window && k < c->size - 1)
            continue;
        if (e == MPI_SUCCESS)
            e = wait_receives(in, n);
        if (e == MPI_SUCCESS)
            e = wait_all(out, n);
        n = 0;
    }
    free(in);
    return e;
}

/* Packs blocks for a step of the Bruck algorithm. A block's index is written as digits in the radix. Blocks are
 * packed if the digit with the given power has the given value. If back is set, the function unpacks these blocks
 * instead. It returns their number. */
static int pick(const call *c, char *packed, char *all, int radix, int power, int digit, int back, int *e)
{
    int n = 0;
    for (int i = 0; *e == MPI_SUCCESS && i < c->size; i++)
        if (i / power % radix == digit) {
            char *in = block(c, packed, n++), *out = block(c, all, i);
            *e = back ? copy(c, out, in, c->count) : copy(c, in, out, c->count);
        }
    return n;
}

/* Forwards each block by one digit of the distance that it travels. This is the digit with the given power of the
 * radix. */
static int by_digits(const call *c, char *all, char *out, char *in, int radix, int power)
{
    int e = MPI_SUCCESS;
    for (int digit = 1; e == MPI_SUCCESS && digit < radix && (long)digit * power < c->size; digit++) {
        int blocks = pick(c, out, all, radix, power, digit, 0, &e), far = digit * power;
        if (e == MPI_SUCCESS)
            e = send_receive(c, out, blocks * c->count, after(c, c->rank, far), in, blocks * c->count, after(c, c->rank, -far));
        pick(c, in, all, radix, power, digit, 1, &e);
    }
    return e;
}

/* Writes the distance that a block travels as digits in a radix, by default 2. For each digit, the block is
 * forwarded once. Source: Bruck et al. (1997). */
int alltoall_bruck(const call *c)
{
    int n = c->count, size = c->size, radix = c->parameter >= 2 ? c->parameter : 2, e;
    char *all = scratch(c, size * n), *out = scratch(c, size * n), *in = scratch(c, size * n);
    e = all == NULL || out == NULL || in == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    for (int i = 0; e == MPI_SUCCESS && i < size; i++)
        e = copy(c, block(c, all, i), block(c, c->send, after(c, c->rank, i)), n);
    for (long power = 1; e == MPI_SUCCESS && power < size; power *= radix)
        e = by_digits(c, all, out, in, radix, (int)power);
    for (int i = 0; e == MPI_SUCCESS && i < size; i++)
        e = copy(c, block(c, c->data, after(c, c->rank, -i)), block(c, all, i), n);
    scratch_free(c, all);
    scratch_free(c, out);
    scratch_free(c, in);
    return e;
}

/* Exchanges blocks along one dimension of a mesh. Before the exchange, block i of data is for the rank whose coordinate in
 * this dimension is that of i; after it, block i is from that rank. */
static int along(const call *c, char *out, char *in, int *ranks, int stride, int length)
{
    int part = c->size / length, e = MPI_SUCCESS;
    for (int i = 0; i < length; i++)
        pick(c, block(c, out, i * part), c->data, length, stride, i, 0, &e);
    call line = line_of(c, stride, length, part * c->count, ranks);
    line.send = out;
    line.data = in;
    if (e == MPI_SUCCESS)
        e = alltoall_linear(&line);
    for (int i = 0; i < length; i++)
        pick(c, block(c, in, i * part), c->data, length, stride, i, 1, &e);
    return e;
}

/* Exchanges blocks along each dimension of a mesh of ranks in turn. Blocks travel together with those of other ranks
 * that take the same way. Source: Bokhari and Berryman, Complete exchange on a circuit switched mesh (1992). */
static int over_mesh(const call *c, int dimensions)
{
    mesh m = mesh_of(c->size, dimensions);
    char *out = scratch(c, c->size * c->count), *in = scratch(c, c->size * c->count);
    int *ranks = malloc((size_t)c->size * sizeof *ranks);
    int e = out == NULL || in == NULL || ranks == NULL ? MPI_ERR_NO_MEM : copy(c, c->data, c->send, c->size * c->count);
    for (int i = 0, stride = 1; e == MPI_SUCCESS && i < dimensions; stride *= m.length[i++])
        e = along(c, out, in, ranks, stride, m.length[i]);
    free(ranks);
    scratch_free(c, out);
    scratch_free(c, in);
    return e;
}

int alltoall_mesh(const call *c) { return over_mesh(c, 2); }
int alltoall_mesh_3d(const call *c) { return over_mesh(c, 3); }

/* Recursive doubling: a mesh with two ranks in each dimension. The number of ranks must be a power of two. */
int alltoall_recursive_doubling(const call *c)
{
    int dimensions = 0;
    while (c->size >> (dimensions + 1) > 0)
        dimensions++;
    return over_mesh(c, dimensions);
}

/* Tells another rank that the links for its next message are free. */
static int signal_to(const call *c, int to) { return noted(PMPI_Send(NULL, 0, MPI_BYTE, to, SIGNAL, c->comm)); }

static int await_signal(const call *c, int from) { return noted(PMPI_Recv(NULL, 0, MPI_BYTE, from, SIGNAL, c->comm, MPI_STATUS_IGNORE)); }

/* Performs one turn of a schedule and moves *p to the next turn. */
static int take_turn(const call *c, const int **p, int words)
{
    const int *t = *p, *waits = t + 4, *signals = waits + t[3] + 1;
    int to = t[1], from = t[2], e = MPI_SUCCESS;
    MPI_Request in = MPI_REQUEST_NULL, out = MPI_REQUEST_NULL;
    *p = signals + signals[-1];
    if (from >= 0)
        e = start_receive(c, block(c, c->data, from), c->count, from, &in);
    for (int i = 0; words && e == MPI_SUCCESS && i < t[3]; i++)
        e = await_signal(c, waits[i]);
    if (e == MPI_SUCCESS && to >= 0)
        e = start_send(c, block(c, c->send, to), c->count, to, &out);
    if (e == MPI_SUCCESS)
        e = wait_receives(&in, 1);
    for (int i = 0; words && e == MPI_SUCCESS && i < signals[-1]; i++)
        e = signal_to(c, signals[i]);
    return e != MPI_SUCCESS ? e : wait_all(&out, 1);
}

/* An alltoall whose phases are free of contention. A message waits until the previous messages on its links have
 * arrived. Source: Faraj and Yuan, Message scheduling for all-to-all personalized communication on Ethernet
 * switched clusters (2005). */
int alltoall_scheduled(const call *c)
{
    const schedule *s = layout_schedule(c->layout, c->rank);
    const int *p = s->steps;
    int e = own_block(c);
    for (int i = 0; e == MPI_SUCCESS && i < s->turns; i++)
        e = take_turn(c, &p, 1);
    return e;
}

/* The scheduled alltoall with a barrier between phases, instead of signals. */
int alltoall_scheduled_barrier(const call *c)
{
    const schedule *s = layout_schedule(c->layout, c->rank);
    const int *p = s->steps;
    int e = own_block(c);
    for (int phase = 0, i = 0; e == MPI_SUCCESS && phase < s->phases; phase++) {
        if (i < s->turns && *p == phase) {
            e = take_turn(c, &p, 0);
            i++;
        }
        if (e == MPI_SUCCESS)
            e = barrier_bruck(c);
    }
    return e;
}
