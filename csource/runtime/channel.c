#include "channel.h"
#include "comm.h"

#include <limits.h>
#include <stdlib.h>

/* Source: Nanri, Runtime Algorithm Selection of Collective Communication with RMA-based Monitoring Mechanism
 * (2016). In this source, ranks probe for messages, which may arrive late. Here, ranks write announcements into
 * the memory of the ranks below them in a tree. */

enum { SLOTS = 256, WORD_BITS = 64 };      /* SLOTS: channels that a rank can have open */
enum { COUNTER, PERIOD, NUMBERS_OF_SLOT }; /* PERIOD: of the last announcement */
enum { CHILDREN = 8 };                     /* of a rank in the tree */
enum { TRIALS = 4 };                       /* tests of a new window */

static MPI_Win window;
static int created, usable; /* the same on all ranks */
static int numbers[SLOTS * NUMBERS_OF_SLOT];
static uint64_t used_slots[SLOTS / WORD_BITS];

/* Tests the one-sided operations put and accumulate. Their results must be visible after a collective that all
 * ranks have entered, which is not the case in some MPI libraries. */
static int works(MPI_Comm world)
{
    static const int one = 1;
    int rank, size, next, ok = 1;
    PMPI_Comm_rank(world, &rank);
    PMPI_Comm_size(world, &size);
    next = (rank + 1) % size;
    for (int k = 1; k <= TRIALS && ok; k++) {
        ok = PMPI_Put(&k, 1, MPI_INT, next, PERIOD, 1, MPI_INT, window) == MPI_SUCCESS &&
             PMPI_Accumulate(&one, 1, MPI_INT, next, COUNTER, 1, MPI_INT, MPI_SUM, window) == MPI_SUCCESS &&
             PMPI_Win_flush(next, window) == MPI_SUCCESS;
        PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, world);
        PMPI_Win_sync(window);
        ok = ok && numbers[PERIOD] == k && numbers[COUNTER] == k;
        PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, world);
    }
    return ok;
}

void channels_start(MPI_Comm world)
{
    MPI_Errhandler handler;
    PMPI_Comm_get_errhandler(world, &handler);
    PMPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    created = PMPI_Win_create(numbers, sizeof numbers, sizeof *numbers, MPI_INFO_NULL, world, &window) == MPI_SUCCESS;
    PMPI_Comm_set_errhandler(world, handler);
    PMPI_Errhandler_free(&handler);
    if (created)
        created = PMPI_Win_set_errhandler(window, MPI_ERRORS_RETURN) == MPI_SUCCESS &&
                  PMPI_Win_lock_all(MPI_MODE_NOCHECK, window) == MPI_SUCCESS;
    PMPI_Allreduce(MPI_IN_PLACE, &created, 1, MPI_INT, MPI_MIN, world);
    usable = created && works(world);
}

void channels_end(void)
{
    if (!created)
        return;
    created = usable = 0;
    PMPI_Win_unlock_all(window);
    PMPI_Win_free(&window);
}

/* Returns the level of a rank in the tree. The root is rank 0 and has level 0. */
static int level_of(int r)
{
    int level = 0;
    for (; r > 0; level++)
        r = (r - 1) / CHILDREN;
    return level;
}

/* Returns the first slot that is free on all ranks of the communicator, or SLOTS if there is none. */
static int first_free(MPI_Comm on)
{
    uint64_t all[SLOTS / WORD_BITS];
    int slot = 0;
    if (PMPI_Allreduce(used_slots, all, SLOTS / WORD_BITS, MPI_UINT64_T, MPI_BOR, on) != MPI_SUCCESS)
        return SLOTS;
    while (slot < SLOTS && all[slot / WORD_BITS] >> slot % WORD_BITS & 1)
        slot++;
    return slot;
}

static void open_slot(channel *c, MPI_Comm on, int slot)
{
    int n, *members = comm_members(on, &n);
    PMPI_Comm_rank(on, &c->rank);
    c->root = members[0];
    c->child = allocate(CHILDREN, sizeof *c->child);
    for (int r = c->rank * CHILDREN + 1; r <= c->rank * CHILDREN + CHILDREN && r < n; r++)
        c->child[c->children++] = members[r];
    free(members);
    c->level = level_of(c->rank);
    c->depth = level_of(n - 1);
    c->slot = slot;
    c->open = 1;
    used_slots[slot / WORD_BITS] |= (uint64_t)1 << slot % WORD_BITS;
    numbers[slot * NUMBERS_OF_SLOT + PERIOD] = -1;
    c->count = numbers[slot * NUMBERS_OF_SLOT + COUNTER];
}

int channel_open(channel *c, MPI_Comm on)
{
    if (!usable || c->open || c->refused)
        return usable && c->open;
    int slot = first_free(on);
    if (slot == SLOTS)
        c->refused = 1;
    else
        open_slot(c, on, slot);
    return c->open;
}

void channel_close(channel *c)
{
    if (c->open)
        used_slots[c->slot / WORD_BITS] &= ~((uint64_t)1 << c->slot % WORD_BITS);
    free(c->child);
    *c = (channel){0};
}

/* Adds 1 to the root's counter in step 0 of a period (see channel.h) if this rank has detected something. Waits
 * for the end of this operation only in step 1, because the root has then entered MPI. */
static void add_to_counter(channel *c, int step, int detected)
{
    static const int one = 1;
    if (step == 0 && detected && c->add == UNSENT) {
        PMPI_Accumulate(&one, 1, MPI_INT, c->root, c->slot * NUMBERS_OF_SLOT + COUNTER, 1, MPI_INT, MPI_SUM, window);
        c->add = ADDED;
    } else if (step == 1 && c->add == ADDED) {
        PMPI_Win_flush(c->root, window);
        c->add = COMPLETED;
    }
}

static void write_to_children(const channel *c, int *period)
{
    for (int i = 0; i < c->children; i++)
        PMPI_Put(period, 1, MPI_INT, c->child[i], c->slot * NUMBERS_OF_SLOT + PERIOD, 1, MPI_INT, window);
    for (int i = 0; i < c->children; i++)
        PMPI_Win_flush(c->child[i], window);
}

int channel_step(channel *c, int detected)
{
    uint64_t length = (uint64_t)(c->depth + 2);
    int step = (int)(c->calls % length), period = (int)(c->calls / length % INT_MAX);
    int *own = &numbers[c->slot * NUMBERS_OF_SLOT];
    c->calls++;
    add_to_counter(c, step, detected);
    if (step == 0)
        return 0;
    PMPI_Win_sync(window);
    if (c->rank == 0 && step == 1 && own[COUNTER] != c->count) {
        c->count = own[COUNTER];
        own[PERIOD] = period;
    }
    int announced = own[PERIOD] == period;
    if (announced && step == c->level + 1)
        write_to_children(c, &own[PERIOD]);
    if (step <= c->depth || !announced)
        return 0;
    c->add = UNSENT;
    return 1;
}
