#define _GNU_SOURCE
#include "pairs.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void *pairs_memory(size_t n, size_t bytes)
{
    void *p = calloc(n, bytes);
    if (p == NULL) {
        fprintf(stderr, "tutti-native: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

/* Writes where one rank of a pair runs: the host, the core, and the rank's number on its node. */
void pairs_place(line *l, const session *s, const int *cores, char side, int rank)
{
    const world *w = &s->world;
    char key[] = {side, 0}, core[] = "core_?", number[] = "rank_?";
    int before = 0;
    for (int r = 0; r < rank; r++)
        before += w->node[r] == w->node[rank];
    core[5] = number[5] = side;
    line_string(l, key, w->place[rank].host);
    line_integer(l, number, before);
    line_integer(l, core, cores[rank]);
}

/* Binds this rank to a processor. The ranks of a node that may use the same processors are distributed evenly over
 * them, as far apart as possible. Returns this rank's processor, or -1 if there is none. */
static int pin(const control *c, const world *w)
{
    cpu_set_t mine, *all;
    control node = {MPI_COMM_NULL, 0, 0};
    int sharing = 0, before = 0, wanted, cpu = -1;
    CPU_ZERO(&mine);
    (void)sched_getaffinity(0, sizeof mine, &mine);
    MPI_Comm_split(c->comm, w->node[c->rank], c->rank, &node.comm);
    MPI_Comm_rank(node.comm, &node.rank);
    MPI_Comm_size(node.comm, &node.size);
    all = pairs_memory((size_t)node.size, sizeof *all);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, node.comm);
    for (int i = 0; i < node.size; i++)
        if (CPU_EQUAL(&mine, &all[i])) {
            sharing++;
            before += i < node.rank;
        }
    free(all);
    MPI_Comm_free(&node.comm);
    if (CPU_COUNT(&mine) < sharing) /* with more ranks than processors, the system places them */
        return -1;
    wanted = before * CPU_COUNT(&mine) / sharing;
    for (int i = 0; i < CPU_SETSIZE && cpu < 0; i++)
        if (CPU_ISSET(i, &mine) && wanted-- == 0)
            cpu = i;
    CPU_ZERO(&mine);
    CPU_SET(cpu, &mine);
    return sched_setaffinity(0, sizeof mine, &mine) == 0 ? cpu : -1;
}

/* Returns the partner of a player in a round of a round-robin tournament, or -1 if the player has none. With an
 * even number of players, the last one keeps its place and the others rotate. */
int pairs_partner(int player, int round, int players)
{
    int last = players + players % 2 - 1, other;
    if (last <= 0)
        return -1;
    round %= last;
    if (player == last)
        other = round * (last + 1) / 2 % last;
    else
        other = (round - player + last) % last;
    if (other == player)
        other = last;
    return other < players ? other : -1;
}

static void inside(const session *s, const pairs_plan *p, const int *cores)
{
    const world *w = &s->world;
    stage g = {"inside", s->ctl, NULL, p->ppn + p->ppn % 2 - 1};
    int *ranks = pairs_memory((size_t)p->ppn, sizeof *ranks), n = 0, me = 0;
    for (int r = 0; r < s->ctl.size; r++)
        if (w->node[r] == w->node[s->ctl.rank]) {
            me = r == s->ctl.rank ? n : me;
            ranks[n++] = r;
        }
    g.partner = pairs_memory((size_t)g.rounds, sizeof *g.partner);
    for (int i = 0; i < g.rounds; i++) {
        int other = pairs_partner(me, i, n);
        g.partner[i] = other < 0 ? -1 : ranks[other];
    }
    stage_run(s, p, &g, cores);
    free(g.partner);
    free(ranks);
}

/* Returns the group of leaders: the first rank of each node, in the order of the nodes. */
static control leaders(const session *s)
{
    const world *w = &s->world;
    control c = {MPI_COMM_NULL, -1, 0};
    int node = w->node[s->ctl.rank];
    MPI_Comm_split(s->ctl.comm, w->leader[node] == s->ctl.rank ? 0 : MPI_UNDEFINED, node, &c.comm);
    if (c.comm != MPI_COMM_NULL) {
        MPI_Comm_rank(c.comm, &c.rank);
        MPI_Comm_size(c.comm, &c.size);
    }
    return c;
}

static void between(const session *s, const pairs_plan *p, const control *c, const int *cores)
{
    int all = c->size > 1 ? c->size + c->size % 2 - 1 : 0;
    stage g = {"between", *c, NULL, p->between < all ? p->between : all};
    g.partner = pairs_memory((size_t)g.rounds + 1, sizeof *g.partner);
    for (int i = 0; i < g.rounds; i++)
        g.partner[i] = pairs_partner(c->rank, i, c->size);
    stage_run(s, p, &g, cores);
    free(g.partner);
}

static void chosen(const session *s, const pairs_plan *p, const control *c, const int *cores)
{
    stage g = {"chosen", *c, NULL, p->nmeetings ? p->meetings[p->nmeetings - 1].round + 1 : 0};
    g.partner = pairs_memory((size_t)g.rounds + 1, sizeof *g.partner);
    for (int i = 0; i < g.rounds; i++)
        g.partner[i] = -1;
    for (int i = 0; i < p->nmeetings; i++) {
        const meeting *m = &p->meetings[i];
        if (m->a == c->rank)
            g.partner[m->round] = m->b;
        if (m->b == c->rank)
            g.partner[m->round] = m->a;
    }
    stage_run(s, p, &g, cores);
    free(g.partner);
}

/* Waits until all ranks have called this function. A waiting rank yields its processor. */
static void rest(const control *c)
{
    struct timespec pause = {0, 1000000};
    MPI_Request r;
    int done = 0;
    MPI_Ibarrier(c->comm, &r);
    for (MPI_Test(&r, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&r, &done, MPI_STATUS_IGNORE))
        nanosleep(&pause, NULL);
}

/* Returns how many examples, from number `first` on, have no node in common. */
static int disjoint(const world *w, const pairs_plan *p, int first)
{
    char *taken = pairs_memory((size_t)w->nodes, 1);
    int i = first;
    for (; i < p->nexamples; i++) {
        char *a = &taken[w->node[p->examples[i].a]], *b = &taken[w->node[p->examples[i].b]];
        if (*a || *b)
            break;
        *a = *b = 1;
    }
    free(taken);
    return i - first;
}

void pairs_measure(const session *s, const pairs_plan *p)
{
    int core = pin(&s->ctl, &s->world);
    int *cores = pairs_memory((size_t)s->ctl.size, sizeof *cores);
    MPI_Allgather(&core, 1, MPI_INT, cores, 1, MPI_INT, s->ctl.comm);
    if (p->inside && p->ppn > 1)
        inside(s, p, cores);
    control c = leaders(s);
    if (c.comm != MPI_COMM_NULL) {
        between(s, p, &c, cores);
        chosen(s, p, &c, cores);
        MPI_Comm_free(&c.comm);
    }
    rest(&s->ctl);
    for (int i = 0, n; i < p->nexamples; i += n) {
        n = disjoint(&s->world, p, i);
        examples_run(s, p, &p->examples[i], n);
        rest(&s->ctl);
    }
    free(cores);
}
