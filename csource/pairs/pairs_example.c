#include "pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE 120         /* seconds after which the measurement of a size hangs */
#define WAITING 1.3          /* round trips after which a message has arrived */
#define MOST_SATURATED 65536 /* bytes: for larger messages the gap follows from round trips */
#define FIRST_ROW 10         /* messages */
#define MOST_ROW 37500
#define ROW_SHARE 0.01  /* of the time of a stage: a sequence that takes longer is the last one */
#define STEADY 0.01     /* relative change of the time per message that ends the sequences */
#define EXTRA_SHARE 0.5 /* of the time of a stage, after which no sizes are added */
enum { ROWS = 12 };     /* 10 messages, doubled up to 37 500 */
enum { STEP = 32 };                                  /* least bytes between two sizes */
enum { POWERS = 32, EXTRA = 64, MOST_SIZES = 1 + POWERS + EXTRA }; /* numbers of sizes; empty messages are the first one */

/* The times of messages of one size. Rank 0 prints them as JSON, which discover.Example parses. */
typedef struct {
    int bytes;
    double round_trip, send, receive; /* seconds */
    double took[ROWS];                /* of a sequence of messages, 10 of them and then twice as many each time */
    int rows;
} reading;

/* Does about as much work as a short message takes. */
static void busy(void)
{
    for (volatile int i = 0; i < 300; i++) {
    }
}

/* Returns the time, in seconds, that reading the clock adds to a measured interval. It compares calls of the function
 * `busy` with and without clock readings around each of them. Source: Reinfjell, Automatic Detection of Interconnect
 * Topologies (NTNU 2023), figure 3.7. */
static double clock_overhead(void)
{
    enum { REPEATS = 5, CALLS = 1000 };
    double plain = INFINITY, timed = INFINITY;
    for (int i = 0; i < REPEATS; i++) {
        double from = seconds(), sum = 0;
        for (int k = 0; k < CALLS; k++)
            busy();
        plain = fmin(plain, (seconds() - from) / CALLS);
        for (int k = 0; k < CALLS; k++) {
            from = seconds();
            busy();
            sum += seconds() - from;
        }
        timed = fmin(timed, sum / CALLS);
    }
    return fmax(timed - plain, 0);
}

static double overhead; /* of the clock, in every measured time */
static int times;       /* repetitions of each measurement */

static double middle(const double *took)
{
    double scratch[MOST_REPETITIONS];
    summary sum;
    summarise(took, times, scratch, &sum);
    return fmax(sum.median - overhead, 0);
}

static double round_trip(const control *c, int other, int first, char *buffer, int bytes)
{
    double took[MOST_REPETITIONS];
    for (int i = 0; i < times; i++) {
        double from = seconds();
        if (first)
            control_give(c, buffer, bytes, other, TAG_PAIR);
        control_take(c, buffer, bytes, other, TAG_PAIR);
        if (!first)
            control_give(c, buffer, bytes, other, TAG_PAIR);
        took[i] = seconds() - from;
    }
    return middle(took);
}

/* Measures the overhead of sending: the time of a synchronous send. */
static double send_overhead(const control *c, int other, int first, char *buffer, int bytes)
{
    double took[MOST_REPETITIONS] = {0};
    for (int i = 0; i < times; i++) {
        double from = seconds();
        if (first)
            MPI_Ssend(buffer, bytes, MPI_BYTE, other, TAG_PAIR, c->comm);
        else
            control_take(c, buffer, bytes, other, TAG_PAIR);
        took[i] = seconds() - from;
    }
    return middle(took);
}

/* Measures the overhead of receiving: the time to receive a message that has already arrived. */
static double receive_overhead(const control *c, int other, int first, char *buffer, int bytes, double trip)
{
    double took[MOST_REPETITIONS] = {0};
    char ask = 0;
    for (int i = 0; i < times; i++) {
        if (!first) {
            control_take(c, &ask, 1, other, TAG_PAIR);
            control_give(c, buffer, bytes, other, TAG_PAIR);
            continue;
        }
        control_give(c, &ask, 1, other, TAG_PAIR);
        for (double from = seconds(); seconds() - from < WAITING * trip;) {
        }
        double from = seconds();
        MPI_Recv(buffer, bytes, MPI_BYTE, other, TAG_PAIR, c->comm, MPI_STATUS_IGNORE);
        took[i] = seconds() - from;
    }
    return middle(took);
}

/* Sends sequences of messages until the time per message is constant. The receiver answers a sequence when all its
 * messages have arrived. The first rank decides when to stop. */
static void saturate(const control *c, int other, int first, char *buffer, int bytes, double most, reading *r)
{
    int go = bytes <= MOST_SATURATED;
    char answer = 0;
    for (int n = FIRST_ROW; go && n <= MOST_ROW; n *= 2) {
        double from = seconds();
        for (int i = 0; i < n; i++)
            if (first)
                MPI_Send(buffer, bytes, MPI_BYTE, other, TAG_PAIR, c->comm);
            else
                MPI_Recv(buffer, bytes, MPI_BYTE, other, TAG_PAIR, c->comm, MPI_STATUS_IGNORE);
        if (!first) {
            control_give(c, &answer, 1, other, TAG_PAIR);
            control_take(c, &go, (int)sizeof go, other, TAG_PAIR);
            continue;
        }
        control_take(c, &answer, 1, other, TAG_PAIR);
        double took = fmax(seconds() - from - overhead, 0), before = r->rows ? 2 * r->took[r->rows - 1] : 0;
        r->took[r->rows++] = took;
        go = took < most && fabs(took - before) >= STEADY * before;
        control_give(c, &go, (int)sizeof go, other, TAG_PAIR);
    }
}

static void tell(const example *e, const reading *r)
{
    line l;
    line_begin(&l, "example");
    line_string(&l, "class", e->class);
    line_integer(&l, "bytes", r->bytes);
    line_number(&l, "round_trip", r->round_trip);
    line_number(&l, "send", r->send);
    line_number(&l, "receive", r->receive);
    line_raw(&l, ",\"rows\":[");
    for (int i = 0; i < r->rows; i++)
        line_raw(&l, "%s%.9g", i ? "," : "", r->took[i]);
    line_raw(&l, "]");
    line_end(&l);
}

/* Measures messages of one size between this rank and another one. */
static void read_size(const control *c, const pairs_plan *p, int other, int first, char *buffer, reading *r)
{
    alarm(PATIENCE);
    r->round_trip = round_trip(c, other, first, buffer, r->bytes);
    r->send = send_overhead(c, other, first, buffer, r->bytes);
    r->receive = receive_overhead(c, other, first, buffer, r->bytes, r->round_trip);
    saturate(c, other, first, buffer, r->bytes, ROW_SHARE * p->seconds, r);
}

static int off_line(double a, double b, double c, double share, double tolerance)
{
    return fabs(b - (a + share * (c - a))) > tolerance * b;
}

/* Returns whether the times in `b` deviate from the straight lines through the times in `a` and `c`, which are of a
 * smaller and a larger size. */
static int bent(const reading *a, const reading *b, const reading *c, double tolerance)
{
    double share = (double)(b->bytes - a->bytes) / (double)(c->bytes - a->bytes);
    return off_line(a->round_trip, b->round_trip, c->round_trip, share, tolerance) ||
           off_line(a->send, b->send, c->send, share, tolerance) ||
           off_line(a->receive, b->receive, c->receive, share, tolerance);
}

static int by_bytes(const void *a, const void *b) { return ((const reading *)a)->bytes - ((const reading *)b)->bytes; }

/* Chooses sizes to measure in addition. A size lies halfway between two neighboring sizes if the times of the smaller
 * one deviate from the straight line between its neighbors. Returns the number of added sizes, at most `most`. */
static int extra_sizes(const reading *read, int n, double tolerance, int *sizes, int most)
{
    reading r[MOST_SIZES];
    int found = 0;
    memcpy(r, read, (size_t)n * sizeof *r);
    qsort(r, (size_t)n, sizeof *r, by_bytes);
    for (int i = 1; i + 1 < n && found < most; i++)
        if (r[i + 1].bytes - r[i].bytes > STEP && bent(&r[i - 1], &r[i], &r[i + 1], tolerance))
            sizes[found++] = r[i].bytes + (r[i + 1].bytes - r[i].bytes) / 2;
    return found;
}

/* Measures empty messages, then powers of two up to the large message. Then it measures sizes in between until
 * straight lines between neighboring sizes describe the times. The first rank of the pair decides, and gets the
 * times. Returns the number of sizes. */
static int read_pair(const control *c, const pairs_plan *p, int other, int first, reading *read)
{
    double from = seconds();
    int n = 0, sizes[EXTRA + 1] = {0}; /* the number of sizes, and the sizes */
    char *buffer = pairs_memory((size_t)p->bytes + 1, 1);
    overhead = clock_overhead();
    times = p->repetitions;
    for (long bytes = 0; bytes <= p->bytes; bytes = bytes ? 2 * bytes : 1) {
        read[n].bytes = (int)bytes;
        read_size(c, p, other, first, buffer, &read[n++]);
    }
    do {
        if (first) {
            sizes[0] = seconds() - from > EXTRA_SHARE * p->seconds ? 0 : extra_sizes(read + 1, n - 1, p->precision, sizes + 1, MOST_SIZES - n);
            control_give(c, sizes, (int)sizeof sizes, other, TAG_EXAMPLE);
        } else {
            control_take(c, sizes, (int)sizeof sizes, other, TAG_EXAMPLE);
        }
        for (int i = 1; i <= sizes[0]; i++) {
            read[n].bytes = sizes[i];
            read_size(c, p, other, first, buffer, &read[n++]);
        }
    } while (sizes[0] > 0);
    alarm(0);
    free(buffer);
    return n;
}

/* Rank 0 prints the times of an example. */
static void report(const control *c, const example *e, const reading *read, int n)
{
    reading got[MOST_SIZES];
    if (c->rank == e->a && c->rank != 0) {
        control_give(c, &n, (int)sizeof n, 0, TAG_EXAMPLE);
        control_give(c, read, n * (int)sizeof *read, 0, TAG_EXAMPLE);
    }
    if (c->rank != 0)
        return;
    if (e->a != 0) {
        control_take(c, &n, (int)sizeof n, e->a, TAG_EXAMPLE);
        control_take(c, got, n * (int)sizeof *got, e->a, TAG_EXAMPLE);
        read = got;
    }
    for (int i = 0; i < n; i++)
        tell(e, &read[i]);
}

/* Measures n examples at the same time. No two of them have a rank in common. */
void examples_run(const session *s, const pairs_plan *p, const example *e, int n)
{
    const control *c = &s->ctl;
    reading read[MOST_SIZES] = {{0}};
    int sizes = 0;
    for (int i = 0; i < n; i++)
        if (c->rank == e[i].a || c->rank == e[i].b)
            sizes = read_pair(c, p, c->rank == e[i].a ? e[i].b : e[i].a, c->rank == e[i].a, read);
    for (int i = 0; i < n; i++)
        report(c, &e[i], read, sizes);
}
