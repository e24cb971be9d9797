/* A channel announces to all ranks of a communicator that one of them detected something. All ranks learn of the
 * announcement after the same collective call. The channel uses one-sided communication, and sends nothing while
 * there is nothing to announce. It suits only collectives that no rank leaves before all ranks have entered.
 *
 * Calls are counted in periods of D + 2, where D is the depth of a tree of the ranks. After the first call of a
 * period, each rank that detected something adds 1 to a counter of the root. After the second call the root reads the
 * counter. If the counter has grown, the root writes the number of the period to the ranks below it. After each
 * further call the next level of the tree does the same. After the last call all ranks read the number. A rank
 * completes its writes before it enters the next call, so all ranks read the same number. */
#ifndef TUTTI_CHANNEL_H
#define TUTTI_CHANNEL_H

#include "tutti.h"

#pragma GCC visibility push(hidden)

/* Create and free the window that all channels use. All ranks must call these functions. If there is no window, no
 * channel opens. */
void channels_start(MPI_Comm world);
void channels_end(void);

typedef enum { UNSENT, ADDED, COMPLETED } channel_add;

/* A channel whose bytes are all zero is closed. */
typedef struct {
    int open, refused; /* refused: all slots of the window are in use */
    int slot, rank, level, depth;
    int root, children, *child; /* ranks in the world: of the root, and of those below this rank */
    int count;                  /* value of the root's counter when the root last read it */
    channel_add add;            /* the state of this rank's addition to the counter */
    uint64_t calls;
} channel;

/* Opens a channel when it is called for the first time. All ranks of the communicator must call it. Returns
 * whether the channel is open. */
int channel_open(channel *c, MPI_Comm on);
void channel_close(channel *c);

/* Counts a collective call, and must be called after each one. The parameter `detected` is 1 if this rank has
 * something to announce. Returns 1 if all ranks learn of an announcement at this call. */
int channel_step(channel *c, int detected);

#pragma GCC visibility pop

#endif
