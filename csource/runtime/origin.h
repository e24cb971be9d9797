/* The MPI library for which libtutti is built. */
#ifndef TUTTI_ORIGIN_H
#define TUTTI_ORIGIN_H

#include "tutti.h"

#pragma GCC visibility push(hidden)

/* Ends the program if the executable or library that contains `address` uses another MPI library than libtutti. */
void check_origin(void *address);
int same_origin(const void *address); /* whether that file uses the MPI library of libtutti */

#pragma GCC visibility pop

#endif
