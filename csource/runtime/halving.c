#include "repository.h"

team team_of(const call *c)
{
    team m = {floor_power_of_two(c->size), 0, 0, 0};
    m.pairs = c->size - m.power;
    if (c->rank >= 2 * m.pairs)
        m.number = c->rank - m.pairs;
    else
        m.number = c->rank % 2 ? c->rank / 2 : -1;
    return m;
}

/* Returns a member's number with the bits of the number in reverse order. */
static int turned(const team *m, int number)
{
    int r = 0;
    for (int bit = 1, back = m->power / 2; back > 0; bit *= 2, back /= 2)
        r |= number & bit ? back : 0;
    return r;
}

team team_far(const call *c)
{
    team m = team_of(c);
    m.far = 1;
    if (m.number >= 0)
        m.number = turned(&m, m.number);
    return m;
}

int team_rank(const team *m, int number)
{
    if (m->far)
        number = turned(m, number);
    return number < m->pairs ? 2 * number + 1 : number + m->pairs;
}

void team_join(const call *c, const team *m, char *tmp)
{
    if (c->rank >= 2 * m->pairs)
        return;
    if (m->number < 0) {
        send_to(c, c->data, c->count, c->rank + 1);
        return;
    }
    receive_from(c, tmp, c->count, c->rank - 1);
    combine(c, c->data, tmp, c->count, 1);
}

void team_leave(const call *c, const team *m)
{
    if (c->rank >= 2 * m->pairs)
        return;
    if (m->number < 0)
        receive_from(c, c->data, c->count, c->rank + 1);
    else
        send_to(c, c->data, c->count, c->rank - 1);
}

/* Computes which part of a vector a member has during recursive halving, after all exchanges at distances (1, 2, 4 …)
 * that are less than `distance`. *first becomes the first element of the part, and *n the number of elements. */
static void part_of(const call *c, int number, int distance, int *first, int *n)
{
    *first = 0;
    *n = c->count;
    for (int d = 1; d < distance; d *= 2) {
        int half = *n / 2;
        if (number & d) {
            *first += half;
            *n -= half;
        } else {
            *n = half;
        }
    }
}

/* Recursive halving: partners exchange halves of their vectors and combine them, until each member has one part of the
 * result. Source: Rabenseifner, Optimization of collective reduction operations (2004). */
void halve(const call *c, const team *m, int number, char *tmp, int *first, int *n)
{
    int offset = m->number ^ number; /* members are numbered starting from another member */
    *first = 0;
    *n = c->count;
    for (int d = 1; d < m->power; d *= 2) {
        int out, given, peer = team_rank(m, (number ^ d) ^ offset);
        part_of(c, number ^ d, 2 * d, &out, &given);
        part_of(c, number, 2 * d, first, n);
        send_receive(c, at(c, c->data, out), given, peer, tmp, *n, peer);
        combine(c, at(c, c->data, *first), tmp, *n, 0);
    }
}

/* Reverses the function `halve`. Partners send each other their parts of the result. If `to_one` is 1, all parts go to
 * member 0 instead. */
void unhalve(const call *c, const team *m, int number, int to_one)
{
    int offset = m->number ^ number;
    for (int d = m->power / 2; d > 0; d /= 2) {
        int own, n, other, more, peer = team_rank(m, (number ^ d) ^ offset);
        part_of(c, number, 2 * d, &own, &n);
        part_of(c, number ^ d, 2 * d, &other, &more);
        if (!to_one)
            send_receive(c, at(c, c->data, own), n, peer, at(c, c->data, other), more, peer);
        else if (number & d) {
            send_to(c, at(c, c->data, own), n, peer);
            return;
        }
        else
            receive_from(c, at(c, c->data, other), more, peer);
    }
}
