#include "comm.h"
#include "layout.h"

#include <stdlib.h>

/* Schedules an alltoall in phases. In each phase no two messages use the same link in the same direction, and the
 * number of phases is the smallest possible. Source: Faraj and Yuan, Message scheduling for all-to-all personalized
 * communication on Ethernet switched clusters (2005).
 *
  * The tree of switches and nodes is split at one switch or node into groups, so that no group has more than half
  * of all ranks. The largest group comes first. Extended ring scheduling gives the phases of the messages between
  * two groups. While member m of a group sends to another group, it can also receive a message from its own
  * group. These two messages use different links. */

typedef struct {
    int phase, from, to;
} message;

typedef struct {
    int n, phases;
    int *ranks;     /* of all groups, one group after another */
    int *first;     /* the index in `ranks` at which each group begins, and the end of the last one */
    int *receiver;  /* in each phase: the member of the first group that receives a message within the group */
    message *all;
    long sent;
} plan;

static int count(const plan *p, int group) { return p->first[group + 1] - p->first[group]; }

static int behind(const plan *p, int group) { return p->first[p->n] - p->first[group]; }

static int member(const plan *p, int group, int i) { return p->ranks[p->first[group] + i]; }

static void add(plan *p, int phase, int from, int to) { p->all[p->sent++] = (message){phase, from, to}; }

static int divisor(int a, int b)
{
    while (b > 0) {
        int remainder = a % b;
        a = b;
        b = remainder;
    }
    return a;
}

/* Returns the first phase of the messages from group i to group j. */
static int start(const plan *p, int i, int j)
{
    if (i < j)
        return count(p, i) * (behind(p, i + 1) - behind(p, j));
    return p->phases - count(p, j) * (behind(p, j + 1) - behind(p, i + 1));
}

/* Adds the messages from the first group (a members) to group j (b members), and in the same phases messages
 * within the first group. In every a successive phases, each member of the first group sends to group j once.
 * After every lcm(a, b) phases the order of the senders is rotated by one. Otherwise the same senders and
 * receivers would meet again. */
static void from_first(plan *p, int j)
{
    int a = count(p, 0), b = count(p, j), orders = divisor(a, b);
    for (int k = 0; k < a * b; k++) {
        int at = start(p, 0, j) + k, stretch = at / a, sender = (k % a + k / a / (b / orders)) % a;
        add(p, at, member(p, 0, sender), member(p, j, at % b));
        p->receiver[at] = (sender + a - stretch % a) % a;
        if (0 < stretch && stretch < a)
            add(p, at, member(p, 0, p->receiver[at]), member(p, 0, sender));
    }
}

/* Adds the messages from group i to the first group, and messages within group i in the same phases. */
static void to_first(plan *p, int i)
{
    int a = count(p, 0), b = count(p, i);
    for (int k = 0; k < a * b; k++) {
        int at = start(p, i, 0) + k, sender = k / a, own = at % b;
        add(p, at, member(p, i, sender), member(p, 0, p->receiver[at]));
        if (k % a < b && own != sender)
            add(p, at, member(p, i, own), member(p, i, sender));
    }
}

static void between(plan *p, int i, int j)
{
    for (int k = 0; k < count(p, i) * count(p, j); k++) {
        int at = start(p, i, j) + k;
        add(p, at, member(p, i, k / count(p, j)), member(p, j, at % count(p, j)));
    }
}

/* A range of positions in the layout: one of the groups into which the ranks are split, or all remaining ranks. */
typedef struct {
    int first, end, order;
} part;

static int larger(const void *a, const void *b)
{
    const part *x = a, *y = b;
    int n = y->end - y->first - (x->end - x->first);
    return n != 0 ? n : x->order - y->order;
}

/* Returns the end of a group: the position after its last member. The group is at the given level, and its first member
 * is at the position `first`. */
static int end_of(const layout *l, int level, int first)
{
    int end = first + 1;
    while (level < l->levels && end < l->size && group_of(l, level, end) == group_of(l, level, first))
        end++;
    return end;
}

/* Descends the tree to the level at which no group has more than half of all ranks, and lists the groups there.
 * The remaining ranks form one more group. */
static int parts_of(const layout *l, part *parts)
{
    int first = 0, end = l->size, level = 0, n = 0;
    for (; level < l->levels; level++) {
        int at = first, next = end_of(l, level, at);
        while (2 * (next - at) <= l->size && next < end) {
            at = next;
            next = end_of(l, level, at);
        }
        if (2 * (next - at) <= l->size)
            break;
        first = at;
        end = next;
    }
    if (end - first < l->size)
        parts[n++] = (part){end, first + l->size, n};
    for (int at = first; at < end; at = parts[n - 1].end) {
        parts[n] = (part){at, end_of(l, level, at), n};
        n++;
    }
    qsort(parts, (size_t)n, sizeof *parts, larger);
    return n;
}

static plan plan_new(const layout *l)
{
    plan p = {0};
    part *parts = allocate((size_t)l->size + 1, sizeof *parts);
    p.n = parts_of(l, parts);
    p.ranks = allocate((size_t)l->size, sizeof *p.ranks);
    p.first = allocate((size_t)p.n + 1, sizeof *p.first);
    for (int g = 0; g < p.n; g++) {
        p.first[g + 1] = p.first[g];
        for (int i = parts[g].first; i < parts[g].end; i++)
            p.ranks[p.first[g + 1]++] = l->order[i % l->size];
    }
    free(parts);
    p.phases = p.n < 2 ? 0 : count(&p, 0) * behind(&p, 1);
    p.receiver = allocate((size_t)p.phases + 1, sizeof *p.receiver);
    p.all = allocate((size_t)l->size * (size_t)l->size, sizeof *p.all);
    for (int j = 1; j < p.n; j++)
        from_first(&p, j);
    for (int i = 1; i < p.n; i++) {
        to_first(&p, i);
        for (int j = 1; j < p.n; j++)
            if (i != j)
                between(&p, i, j);
    }
    return p;
}

/* Sorts the plan's messages by phase, so that those of one phase follow one another. */
static void in_phases(plan *p)
{
    long *at = allocate((size_t)p->phases + 1, sizeof *at);
    message *sorted = allocate((size_t)p->sent + 1, sizeof *sorted);
    for (long i = 0; i < p->sent; i++)
        at[p->all[i].phase + 1]++;
    for (int k = 0; k < p->phases; k++)
        at[k + 1] += at[k];
    for (long i = 0; i < p->sent; i++)
        sorted[at[p->all[i].phase]++] = p->all[i];
    free(at);
    free(p->all);
    p->all = sorted;
}

/* A turn is what one rank does in one phase of the schedule. */
typedef struct {
    int phase, to, from, nwaits, nsignals;
    int *waits, *signals; /* memory for two ranks of each level */
} turn;

/* The state while the turns of one rank are created. A turn is what this rank does in one phase. A link is
 * numbered by its level, group and direction. For each link, `last` holds its last message so far. The array
 * `received` holds the turn in which this rank received that message. */
typedef struct {
    const layout *l;
    int rank, n;
    turn *turns;
    const message **last;
    int *received;
} maker;

static turn *turn_at(maker *k, int phase)
{
    if (k->n == 0 || k->turns[k->n - 1].phase != phase) {
        turn *t = &k->turns[k->n++];
        size_t capacity = 2 * (size_t)k->l->levels;
        *t = (turn){phase, -1, -1, 0, 0, allocate(capacity, sizeof(int)), allocate(capacity, sizeof(int))};
    }
    return &k->turns[k->n - 1];
}

/* Makes message m wait for the previous message on a link. If the receiver of the previous message is not the sender
 * of m, the receiver must signal the sender. */
static void follow(maker *k, long link, const message *m, const message **seen, int *nseen)
{
    const message *before = k->last[link];
    int again = 0;
    for (int i = 0; i < *nseen; i++)
        again += seen[i] == before;
    if (before != NULL && !again && before->from != m->from && before->to != m->to && before->to != m->from) {
        seen[(*nseen)++] = before;
        if (m->from == k->rank) {
            turn *t = turn_at(k, m->phase);
            t->waits[t->nwaits++] = before->to;
        }
        if (before->to == k->rank) {
            turn *t = &k->turns[k->received[link]];
            t->signals[t->nsignals++] = m->from;
        }
    }
    k->last[link] = m;
    k->received[link] = k->n - 1;
}

static void take_turn(maker *k, const message *m, const message **seen)
{
    const layout *l = k->l;
    int nseen = 0, from = l->position[m->from], to = l->position[m->to];
    if (m->from == k->rank)
        turn_at(k, m->phase)->to = m->to;
    if (m->to == k->rank)
        turn_at(k, m->phase)->from = m->from;
    for (int level = 0; level < l->levels; level++)
        if (group_of(l, level, from) != group_of(l, level, to)) {
            long links = 2 * (long)level * l->size;
            follow(k, links + 2 * group_of(l, level, from), m, seen, &nseen);
            follow(k, links + 2 * group_of(l, level, to) + 1, m, seen, &nseen);
        }
}

/* Writes all turns one after another into an array of numbers, in the form that layout.h describes, and frees them. */
static schedule *steps_of(maker *k, int phases)
{
    schedule *s = allocate(1, sizeof *s);
    size_t n = 0;
    for (int i = 0; i < k->n; i++)
        n += 5 + (size_t)k->turns[i].nwaits + (size_t)k->turns[i].nsignals;
    int *p = s->steps = allocate(n + 1, sizeof *p);
    s->phases = phases;
    s->turns = k->n;
    for (turn *t = k->turns; t < k->turns + k->n; t++) {
        *p++ = t->phase;
        *p++ = t->to;
        *p++ = t->from;
        *p++ = t->nwaits;
        for (int i = 0; i < t->nwaits; i++)
            *p++ = t->waits[i];
        *p++ = t->nsignals;
        for (int i = 0; i < t->nsignals; i++)
            *p++ = t->signals[i];
        free(t->waits);
        free(t->signals);
    }
    return s;
}

static void plan_free(plan *p)
{
    free(p->ranks);
    free(p->first);
    free(p->receiver);
    free(p->all);
}

int alltoall_phases(const layout *l, int *phase)
{
    plan p = plan_new(l);
    for (int i = 0; i < l->size * l->size; i++)
        phase[i] = -1;
    for (long i = 0; i < p.sent; i++)
        phase[p.all[i].from * l->size + p.all[i].to] = p.all[i].phase;
    plan_free(&p);
    return p.phases;
}

static schedule *schedule_new(const layout *l, int rank)
{
    plan p = plan_new(l);
    size_t links = 2 * (size_t)l->levels * (size_t)l->size;
    maker k = {l, rank, 0, allocate(2 * (size_t)l->size, sizeof *k.turns), allocate(links, sizeof *k.last), allocate(links, sizeof *k.received)};
    const message **seen = allocate(2 * (size_t)l->levels, sizeof *seen);
    in_phases(&p);
    for (long i = 0; i < p.sent; i++)
        take_turn(&k, &p.all[i], seen);
    schedule *s = steps_of(&k, p.phases);
    free(seen);
    free(k.turns);
    free(k.last);
    free(k.received);
    plan_free(&p);
    return s;
}

const schedule *layout_schedule(layout *l, int rank)
{
    if (l->alltoall == NULL)
        l->alltoall = schedule_new(l, rank);
    return l->alltoall;
}

void schedule_free(schedule *s)
{
    if (s == NULL)
        return;
    free(s->steps);
    free(s);
}
