#include "bytes.h"
#include "comm.h"
#include "repository.h"

#include <stdlib.h>

/* Schedules the messages of an alltoallv in phases, in one of two ways (greedily, or in the phases of an
 * alltoall). The first call with a pattern of messages gathers the pattern from all ranks, so users need not
 * describe it. Sources: Karwande, Yuan and Lowenthal, CC-MPI: a compiled communication capable MPI prototype for
 * Ethernet switched clusters (2003); Faraj and Yuan, Automatic generation and tuning of MPI collective
 * communication routines (2005), 3.1. */

/* A pattern also serves calls whose sizes differ from its own by less than a tenth, on each rank. Its schedule is
 * free of contention for any sizes. With other sizes, phases take at most about a tenth longer. */
enum { DIFFERENCE = 10 };

enum { MOST_PATTERNS = 16 }; /* of a communicator */

struct pattern {
    phases_of_pattern phases;
    enum way way;
    uint64_t *sizes; /* of this rank's messages to each rank, and from each rank */
    struct pattern *next;
};

static uint64_t *sizes_of(const call *c)
{
    uint64_t *n = memory(2 * (size_t)c->size * sizeof *n);
    for (int r = 0; r < c->size; r++) {
        n[r] = bytes_of(c->sends.at[r].count, c->sends.type);
        n[c->size + r] = bytes_of(c->receives.at[r].count, c->receives.type);
    }
    return n;
}

static int similar(const uint64_t *known, const uint64_t *sizes, int n)
{
    uint64_t all = 0, differ = 0;
    for (int i = 0; i < n; i++) {
        all += known[i];
        differ += known[i] > sizes[i] ? known[i] - sizes[i] : sizes[i] - known[i];
    }
    return differ == 0 || differ < all / DIFFERENCE;
}

/* Returns a known pattern (message sizes of an alltoallv) that fits the call on all ranks, or NULL. All ranks know the
 * same patterns. */
static const pattern *find(const call *c, enum way by, const uint64_t *sizes)
{
    unsigned fit = 0, bit = 1;
    for (const pattern *p = c->layout->patterns; p != NULL; p = p->next, bit *= 2)
        if (p->way == by && similar(p->sizes, sizes, 2 * c->size))
            fit |= bit;
    note(PMPI_Allreduce(MPI_IN_PLACE, &fit, 1, MPI_UNSIGNED, MPI_BAND, c->comm));
    for (const pattern *p = c->layout->patterns; p != NULL; p = p->next, fit /= 2)
        if (fit % 2 != 0)
            return p;
    return NULL;
}

/* A message between two ranks. The function longer_first gives the order in which messages are assigned to phases. */
typedef struct {
    uint64_t bytes;
    int from, to;
} message;

static int longer_first(const void *a, const void *b)
{
    const message *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->from != y->from ? x->from - y->from : x->to - y->to;
}

/* Writes the links of a message: those of its two ranks, and one for each switch or node that it leaves or enters. */
static int links_of(const layout *l, const message *m, int *links)
{
    int n = 0, from = l->position[m->from], to = l->position[m->to];
    for (int level = 0; level < l->levels; level++)
        if (group_of(l, level, from) != group_of(l, level, to)) {
            links[n++] = 2 * (level * l->size + group_of(l, level, from));
            links[n++] = 2 * (level * l->size + group_of(l, level, to)) + 1;
        }
    links[n++] = 2 * (l->levels * l->size + m->from);
    links[n++] = 2 * (l->levels * l->size + m->to) + 1;
    return n;
}

/* Puts each message, the longest first, into the first phase in which no other message uses one of its links. Returns
 * the number of phases. The array `busy` holds a bit for each link and phase. If at most `most` messages use
 * a link, the number of phases is at most `most` times the number of links of a message. */
static int greedy(const layout *l, message *all, int n, int *phase)
{
    int nlinks = 2 * (l->levels + 1) * l->size, most = 0, phases = 0;
    int *load = allocate((size_t)nlinks, sizeof *load), *links = memory(2 * ((size_t)l->levels + 1) * sizeof *links);
    qsort(all, (size_t)n, sizeof *all, longer_first);
    for (int i = 0; i < n; i++)
        for (int k = links_of(l, &all[i], links) - 1; k >= 0; k--)
            if (++load[links[k]] > most)
                most = load[links[k]];
    size_t words = (size_t)most * 2 * ((size_t)l->levels + 1) / 64 + 1;
    uint64_t *busy = allocate((size_t)nlinks * words, sizeof *busy);
    for (int i = 0; i < n; i++) {
        int k = links_of(l, &all[i], links);
        uint64_t taken = ~(uint64_t)0;
        size_t w = 0;
        for (; ~taken == 0; w++) {
            taken = 0;
            for (int j = 0; j < k; j++)
                taken |= busy[(size_t)links[j] * words + w];
        }
        int bit = __builtin_ctzll(~taken), at = (int)(w - 1) * 64 + bit;
        for (int j = 0; j < k; j++)
            busy[(size_t)links[j] * words + w - 1] |= (uint64_t)1 << bit;
        phase[all[i].from * l->size + all[i].to] = at;
        phases = at >= phases ? at + 1 : phases;
    }
    free(load);
    free(links);
    free(busy);
    return phases;
}

/* Gives each message the phase that it has in a scheduled alltoall. Phases without a message are left out. */
static int from_alltoall(const layout *l, const message *all, int n, int *phase)
{
    int phases = alltoall_phases(l, phase), *number = allocate((size_t)phases + 1, sizeof *number), used = 0;
    for (int i = 0; i < n; i++)
        number[phase[all[i].from * l->size + all[i].to] + 1] = 1;
    for (int k = 1; k <= phases; k++)
        number[k] = number[k] ? ++used : 0;
    for (int i = 0; i < l->size * l->size; i++)
        phase[i] = phase[i] < 0 || number[phase[i] + 1] == 0 ? -1 : number[phase[i] + 1] - 1;
    free(number);
    return used;
}

/* Gathers the pattern of a call's message sizes and schedules it. Forgets the oldest pattern if there are too many. */
static const pattern *learn(const call *c, enum way by, uint64_t *sizes)
{
    size_t size = (size_t)c->size;
    pattern *p = allocate(1, sizeof *p), **old = &c->layout->patterns;
    uint64_t *matrix = memory(size * size * sizeof *matrix);
    message *all = memory(size * size * sizeof *all);
    int *phase = memory(size * size * sizeof *phase), n = 0;
    note(PMPI_Allgather(sizes, c->size, MPI_UINT64_T, matrix, c->size, MPI_UINT64_T, c->comm));
    for (int i = 0; i < c->size * c->size; i++) {
        phase[i] = -1;
        if (matrix[i] > 0 && i / c->size != i % c->size)
            all[n++] = (message){matrix[i], i / c->size, i % c->size};
    }
    *p = (pattern){{0, allocate(2 * size, sizeof(int))}, by, sizes, c->layout->patterns};
    p->phases.n = by == GREEDY ? greedy(c->layout, all, n, phase) : from_alltoall(c->layout, all, n, phase);
    for (int r = 0; r < c->size; r++) {
        int to = phase[c->rank * c->size + r], from = phase[r * c->size + c->rank];
        p->phases.of[r] = to < 0 ? p->phases.n : to;
        p->phases.of[c->size + r] = from < 0 ? p->phases.n : from;
    }
    free(matrix);
    free(all);
    free(phase);
    c->layout->patterns = p;
    for (int k = 0; k < MOST_PATTERNS && *old != NULL; k++)
        old = &(*old)->next;
    patterns_free(*old);
    *old = NULL;
    return p;
}

const phases_of_pattern *pattern_phases(const call *c, enum way by)
{
    uint64_t *sizes = sizes_of(c);
    const pattern *p = find(c, by, sizes);
    if (p == NULL)
        return &learn(c, by, sizes)->phases;
    free(sizes);
    return &p->phases;
}

void patterns_free(pattern *p)
{
    while (p != NULL) {
        pattern *next = p->next;
        free(p->phases.of);
        free(p->sizes);
        free(p);
        p = next;
    }
}
