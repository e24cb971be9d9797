#include "channel.h"

#include <limits.h>
#include <stdlib.h>

/* After Nanri, Runtime Algorithm Selection of Collective Communication with RMA-based Monitoring Mechanism (2016), with puts
 * down a tree in place of messages that the others probe for, which may come late. */

enum { SLOTS = 256, WORD = 64 }; /* channels that a rank takes part in; bits of a word */
enum { COUNT, TOLD, NUMBERS };   /* of a slot */
enum { BELOW = 8 };              /* ranks that one rank tells */
enum { TRIALS = 4 };             /* of a window */

static MPI_Win window;
static int made, usable; /* by all ranks */
static int numbers[SLOTS * NUMBERS];
static uint64_t taken[SLOTS / WORD];

/* Whether a number that was put, and one that was added, are there after a call that waits for all: not each MPI library keeps
 * what it says. */
static int is_sound(MPI_Comm world)
{
    static const int one = 1;
    int rank, size, next, sound = 1;
    PMPI_Comm_rank(world, &rank);
    PMPI_Comm_size(world, &size);
    next = (rank + 1) % size;
    for (int k = 1; k <= TRIALS && sound; k++) {
        sound = PMPI_Put(&k, 1, MPI_INT, next, TOLD, 1, MPI_INT, window) == MPI_SUCCESS &&
                PMPI_Accumulate(&one, 1, MPI_INT, next, COUNT, 1, MPI_INT, MPI_SUM, window) == MPI_SUCCESS &&
                PMPI_Win_flush(next, window) == MPI_SUCCESS;
        PMPI_Allreduce(MPI_IN_PLACE, &sound, 1, MPI_INT, MPI_MIN, world);
        PMPI_Win_sync(window);
        sound = sound && numbers[TOLD] == k && numbers[COUNT] == k;
        PMPI_Allreduce(MPI_IN_PLACE, &sound, 1, MPI_INT, MPI_MIN, world);
    }
    return sound;
}

void channels_start(MPI_Comm world)
{
    MPI_Errhandler handler;
    PMPI_Comm_get_errhandler(world, &handler);
    PMPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    made = PMPI_Win_create(numbers, sizeof numbers, sizeof *numbers, MPI_INFO_NULL, world, &window) == MPI_SUCCESS;
    PMPI_Comm_set_errhandler(world, handler);
    PMPI_Errhandler_free(&handler);
    if (made)
        made = PMPI_Win_set_errhandler(window, MPI_ERRORS_RETURN) == MPI_SUCCESS && PMPI_Win_lock_all(MPI_MODE_NOCHECK, window) == MPI_SUCCESS;
    PMPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_INT, MPI_MIN, world);
    usable = made && is_sound(world);
}

void channels_end(void)
{
    if (!made)
        return;
    made = usable = 0;
    PMPI_Win_unlock_all(window);
    PMPI_Win_free(&window);
}

static int level_of(int r)
{
    int level = 0;
    for (; r > 0; level++)
        r = (r - 1) / BELOW;
    return level;
}

/* The first slot that no rank has taken; SLOTS: there is none. */
static int first_free(MPI_Comm on)
{
    uint64_t all[SLOTS / WORD];
    int slot = 0;
    if (PMPI_Allreduce(taken, all, SLOTS / WORD, MPI_UINT64_T, MPI_BOR, on) != MPI_SUCCESS)
        return SLOTS;
    while (slot < SLOTS && all[slot / WORD] >> slot % WORD & 1)
        slot++;
    return slot;
}

static void take(channel *c, MPI_Comm on, int slot)
{
    int n, *members = comm_members(on, &n);
    PMPI_Comm_rank(on, &c->rank);
    c->root = members[0];
    c->below = need(BELOW, sizeof *c->below);
    for (int r = c->rank * BELOW + 1; r <= c->rank * BELOW + BELOW && r < n; r++)
        c->below[c->tells++] = members[r];
    free(members);
    c->level = level_of(c->rank);
    c->depth = level_of(n - 1);
    c->slot = slot;
    c->open = 1;
    taken[slot / WORD] |= (uint64_t)1 << slot % WORD;
    numbers[slot * NUMBERS + TOLD] = -1;
    c->counted = numbers[slot * NUMBERS + COUNT];
}

int channel_open(channel *c, MPI_Comm on)
{
    if (!usable || c->open || c->refused)
        return usable && c->open;
    int slot = first_free(on);
    if (slot == SLOTS)
        c->refused = 1;
    else
        take(c, on, slot);
    return c->open;
}

void channel_close(channel *c)
{
    if (c->open)
        taken[c->slot / WORD] &= ~((uint64_t)1 << c->slot % WORD);
    free(c->below);
    *c = (channel){0};
}

/* The rank that saw a change waits only after the next call, in which the root took part, that it has reached it. */
static void tell_root(channel *c, int step, int saw)
{
    static const int one = 1;
    if (step == 0 && saw && c->sent == 0) {
        PMPI_Accumulate(&one, 1, MPI_INT, c->root, c->slot * NUMBERS + COUNT, 1, MPI_INT, MPI_SUM, window);
        c->sent = 1;
    } else if (step == 1 && c->sent == 1) {
        PMPI_Win_flush(c->root, window);
        c->sent = 2;
    }
}

static void tell_below(const channel *c, int *told)
{
    for (int i = 0; i < c->tells; i++)
        PMPI_Put(told, 1, MPI_INT, c->below[i], c->slot * NUMBERS + TOLD, 1, MPI_INT, window);
    for (int i = 0; i < c->tells; i++)
        PMPI_Win_flush(c->below[i], window);
}

int channel_step(channel *c, int saw)
{
    int step = (int)(c->calls % (uint64_t)(c->depth + 2)), period = (int)(c->calls / (uint64_t)(c->depth + 2) % INT_MAX);
    int *told = &numbers[c->slot * NUMBERS + TOLD];
    c->calls++;
    tell_root(c, step, saw);
    if (step == 0)
        return 0;
    PMPI_Win_sync(window);
    if (c->rank == 0 && step == 1 && told[COUNT - TOLD] != c->counted) {
        c->counted = told[COUNT - TOLD];
        *told = period;
    }
    int heard = *told == period;
    if (heard && step == c->level + 1)
        tell_below(c, told);
    if (step <= c->depth || !heard)
        return 0;
    c->sent = 0;
    return 1;
}
