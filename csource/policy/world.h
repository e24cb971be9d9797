/* The clock and the communicators of a simulated job. */
#ifndef TUTTI_WORLD_H
#define TUTTI_WORLD_H

#include "comm.h"

void world_wait(double seconds);        /* advances the clock */
comm *world_with(int nodes, int ppn); /* the communicator of all ranks of a job with that layout */

#endif
