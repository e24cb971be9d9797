#include "repository.h"

#include <stdlib.h>

static char *block(const call *c, const char *p, int rank) { return at(c, p, rank * c->count); }

static int own_block(const call *c) { return copy(c, block(c, c->data, c->rank), block(c, c->send, c->rank), c->count); }

/* Each rank exchanges blocks with all others at once. */
int alltoall_linear(const call *c)
{
    int e = own_block(c);
    return e != MPI_SUCCESS ? e : exchange_all(c, c->send, c->count);
}

/* Each rank exchanges blocks with one other rank at a time. Source: Thakur, Rabenseifner and Gropp (2005), 3.4. */
int alltoall_pairwise(const call *c)
{
    int e = own_block(c);
    for (int k = 1; e == MPI_SUCCESS && k < c->size; k++) {
        int to = after(c, c->rank, k), from = after(c, c->rank, -k);
        e = send_receive(c, block(c, c->send, to), c->count, to, block(c, c->data, from), c->count, from);
    }
    return e;
}

/* Each rank exchanges blocks with one rank at a time. In step k this is the rank with the number (own rank XOR k).
 * The number of ranks must be a power of two. Source: Thakur, Rabenseifner and Gropp (2005), 3.4. */
int alltoall_pair(const call *c)
{
    int e = own_block(c);
    for (int k = 1; e == MPI_SUCCESS && k < c->size; k++) {
        int peer = c->rank ^ k;
        e = send_receive(c, block(c, c->send, peer), c->count, peer, block(c, c->data, peer), c->count, peer);
    }
    return e;
}

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

/* Returns a copy of the call that is limited to one row or one column of a mesh of ranks. */
static call line_of(const call *c, int first, int step, int n, int count, int *ranks)
{
    call line = *c;
    for (int i = 0; i < n; i++)
        ranks[i] = first + i * step;
    line.map = ranks;
    line.size = n;
    line.rank = (c->rank - first) / step;
    line.count = count;
    return line;
}

/* Transposes a matrix of blocks. `from` holds the matrix, and `to` receives the transpose. */
static int transpose(const call *c, char *to, const char *from, int rows, int columns)
{
    int e = MPI_SUCCESS;
    for (int i = 0; e == MPI_SUCCESS && i < rows; i++)
        for (int j = 0; e == MPI_SUCCESS && j < columns; j++)
            e = copy(c, block(c, to, j * rows + i), block(c, from, i * columns + j), c->count);
    return e;
}

/* Exchanges along the rows of a mesh of ranks, then along its columns. Source: Bokhari and Berryman, Complete exchange on a
 * circuit switched mesh (1992). */
int alltoall_mesh(const call *c)
{
    int rows = 1, n = c->count, e;
    for (int i = 2; i <= c->size / i; i++)
        rows = c->size % i == 0 ? i : rows;
    int columns = c->size / rows, row = c->rank / columns;
    char *out = scratch(c, c->size * n), *in = scratch(c, c->size * n);
    int *ranks = malloc((size_t)c->size * sizeof *ranks);
    e = out == NULL || in == NULL || ranks == NULL ? MPI_ERR_NO_MEM : transpose(c, out, c->send, rows, columns);
    if (e == MPI_SUCCESS) {
        call along = line_of(c, row * columns, 1, columns, rows * n, ranks);
        along.send = out;
        along.data = in;
        e = alltoall_linear(&along);
    }
    if (e == MPI_SUCCESS)
        e = transpose(c, out, in, columns, rows);
    if (e == MPI_SUCCESS) {
        call along = line_of(c, c->rank % columns, columns, rows, columns * n, ranks);
        along.send = out;
        e = alltoall_linear(&along);
    }
    free(ranks);
    scratch_free(c, out);
    scratch_free(c, in);
    return e;
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
