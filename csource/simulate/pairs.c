/* A simulated benchmark program. It prints the simulated seconds at the end. Its arguments are one of these:
 *
 *   PLAN          prints the output of the benchmark program for a plan of pairs, and the place of each rank as
 *                 {"event":"place","host":"n3","rank":5,"socket":1}
 *   lgate N       all pairs of ranks exchange N empty messages each way, in the order of Reinfjell's program LGate,
 *                 which knows the nodes
 *   tournament N  the same in the order of a tournament of all ranks */
#include "pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tell_places(const session *s)
{
    const world *w = &s->world;
    line l;
    line_begin(&l, "hello");
    line_string(&l, "library", "SMPI");
    line_raw(&l, ",\"nodes\":[");
    for (int i = 0; i < w->nodes; i++)
        line_raw(&l, "%s{\"host\":\"%s\",\"ranks\":%d}", i ? "," : "", w->place[w->leader[i]].host, w->ranks[i]);
    line_raw(&l, "]");
    line_end(&l);
}

/* Rank 0 prints the socket of each rank. A rank is identified by its node and its number on this node. */
static void tell_sockets(const session *s)
{
    const world *w = &s->world;
    char host[MPI_MAX_PROCESSOR_NAME];
    int length, socket, *all = pairs_memory((size_t)s->ctl.size, sizeof *all), *seen = pairs_memory((size_t)w->nodes, sizeof *seen);
    PMPI_Get_processor_name(host, &length);
    socket = atoi(host + 1) % SOCKETS;
    MPI_Gather(&socket, 1, MPI_INT, all, 1, MPI_INT, 0, s->ctl.comm);
    for (int r = 0; s->ctl.rank == 0 && r < s->ctl.size; r++) {
        line l;
        line_begin(&l, "place");
        line_string(&l, "host", w->place[r].host);
        line_integer(&l, "rank", seen[w->node[r]]++);
        line_integer(&l, "socket", all[r]);
        line_end(&l);
    }
    free(all);
    free(seen);
}

static void measure(const session *s, const char *path)
{
    pairs_plan p;
    char why[WHY] = "", *text;
    int bytes;
    double from;
    text = plan_load(path, &bytes, why); /* all ranks are in one process, and each reads the plan */
    if (text == NULL || pairs_parse(&p, &s->world, path, text, why)) {
        fprintf(stderr, "%s\n", why);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (s->ctl.rank == 0)
        tell_places(s);
    tell_sockets(s);
    control_barrier(&s->ctl);
    from = seconds();
    pairs_measure(s, &p);
    if (s->ctl.rank == 0) {
        line l;
        line_begin(&l, "end");
        line_number(&l, "at", seconds() - from);
        line_end(&l);
    }
}

static void exchange(const session *s, int first, int other, int n)
{
    char none;
    for (int i = 0; i < n; i++) {
        if (first)
            control_give(&s->ctl, &none, 0, other, TAG_PAIR);
        control_take(&s->ctl, &none, 0, other, TAG_PAIR);
        if (!first)
            control_give(&s->ctl, &none, 0, other, TAG_PAIR);
    }
}

/* A dissemination barrier for the n ranks in the array `ranks`, in which this rank has the index `me`. Reinfjell's
 * program LGate uses such a barrier. */
static void meet(const session *s, const int *ranks, int n, int me)
{
    char none, got;
    for (int step = 1; step < n; step *= 2)
        MPI_Sendrecv(&none, 0, MPI_BYTE, ranks[(me + step) % n], TAG_REPORT, &got, 0, MPI_BYTE, ranks[(me - step + n) % n], TAG_REPORT,
                     s->ctl.comm, MPI_STATUS_IGNORE);
}

/* Lets pairs of the n ranks exchange messages, one pair after another, with a barrier of all n ranks before
 * each pair. If `left` is 0, all pairs exchange. Otherwise one rank of each pair is among the first `left`
 * ranks, and the other one is not. */
static void one_by_one(const session *s, const int *ranks, int n, int left, int me, int times)
{
    for (int i = 0; i < (left ? left : n); i++)
        for (int j = left ? left : i + 1; j < n; j++) {
            meet(s, ranks, n, me);
            if (me == i || me == j)
                exchange(s, me == i, ranks[me == i ? j : i], times);
        }
    meet(s, ranks, n, me);
}

/* Measures all pairs in the order of Reinfjell's program LGate. First all groups, here the nodes, measure
 * their own pairs at the same time. Then groups are joined two by two. Source: Reinfjell (2023), 3.1.1. */
static void lgate(const session *s, int times)
{
    const world *w = &s->world;
    int n = 0, me = 0, size = s->ctl.size, each = size / w->nodes, *ranks = pairs_memory((size_t)size, sizeof *ranks);
    for (int node = 0; node < w->nodes; node++)
        for (int r = 0; r < size; r++)
            if (w->node[r] == node) {
                me = r == s->ctl.rank ? n : me;
                ranks[n++] = r;
            }
    int first = me / each * each;
    one_by_one(s, ranks + first, each, 0, me - first, times);
    for (int half = each; half < size; half *= 2) {
        first = me / (2 * half) * 2 * half;
        if (first + half < size)
            one_by_one(s, ranks + first, first + 2 * half < size ? 2 * half : size - first, half, me - first, times);
    }
    free(ranks);
}

static void tournament(const session *s, int times)
{
    int size = s->ctl.size, me = s->ctl.rank;
    for (int round = 0; round < size + size % 2 - 1; round++) {
        int other = pairs_partner(me, round, size);
        if (other >= 0)
            exchange(s, me < other, other, times);
    }
}

int main(int argc, char **argv)
{
    session *s = pairs_memory(1, sizeof *s);
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &s->ctl.comm);
    MPI_Comm_rank(s->ctl.comm, &s->ctl.rank);
    MPI_Comm_size(s->ctl.comm, &s->ctl.size);
    world_find(&s->world, &s->ctl);
    if (argc == 2) {
        measure(s, argv[1]);
    } else {
        control_barrier(&s->ctl);
        double took = seconds();
        (strcmp(argv[1], "lgate") == 0 ? lgate : tournament)(s, atoi(argv[2]));
        took = seconds() - took;
        control_max(&s->ctl, &took, 1);
        if (s->ctl.rank == 0)
            printf("%s,%d,%d,%.6f\n", argv[1], s->ctl.size, atoi(argv[2]), took);
    }
    MPI_Finalize();
    return 0;
}
