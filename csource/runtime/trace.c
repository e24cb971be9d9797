#include "clock.h"
#include "comm.h"
#include "trace.h"
#include "tutti.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLOTS = 1 << 14, FULL = SLOTS / 4 * 3 };
enum { TAG_COUNT = 1, TAG_ROWS };

/* A slot of the hash table counts the calls of one collective with one size, on communicators of one shape. */
typedef struct {
    const shape *shape; /* NULL: the slot is free */
    uint64_t bytes, calls, ticks, shortest, longest;
    int what; /* collective and form */
} slot;

enum { ROWS = COLLECTIVES * CALL_FORMS }; /* the number of a row is that of its collective plus COLLECTIVES times that of the form */

static slot *slots, *last[ROWS]; /* 896 KiB; last: the slot of each collective's last call */
static int used;
static char guard; /* lock of these variables */
static int rounding; /* whether sizes are rounded down to powers of two from now on */
static uint64_t lost;

enum { FIRST_FLUSH = 1, MOST_FLUSH = 256 }; /* seconds between two writes of the file, which double */

uint64_t trace_next = UINT64_MAX;
static const char *flush_path;
static int flush_seconds = FIRST_FLUSH;

static void flush_after(uint64_t t) { __atomic_store_n(&trace_next, t, __ATOMIC_RELAXED); }

static void next_flush(uint64_t now)
{
    double period = clock_period();
    flush_after(period > 0 ? now + (uint64_t)(flush_seconds / period) : now);
    if (flush_seconds < MOST_FLUSH)
        flush_seconds *= 2;
}

static void new_slots(void)
{
    static slot none;
    slots = allocate(SLOTS, sizeof *slots);
    for (int i = 0; i < ROWS; i++)
        last[i] = &none;
}

void trace_start(const char *path)
{
    new_slots();
    flush_path = path;
    if (path != NULL)
        next_flush(ticks());
}

static uint64_t power_of_two(uint64_t n) { return n == 0 ? 0 : (uint64_t)1 << (63 - __builtin_clzll(n)); }

/* Returns the slot of the calls with this collective, shape and size, or a free slot for them. */
static slot *find(slot *in, int what, const shape *at, uint64_t bytes)
{
    uint64_t hash = ((uint64_t)(uintptr_t)at / sizeof *at * ROWS + (uint64_t)what) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ bytes) * 0xbf58476d1ce4e5b9u;
    slot *s = &in[hash >> 50]; /* 14 bits */
    while (s->shape != NULL && (s->shape != at || s->bytes != bytes || s->what != what))
        s = s == &in[SLOTS - 1] ? in : s + 1;
    return s;
}

/* Rounds all sizes down to powers of two. It is called when there are too many different sizes. */
static void coarsen(void)
{
    slot *old = slots;
    rounding = 1;
    used = 0;
    new_slots();
    for (slot *s = old; s < old + SLOTS; s++) {
        if (s->shape == NULL)
            continue;
        slot *to = find(slots, s->what, s->shape, power_of_two(s->bytes));
        if (to->shape == NULL) {
            used++;
            *to = *s;
            to->bytes = power_of_two(s->bytes);
            continue;
        }
        to->calls += s->calls;
        to->ticks += s->ticks;
        to->shortest = s->shortest < to->shortest ? s->shortest : to->shortest;
        to->longest = s->longest > to->longest ? s->longest : to->longest;
    }
    free(old);
}

static slot *slot_for(int what, const shape *at, uint64_t bytes)
{
    slot *s = find(slots, what, at, bytes);
    if (s->shape == NULL && used == FULL && !rounding) {
        coarsen();
        return NULL;
    }
    if (s->shape == NULL && used == FULL)
        return NULL;
    if (s->shape == NULL) {
        slot fresh = {at, bytes, 0, 0, UINT64_MAX, 0, what};
        *s = fresh;
        used++;
    }
    return last[what] = s;
}

void trace_add(collective of, call_form how, const shape *at, size_t bytes, uint64_t took)
{
    int what = (int)of + COLLECTIVES * (int)how;
    lock(&guard);
    uint64_t n = rounding ? power_of_two(bytes) : bytes;
    slot *s = last[what];
    if (s->shape != at || s->bytes != n)
        s = slot_for(what, at, n);
    if (s == NULL && rounding)
        s = slot_for(what, at, power_of_two(bytes));
    lost += s == NULL;
    if (s != NULL) {
        s->calls++;
        s->ticks += took;
        s->shortest = took < s->shortest ? took : s->shortest;
        s->longest = took > s->longest ? took : s->longest;
    }
    unlock(&guard);
}

static int tracing_ranks(const shape *s) { return (s->ranks - 1) / trace_every + 1; }

/* A row is a line of the trace file. If n ranks trace a communicator, each of them counts a call as 1 / n. The sum of
 * the counts over all ranks is therefore the number of calls. Likewise, the sum of the times contains each call's
 * mean time once. */
typedef struct {
    int what; /* collective and form */
    int nodes, ppn;
    uint64_t bytes;
    double calls, seconds, shortest, longest;
} row;

typedef struct {
    row *rows;
    int n;
} table;

static int order(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->what != y->what)
        return x->what < y->what ? -1 : 1;
    if (x->nodes != y->nodes)
        return x->nodes < y->nodes ? -1 : 1;
    if (x->ppn != y->ppn)
        return x->ppn < y->ppn ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static void add_row(row *to, const row *r)
{
    to->calls += r->calls;
    to->seconds += r->seconds;
    to->shortest = r->shortest < to->shortest ? r->shortest : to->shortest;
    to->longest = r->longest > to->longest ? r->longest : to->longest;
}

/* Sorts the rows and merges equal ones. */
static void add_up(table *t)
{
    int kept = 0;
    qsort(t->rows, (size_t)t->n, sizeof *t->rows, order);
    for (int i = 0; i < t->n; i++)
        if (kept > 0 && order(&t->rows[kept - 1], &t->rows[i]) == 0) {
            add_row(&t->rows[kept - 1], &t->rows[i]);
        } else {
            t->rows[kept++] = t->rows[i];
        }
    t->n = kept;
}

/* Times of the whole program, in seconds: since the start of libtutti, and in blocking collectives. */
typedef struct {
    double run, collectives;
} program_time;

/* Returns the program time of this rank. Each blocking call counts as often as needed to include the ranks that do not
 * trace its communicator: the sums over all ranks are right. If `whole` is 1, only this rank's own calls count. */
static program_time own_time(int whole)
{
    program_time t = {clock_passed(), 0};
    double period = clock_period();
    for (const slot *s = slots; s < slots + SLOTS; s++)
        if (s->shape != NULL && s->what / COLLECTIVES == BLOCKING)
            t.collectives += (double)s->ticks * period * (whole ? 1 : s->shape->ranks / (double)tracing_ranks(s->shape));
    return t;
}

/* Returns the rows of this rank's calls. If `whole` is 1, a call counts as one call. Otherwise it counts as 1 / n if n
 * ranks trace the communicator. */
static table own_rows(int whole)
{
    table t = {allocate((size_t)used + 1, sizeof *t.rows), 0};
    double period = clock_period();
    for (const slot *s = slots; s < slots + SLOTS; s++)
        if (s->shape != NULL) {
            double share = whole ? 1 : 1.0 / tracing_ranks(s->shape);
            row r = {s->what, s->shape->nodes, s->shape->ppn, s->bytes, (double)s->calls * share, (double)s->ticks * period * share,
                     (double)s->shortest * period, (double)s->longest * period};
            t.rows[t.n++] = r;
        }
    add_up(&t);
    return t;
}

/* Receives the rows of another rank and merges them into a table. If there are too many rows, it rounds sizes down. */
static void take_rows(table *t, MPI_Comm world, int from)
{
    int n;
    PMPI_Recv(&n, 1, MPI_INT, from, TAG_COUNT, world, MPI_STATUS_IGNORE);
    row *both = allocate((size_t)(t->n + n) + 1, sizeof *both);
    memcpy(both, t->rows, (size_t)t->n * sizeof *both);
    PMPI_Recv(both + t->n, n * (int)sizeof *both, MPI_BYTE, from, TAG_ROWS, world, MPI_STATUS_IGNORE);
    free(t->rows);
    t->rows = both;
    t->n += n;
    add_up(t);
    if (t->n <= SLOTS)
        return;
    for (int i = 0; i < t->n; i++)
        t->rows[i].bytes = power_of_two(t->rows[i].bytes);
    add_up(t);
}

/* Merges the rows of all ranks on rank 0. Rows travel along a binomial tree. */
static table gather_rows(MPI_Comm world, int rank, int size)
{
    table t = own_rows(0);
    for (int bit = 1; bit < size; bit <<= 1) {
        if (rank & bit) {
            PMPI_Send(&t.n, 1, MPI_INT, rank - bit, TAG_COUNT, world);
            PMPI_Send(t.rows, t.n * (int)sizeof *t.rows, MPI_BYTE, rank - bit, TAG_ROWS, world);
            break;
        }
        if (rank + bit < size)
            take_rows(&t, world, rank + bit);
    }
    return t;
}

/* Creates a file for writing, and removes an earlier file or link of this name. Returns NULL after an error. */
static FILE *fresh(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return NULL;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    return file < 0 ? NULL : fdopen(file, "w");
}

/* Replaces the file atomically by the rows of a table, after a comment with the times of the program, which are means of
 * that many ranks. Returns 0 on success. */
static int write_rows(const char *path, const table *t, program_time mean, int ranks)
{
    size_t length = strlen(path);
    char *part = allocate(length + sizeof ".part", 1);
    memcpy(part, path, length);
    memcpy(part + length, ".part", sizeof ".part");
    FILE *f = fresh(part);
    int bad = f == NULL;
    if (f != NULL) {
        fprintf(f, "# ranks=%d,run_seconds=%.9g,collective_seconds=%.9g\n", ranks, mean.run, mean.collectives);
        fprintf(f, "collective,nodes,ppn,msg_bytes,calls,seconds,shortest,longest\n");
        for (const row *r = t->rows; r < t->rows + t->n; r++)
            fprintf(f, "%s%s%s,%d,%d,%llu,%.10g,%.9g,%.9g,%.9g\n", r->what / COLLECTIVES == NONBLOCKING ? "i" : "",
                    collective_name((collective)(r->what % COLLECTIVES)), r->what / COLLECTIVES == PERSISTENT ? "_init" : "", r->nodes, r->ppn, (unsigned long long)r->bytes,
                    r->calls, r->seconds, r->shortest, r->longest);
        bad = ferror(f);
        bad |= fclose(f) != 0 || rename(part, path) != 0;
    }
    free(part);
    return bad;
}

/* Writes the calls of this rank so far into a file that remains if the job is killed. Errors are reported only at
 * the end of the job. */
void trace_flush(uint64_t now)
{
    lock(&guard);
    int due = now > __atomic_load_n(&trace_next, __ATOMIC_RELAXED);
    table t = {0};
    program_time own = {0};
    if (due) {
        flush_after(UINT64_MAX);
        t = own_rows(1);
        own = own_time(1);
    }
    unlock(&guard);
    if (due && write_rows(flush_path, &t, own, 1) == 0)
        next_flush(now);
    free(t.rows);
}

void trace_write(MPI_Comm world, const char *path)
{
    int rank, size;
    uint64_t all = 0;
    PMPI_Comm_rank(world, &rank);
    PMPI_Comm_size(world, &size);
    program_time own = own_time(0), mean = {0};
    table t = gather_rows(world, rank, size);
    PMPI_Reduce(&lost, &all, 1, MPI_UINT64_T, MPI_SUM, 0, world);
    PMPI_Reduce(&own, &mean, 2, MPI_DOUBLE, MPI_SUM, 0, world);
    mean.run /= size;
    mean.collectives /= size;
    if (rank == 0 && write_rows(path, &t, mean, size))
        fprintf(stderr, "tutti: %s: %s: nothing is traced\n", path, strerror(errno));
    else if (rank == 0 && all > 0)
        fprintf(stderr, "tutti: %s: %llu calls of ranks are missing: too many layouts\n", path, (unsigned long long)all);
    free(t.rows);
    free(slots);
}
