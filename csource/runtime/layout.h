/* Where the ranks of a communicator lie: on which nodes, and below which switches. */
#ifndef TUTTI_LAYOUT_H
#define TUTTI_LAYOUT_H

#include "tutti.h"

#pragma GCC visibility push(hidden)

/* What a rank does in a scheduled alltoall. For each phase that it takes part in there
 * follow one another: the phase; to and from whom, -1 being nobody; how many others it
 * has to hear of before it sends, since their messages take the same links, and of
 * whom; how many it has to tell that it received, and whom. */
typedef struct {
    int phases, turns;
    int *steps;
} schedule;

/* Places are numbers in depth-first order. Ranks at neighbouring positions are close to
 * one another. Groups are numbered at each level from 0 on, the outermost first; at the
 * last level they are nodes. */
struct layout {
    int size, levels;
    int *order;    /* the rank at each position */
    int *position; /* of each rank */
    int *group;    /* of each position, level by level */
    schedule *alltoall; /* of this rank; NULL: not made yet */
};

/* A layout of ranks, given the place of each and what is known of places: at each of
 * them levels numbers that say which group it is in, equal ones in one group if all
 * before are. */
layout *layout_new(int size, const int *place, int levels, const int *path);
void layout_free(layout *l);

static inline int group_of(const layout *l, int level, int position) { return l->group[(long)level * l->size + position]; }

/* topology.c: the switches, as a file describes them. */

int topology_read(char *text, size_t length, char *why); /* 0, or -1 with the reason; a text of no bytes: no switches */
int topology_place(const char *host);                    /* -1: it is not in the file */
int topology_levels(void);
const int *topology_path(void);

/* schedule.c: phases of an alltoall without contention. */

const schedule *layout_schedule(layout *l, int rank); /* made once; O(size²) time and memory */
void schedule_free(schedule *s);

#pragma GCC visibility pop

#endif
