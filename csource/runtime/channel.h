/* A channel announces to all ranks of a communicator that one of them detected something, so that all learn of it after the
 * same collective call. It uses one-sided communication, and sends nothing while there is nothing to announce. It suits
 * only collectives that no rank leaves before all ranks have entered.
 *
 * Calls are counted in periods of D + 2, where D is the depth of a tree of the ranks. After the first call of a period, each
 * rank that detected something adds 1 to a counter of the root. After the second call the root looks at the counter; if it has
 * grown, the root writes the number of the period to the ranks below it. After each further call the next level of the tree
 * does the same. After the last call all ranks look. A rank completes its writes before it enters the next call, so all ranks
 * find the same. */
#ifndef TUTTI_CHANNEL_H
#define TUTTI_CHANNEL_H

#include "tutti.h"

#pragma GCC visibility push(hidden)

/* Creates and frees the window of all channels; collective. Without a window no channel opens. */
void channels_start(MPI_Comm world);
void channels_end(void);

typedef enum { UNSENT, ADDED, COMPLETED } channel_add;

/* Zeroes are a closed channel. */
typedef struct {
    int open, refused; /* refused: all slots of the window are in use */
    int slot, rank, level, depth;
    int root, children, *child; /* ranks in the world: of the root, and of those below this rank */
    int count;                  /* the root's counter when it looked last */
    channel_add add;            /* of this rank to the counter */
    uint64_t calls;
} channel;

/* Opens a channel at the first call; collective. Returns whether it is open. */
int channel_open(channel *c, MPI_Comm on);
void channel_close(channel *c);

/* Comes after each collective call. detected: this rank has something to announce. Returns whether all ranks learn of it now. */
int channel_step(channel *c, int detected);

#pragma GCC visibility pop

#endif
