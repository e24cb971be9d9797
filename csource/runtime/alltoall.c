#include "repository.h"

#include <stdlib.h>

static char *block(const call *c, const char *p, int rank) { return at(c, p, rank * c->count); }

static void own_block(const call *c) { copy(c, block(c, c->data, c->rank), block(c, c->send, c->rank), c->count); }

/* Each rank exchanges blocks with all others at once. */
void alltoall_linear(const call *c)
{
    own_block(c);
    exchange_all(c, c->send, c->count, 1);
}

/* All ranks send their blocks first to rank 0, then to rank 1, and so on. Source: Faraj and Yuan (2005), 3.1. */
void alltoall_simple(const call *c)
{
    own_block(c);
    exchange_all(c, c->send, c->count, 0);
}

static void in_rounds(const call *c, enum partner by, enum separation s)
{
    own_block(c);
    exchange_in_rounds(c, c->send, c->count, by, s);
}

/* Each rank exchanges blocks with one other rank at a time. Source: Thakur, Rabenseifner and Gropp (2005), 3.4. Barriers or
 * messages between the rounds reduce contention. Source: Faraj and Yuan (2005), 3.1. */
void alltoall_pairwise(const call *c) { in_rounds(c, ALONG_RING, NOT_SEPARATED); }
void alltoall_pairwise_light_barrier(const call *c) { in_rounds(c, ALONG_RING, BY_MESSAGES); }
void alltoall_pairwise_barrier(const call *c) { in_rounds(c, ALONG_RING, BY_BARRIERS); }
void alltoall_pair(const call *c) { in_rounds(c, BY_XOR, NOT_SEPARATED); }
void alltoall_pair_light_barrier(const call *c) { in_rounds(c, BY_XOR, BY_MESSAGES); }
void alltoall_pair_barrier(const call *c) { in_rounds(c, BY_XOR, BY_BARRIERS); }

/* Each rank exchanges blocks with several ranks at a time, by default with eight. Source: Thakur, Rabenseifner and
 * Gropp (2005), 3.4, where a rank exchanges with all other ranks at the same time. */
void alltoall_windows(const call *c)
{
    int window = at_most(c->parameter > 0 ? c->parameter : 8, c->size), n = 0;
    own_block(c);
    MPI_Request *in = requests_of(2 * window), *out = in + window;
    for (int k = 1; k < c->size; k++) {
        int to = after(c, c->rank, k), from = after(c, c->rank, -k);
        start_receive(c, block(c, c->data, from), c->count, from, &in[n]);
        start_send(c, block(c, c->send, to), c->count, to, &out[n]);
        if (++n < window && k < c->size - 1)
            continue;
        wait_receives(c, in, n, c->count);
        wait_all(out, n);
        n = 0;
    }
    free(in);
}

/* Packs the blocks for one step of the Bruck algorithm, or unpacks them if `back` is 1. These are the blocks
 * whose index, written in the given radix, has the digit `digit` at the place value `power`. Returns the number
 * of these blocks. */
static int pick(const call *c, char *packed, char *all, int radix, int power, int digit, int back)
{
    int n = 0;
    for (int i = 0; i < c->size; i++)
        if (i / power % radix == digit) {
            char *in = block(c, packed, n++), *out = block(c, all, i);
            copy(c, back ? out : in, back ? in : out, c->count);
        }
    return n;
}

/* Performs the steps of the Bruck algorithm for one digit of the distance that a block travels. The distance is written
 * in the given radix. Each block moves as far as its digit with the place value `power` says. */
static void by_digits(const call *c, char *all, char *out, char *in, int radix, int power)
{
    for (int digit = 1; digit < radix && (long)digit * power < c->size; digit++) {
        int blocks = pick(c, out, all, radix, power, digit, 0), far = digit * power;
        send_receive(c, out, blocks * c->count, after(c, c->rank, far), in, blocks * c->count, after(c, c->rank, -far));
        pick(c, in, all, radix, power, digit, 1);
    }
}

/* The Bruck algorithm: the distance that a block travels is written as digits in a radix, by default 2. For each
 * digit, the block is forwarded once. Source: Bruck et al. (1997). */
void alltoall_bruck(const call *c)
{
    int n = c->count, size = c->size, radix = c->parameter >= 2 ? c->parameter : 2;
    char *all = scratch(c, size * n), *out = scratch(c, size * n), *in = scratch(c, size * n);
    for (int i = 0; i < size; i++)
        copy(c, block(c, all, i), block(c, c->send, after(c, c->rank, i)), n);
    for (long power = 1; power < size; power *= radix)
        by_digits(c, all, out, in, radix, (int)power);
    for (int i = 0; i < size; i++)
        copy(c, block(c, c->data, after(c, c->rank, -i)), block(c, all, i), n);
    scratch_free(c, all);
    scratch_free(c, out);
    scratch_free(c, in);
}

/* Exchanges blocks along one dimension of a mesh, among the ranks that differ from this rank only in this
 * dimension. Block i of c->data goes to the rank that has the same coordinate in this dimension as rank i.
 * Afterwards block i is the one that came from that rank. */
static void along(const call *c, char *out, char *in, int *ranks, int stride, int length)
{
    int part = c->size / length;
    for (int i = 0; i < length; i++)
        pick(c, block(c, out, i * part), c->data, length, stride, i, 0);
    call line = line_of(c, stride, length, part * c->count, ranks);
    line.send = out;
    line.data = in;
    alltoall_linear(&line);
    for (int i = 0; i < length; i++)
        pick(c, block(c, in, i * part), c->data, length, stride, i, 1);
}

/* Exchanges blocks along the dimensions of a mesh of ranks, one after another. Blocks that take the same way
 * travel in one message. Source: Bokhari and Berryman, Complete exchange on a circuit switched mesh (1992). */
static void over_mesh(const call *c, int dimensions)
{
    mesh m = mesh_of(c->size, dimensions);
    char *out = scratch(c, c->size * c->count), *in = scratch(c, c->size * c->count);
    int *ranks = memory((size_t)c->size * sizeof *ranks);
    copy(c, c->data, c->send, c->size * c->count);
    for (int i = 0, stride = 1; i < dimensions; stride *= m.length[i++])
        along(c, out, in, ranks, stride, m.length[i]);
    free(ranks);
    scratch_free(c, out);
    scratch_free(c, in);
}

void alltoall_mesh(const call *c) { over_mesh(c, 2); }
void alltoall_mesh_3d(const call *c) { over_mesh(c, 3); }

/* Recursive doubling: a mesh with two ranks in each dimension. The number of ranks must be a power of two. */
void alltoall_recursive_doubling(const call *c)
{
    int dimensions = 0;
    while (c->size >> (dimensions + 1) > 0)
        dimensions++;
    over_mesh(c, dimensions);
}

/* Tells another rank that the links for its next message are free. */
static void signal_to(const call *c, int to) { note(PMPI_Send(NULL, 0, MPI_BYTE, to, SIGNAL, c->comm)); }

static void await_signal(const call *c, int from) { note(PMPI_Recv(NULL, 0, MPI_BYTE, from, SIGNAL, c->comm, MPI_STATUS_IGNORE)); }

/* Performs one turn (a rank's part in one phase), and moves *p to the next turn. Signals are used if `words` is 1. */
static void take_turn(const call *c, const int **p, int words)
{
    const int *t = *p, *waits = t + 4, *signals = waits + t[3] + 1;
    int to = t[1], from = t[2];
    MPI_Request in = MPI_REQUEST_NULL, out = MPI_REQUEST_NULL;
    *p = signals + signals[-1];
    if (from >= 0)
        start_receive(c, block(c, c->data, from), c->count, from, &in);
    for (int i = 0; words && i < t[3]; i++)
        await_signal(c, waits[i]);
    if (to >= 0)
        start_send(c, block(c, c->send, to), c->count, to, &out);
    wait_receives(c, &in, 1, c->count);
    for (int i = 0; words && i < signals[-1]; i++)
        signal_to(c, signals[i]);
    wait_all(&out, 1);
}

/* An alltoall whose phases are free of contention. A message waits until the previous messages on its links have
 * arrived. Source: Faraj and Yuan, Message scheduling for all-to-all personalized communication on Ethernet
 * switched clusters (2005). */
void alltoall_scheduled(const call *c)
{
    const schedule *s = layout_schedule(c->layout, c->rank);
    const int *p = s->steps;
    own_block(c);
    for (int i = 0; i < s->turns; i++)
        take_turn(c, &p, 1);
}

/* The scheduled alltoall with a barrier between phases, instead of signals. */
void alltoall_scheduled_barrier(const call *c)
{
    const schedule *s = layout_schedule(c->layout, c->rank);
    const int *p = s->steps;
    own_block(c);
    for (int phase = 0, i = 0; phase < s->phases; phase++) {
        if (i < s->turns && *p == phase) {
            take_turn(c, &p, 0);
            i++;
        }
        barrier_bruck(c);
    }
}
