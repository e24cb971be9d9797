#include "native.h"

#include <math.h>
#include <time.h>

enum { TAG_PING = 30, TAG_PONG, TAG_OFFSET };
enum { ROUNDS = 10 };       /* the shortest round trip of ten was within 10 % of the shortest of a thousand */
enum { ROUNDS_MOST = 300 }; /* limit if all round trips are long, as with more ranks than cores */

#define OF_BARRIER 2 /* half of a round trip takes at most this many barriers of all ranks */
#define NO_MORE (-1.0)

#define AGE_FIRST 1.0 /* seconds until the first new estimate; later ones adapt */
#define AGE_LEAST 0.1
#define AGE_MOST 10.0
#define RATE_MOST 1e-3 /* a clock that drifts faster was set by hand */
#define DRIFT 1e-4     /* seconds per second: quartz clocks keep within it */

typedef struct {
    double offset, error;
} reply;

/* The master and a peer exchange messages to estimate how far the master's clock is ahead of the peer's. The
 * master runs master_side, the peer runs peer_side. */
static reply master_side(const clocks *k, const control *c, int peer)
{
    reply best = {0, HUGE_VAL};
    double no_more = NO_MORE;
    for (int i = 0; i < ROUNDS || (i < ROUNDS_MOST && best.error > k->credible); i++) {
        double remote, sent = seconds();
        MPI_Send(&sent, 1, MPI_DOUBLE, peer, TAG_PING, c->comm);
        MPI_Recv(&remote, 1, MPI_DOUBLE, peer, TAG_PONG, c->comm, MPI_STATUS_IGNORE);
        double back = seconds(), half = (back - sent) / 2;
        if (half < best.error) {
            best.error = half;
            best.offset = sent + half - remote;
        }
    }
    MPI_Send(&no_more, 1, MPI_DOUBLE, peer, TAG_PING, c->comm);
    MPI_Send(&best, 2, MPI_DOUBLE, peer, TAG_OFFSET, c->comm);
    return best;
}

static reply peer_side(const control *c, int master)
{
    reply best;
    for (;;) {
        double remote;
        MPI_Recv(&remote, 1, MPI_DOUBLE, master, TAG_PING, c->comm, MPI_STATUS_IGNORE);
        double mine = seconds();
        if (remote == NO_MORE)
            break;
        MPI_Send(&mine, 1, MPI_DOUBLE, master, TAG_PONG, c->comm);
    }
    MPI_Recv(&best, 2, MPI_DOUBLE, master, TAG_OFFSET, c->comm, MPI_STATUS_IGNORE);
    return best;
}

/* Estimates once the offset between each rank's clock and the clock of its node's leader. If an offset is not larger
 * than the possible error of the estimate, both count as 0. Returns the possible error of this rank's offset. */
static double within_nodes(clocks *k, const control *c, const world *w)
{
    int leader = w->leader[w->node[c->rank]];
    k->relative = 0;
    if (c->rank != leader) {
        reply r = peer_side(c, leader);
        int one = fabs(r.offset) <= r.error;
        k->relative = one ? 0 : r.offset;
        return one ? 0 : r.error;
    }
    for (int r = leader + 1; r < c->size; r++)
        if (w->node[r] == w->node[c->rank])
            master_side(k, c, r);
    return 0;
}

/* Each leader (the first rank of a node) estimates the offset between its clock and rank 0's clock. It reports
 * by how much its previous estimate, extrapolated to now, is wrong. Rank 0 decides from this when the offsets
 * must be estimated again. */
static void between_nodes(clocks *k, const control *c, const world *w)
{
    double worst = 0, miss = 0;
    for (int node = 1; c->rank == 0 && node < w->nodes; node++) {
        reply missed, r = master_side(k, c, w->leader[node]);
        MPI_Recv(&missed, 2, MPI_DOUBLE, w->leader[node], TAG_OFFSET, c->comm, MPI_STATUS_IGNORE);
        worst = fmax(worst, r.error);
        miss = fmax(miss, missed.offset);
    }
    if (c->rank == 0) {
        int first = k->at == 0;
        k->error = k->within + worst;
        k->at = seconds();
        if (!first && miss > 2 * worst)
            k->age = fmax(AGE_LEAST, k->age / 2);
        else if (!first)
            k->age = fmin(AGE_MOST, k->age * 2);
        return;
    }
    if (c->rank != w->leader[w->node[c->rank]])
        return;
    reply r = peer_side(c, 0);
    double now = seconds(), expected = k->offset + k->rate * (now - k->at);
    reply missed = {k->at > 0 ? fabs(r.offset - expected) : 0, r.error};
    MPI_Send(&missed, 2, MPI_DOUBLE, 0, TAG_OFFSET, c->comm);
    double rate = k->at > 0 ? (r.offset - k->offset) / (now - k->at) : 0;
    k->rate = fabs(rate) < RATE_MOST ? rate : 0;
    k->offset = r.offset;
    k->at = now;
}

/* Each leader sends its estimate of the clock offset to the other ranks of its node. */
static void hand_down(clocks *k, const control *c, const world *w)
{
    int leader = w->leader[w->node[c->rank]];
    double from[3] = {k->offset, k->rate, k->at};
    if (c->rank != leader) {
        MPI_Recv(from, 3, MPI_DOUBLE, leader, TAG_OFFSET, c->comm, MPI_STATUS_IGNORE);
        k->rate = from[1];
        k->at = from[2] - k->relative;
        k->offset = from[0] + k->relative;
        return;
    }
    for (int r = leader + 1; r < c->size; r++)
        if (w->node[r] == w->node[c->rank])
            MPI_Send(from, 3, MPI_DOUBLE, r, TAG_OFFSET, c->comm);
}

void clocks_start(clocks *k, const control *c, const world *w, double barrier)
{
    clocks fresh = {.age = AGE_FIRST, .credible = fmin(LONG, OF_BARRIER * barrier)};
    *k = fresh;
    k->within = within_nodes(k, c, w);
    control_max(c, &k->within, 1);
    k->shared = w->nodes == 1 && k->within == 0;
    control_bcast(c, &k->shared, (int)sizeof k->shared);
    clocks_estimate(k, c, w);
}

void clocks_estimate(clocks *k, const control *c, const world *w)
{
    if (k->shared)
        return;
    between_nodes(k, c, w);
    hand_down(k, c, w);
}

/* Returns the time of this node's clock, in seconds. MPI_Wtime is unsuitable: in Open MPI each process counts from
 * its own start. */
double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double clocks_error(const clocks *k)
{
    return k->shared ? 0 : 2 * (k->error + DRIFT * (seconds() - k->at));
}

double clocks_now(const clocks *k)
{
    double now = seconds();
    return now + k->offset + k->rate * (now - k->at);
}
