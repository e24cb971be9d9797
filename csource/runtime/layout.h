/* Layouts describe on which nodes, and below which switches, the ranks of a communicator are. */
#ifndef TUTTI_LAYOUT_H
#define TUTTI_LAYOUT_H

#include "comm.h"

#pragma GCC visibility push(hidden)

/* A rank's part of a scheduled alltoall, as a sequence of turns. Signals make messages on the same links wait for each
 * other. The array `steps` holds for each turn:
 *
 *   the phase
 *   the rank to send to, or -1
 *   the rank to receive from, or -1
 *   the number of ranks whose signals this rank awaits before it sends, then these ranks
 *   the number of ranks that this rank signals after it has received, then these ranks */
typedef struct {
    int phases, turns;
    int *steps;
} schedule;

/* Ranks sorted by their places (nodes) in the depth-first order of the topology, so that ranks at neighboring
 * positions are close to each other. Ranks form groups at each level, numbered from 0. A group consists of the
 * ranks below one switch, or on one node. The outermost level comes first. At the last level each group is a node. */
struct layout {
    int size, levels;
    int *order;    /* the rank at each position */
    int *position; /* the position of each rank */
    int *group;    /* of each position, level by level */
    schedule *alltoall; /* of this rank; NULL: not computed yet */
    struct pattern *patterns; /* of alltoallv, the newest first */
};

/* Returns the layout of ranks: rank r is at place[r]. The array `path` holds one number for each place and level. Two
 * places are in the same group of a level if their numbers up to that level are equal. */
layout *layout_new(int size, const int *place, int levels, const int *path);
void layout_free(layout *l);

static inline int group_of(const layout *l, int level, int position) { return l->group[(long)level * l->size + position]; }

/* topology.c: the switches, read from a file. */

int topology_read(char *text, size_t length, char *why); /* 0, or -1 with the reason; an empty text has no switches */
int topology_place(const char *host);                    /* -1: no node of the file, or several may be the host */
int topology_levels(void);                               /* 0: no file was read */
const int *topology_path(void);

/* schedule.c: the schedule of an alltoall whose phases are free of contention. */

const schedule *layout_schedule(layout *l, int rank); /* computed once; O(size²) time and memory */
void schedule_free(schedule *s);
/* Writes the phase of each message of a scheduled alltoall, as a matrix by sender and receiver with -1 on the
 * diagonal. Returns the number of phases. */
int alltoall_phases(const layout *l, int *phase);

/* pattern.c */

typedef struct pattern pattern;
void patterns_free(pattern *p);

#pragma GCC visibility pop

#endif
