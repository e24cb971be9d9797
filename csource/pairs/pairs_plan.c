#include "pairs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The plan is text with one statement in each line. The first one is
 *     tutti-pairs-plan 1
 * the last one is
 *     end
 * and between them, each setting once and before all pairs:
 *     nodes N              nodes that the world must have
 *     ppn N                ranks of each node
 *     bytes N              of the large message; the small one is empty
 *     passes N             largest number of times that a stage measures every pair
 *     repetitions N        times that each time of an example is measured; its median counts
 *     precision X          a stage ends when a pair's time has at most this relative error
 *     seconds S            after which a stage ends
 *     inside yes|no        whether all pairs of ranks of each node are measured
 *     between N            rounds of pairs of the first ranks of the nodes: with as many rounds
 *                          as nodes all pairs are measured
 *     pair ROUND A B       hosts whose first ranks are a pair of the round, in ascending order from 0
 *     example CLASS A I B J   measures all parameters of a pair: ranks number I and J of hosts A
 *                          and B. Of each class, whose lines are together, only the first pair in
 *                          the world is measured. Consecutive examples without a common node are
 *                          measured at the same time
 * Pairs with hosts outside the world are ignored. */

#define HEAD "tutti-pairs-plan 1"
#define SETTINGS 0x1ff /* a bit for each setting */

typedef struct {
    pairs_plan *p;
    const world *w;
    const char *path;
    int number; /* of the line */
    char *why;
    unsigned seen;
    int ended;
} reader;

int pairs_asked(const char *text) { return strncmp(text, HEAD "\n", sizeof HEAD) == 0; }

static int refuse(const reader *r, const char *said)
{
    snprintf(r->why, WHY, "%s:%d: \"%.100s\": want a statement of a plan for pairs", r->path, r->number, said);
    return -1;
}

static int read_setting(reader *r, const char *said)
{
    static const char *const forms[] = {
        "nodes %lf%n", "ppn %lf%n", "bytes %lf%n", "passes %lf%n", "precision %lf%n", "seconds %lf%n", "between %lf%n", "repetitions %lf%n",
    };
    pairs_plan *p = r->p;
    double value = 0;
    unsigned i = 0, n = sizeof forms / sizeof *forms;
    int end = 0;
    while (i < n && (sscanf(said, forms[i], &value, &end) != 1 || said[end] != 0))
        i++;
    if (i == n || r->seen & 1u << i || !(value >= 0) || value > INT_MAX)
        return refuse(r, said);
    r->seen |= 1u << i;
    switch (i) {
    case 0: p->nodes = (int)value; break;
    case 1: p->ppn = (int)value; break;
    case 2: p->bytes = (int)value; break;
    case 3: p->passes = (int)value; break;
    case 4: p->precision = value; break;
    case 5: p->seconds = value; break;
    case 6: p->between = (int)value; break;
    default: p->repetitions = (int)value;
    }
    return 0;
}

static int read_inside(reader *r, const char *said)
{
    r->p->inside = strcmp(said, "inside yes") == 0;
    if (r->seen & 0x100 || (!r->p->inside && strcmp(said, "inside no") != 0))
        return refuse(r, said);
    r->seen |= 0x100;
    return 0;
}

static int node_called(const world *w, const char *host)
{
    for (int i = 0; i < w->nodes; i++)
        if (strcmp(w->place[w->leader[i]].host, host) == 0)
            return i;
    return -1;
}

/* Returns the i-th rank of a node, counted from 0, or -1 if there is none. */
static int rank_on(const world *w, int node, int i)
{
    if (node < 0 || i < 0 || i >= w->ranks[node])
        return -1;
    int r = 0;
    while (w->node[r] != node || i-- > 0)
        r++;
    return r;
}

/* Enlarges the memory of a list by one element. Ends the job if there is no memory. */
static void *longer(void *list, int n, size_t bytes)
{
    void *more = realloc(list, ((size_t)n + 1) * bytes);
    if (more == NULL) {
        fprintf(stderr, "tutti-native: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return more;
}

static int read_pair(reader *r, const char *said)
{
    pairs_plan *p = r->p;
    char a[MAX_NAME], b[MAX_NAME];
    int round = 0, end = 0, last = p->nmeetings ? p->meetings[p->nmeetings - 1].round : 0;
    if (sscanf(said, "pair %d %127s %127s%n", &round, a, b, &end) != 3 || said[end] != 0 || round < last)
        return refuse(r, said);
    meeting m = {round, node_called(r->w, a), node_called(r->w, b)};
    if (m.a < 0 || m.b < 0 || m.a == m.b)
        return 0;
    for (int i = p->nmeetings - 1; i >= 0 && p->meetings[i].round == round; i--) {
        const meeting *o = &p->meetings[i];
        if (o->a == m.a || o->a == m.b || o->b == m.a || o->b == m.b)
            return refuse(r, said);
    }
    p->meetings = longer(p->meetings, p->nmeetings, sizeof m);
    p->meetings[p->nmeetings++] = m;
    return 0;
}

static int read_example(reader *r, const char *said)
{
    pairs_plan *p = r->p;
    example e;
    char a[MAX_NAME], b[MAX_NAME];
    int i = 0, j = 0, end = 0;
    if (sscanf(said, "example %127s %127s %d %127s %d%n", e.class, a, &i, b, &j, &end) != 5 || said[end] != 0)
        return refuse(r, said);
    e.a = rank_on(r->w, node_called(r->w, a), i);
    e.b = rank_on(r->w, node_called(r->w, b), j);
    if (e.a < 0 || e.b < 0 || e.a == e.b)
        return 0;
    if (p->nexamples > 0 && strcmp(p->examples[p->nexamples - 1].class, e.class) == 0)
        return 0;
    p->examples = longer(p->examples, p->nexamples, sizeof e);
    p->examples[p->nexamples++] = e;
    return 0;
}

static int read_line(reader *r, const char *said)
{
    if (r->ended)
        return *said ? refuse(r, said) : 0;
    if (strncmp(said, "pair ", 5) == 0)
        return read_pair(r, said);
    if (strncmp(said, "example ", 8) == 0)
        return read_example(r, said);
    if (strncmp(said, "inside ", 7) == 0)
        return read_inside(r, said);
    r->ended = strcmp(said, "end") == 0;
    return r->ended ? 0 : read_setting(r, said);
}

/* Parses the text of a plan and overwrites the text. All ranks get the same result. */
int pairs_parse(pairs_plan *p, const world *w, const char *path, char *text, char *why)
{
    reader r = {p, w, path, 1, why, 0, 0};
    memset(p, 0, sizeof *p);
    text += sizeof HEAD; /* and the end of its line */
    while (text != NULL) {
        char *next = strchr(text, '\n');
        if (next != NULL)
            *next++ = 0;
        r.number++;
        if (read_line(&r, text))
            return -1;
        text = next;
    }
    if (r.ended && r.seen == SETTINGS && p->nodes > 0 && p->ppn > 0 && p->repetitions > 0 && p->repetitions <= MOST_REPETITIONS)
        return 0;
    snprintf(why, WHY, "%s: want all nine settings, at least one node, rank and repetition, and end in the last line", path);
    return -1;
}
