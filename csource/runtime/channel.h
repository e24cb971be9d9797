/* A way to tell all ranks of a communicator of something that one saw, so that all hear of it after the same call, in a window of
 * the world, by RMA: nothing is sent while nobody saw anything. For calls that no rank leaves before all have come, alone.
 *
 * After calls of a period of D + 2, D being the depth of a tree of the ranks: after the first, ranks that saw something add to a
 * number of the root; after the next the root looks, and where the number has grown puts that of the period into the ranks
 * below; these do so after the next call, and so on; after the last call all look. Puts are complete before a rank goes on to
 * the next call, so that all who look find the same. */
#ifndef TUTTI_CHANNEL_H
#define TUTTI_CHANNEL_H

#include "tutti.h"

#pragma GCC visibility push(hidden)

void channels_start(MPI_Comm world); /* collective; without it, or a window, no channel opens */
void channels_end(void);             /* likewise */

typedef struct {
    int open, refused; /* refused: there is no room for it */
    int slot, rank, level, depth;
    int root, tells, *below; /* ranks of the world: that hears first, and that this one tells */
    int counted;             /* the root's number when it looked last */
    int sent;                /* 1: to the root; 2: and has reached it */
    uint64_t calls;
} channel; /* zeroes: not open yet */

/* Whether it is open; it opens at the first time, when there can be one. Collective. */
int channel_open(channel *c, MPI_Comm on);
void channel_close(channel *c);

/* After a call, whether all ranks hear of something now; saw: this one wants them to. */
int channel_step(channel *c, int saw);

#pragma GCC visibility pop

#endif
