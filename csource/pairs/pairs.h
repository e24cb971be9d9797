/* Measures pairs of ranks by ping-pongs, in order to discover the machine's topology. */
#ifndef TUTTI_PAIRS_H
#define TUTTI_PAIRS_H

#include "native.h"

/* pairs_plan.c: the plan for measuring pairs. */

typedef struct {
    int round;
    int a, b; /* nodes of the world */
} meeting;

typedef struct {
    char class[MAX_NAME];
    int a, b; /* ranks of the world */
} example;

typedef struct {
    int nodes, ppn;
    int bytes;        /* of the large message */
    int passes;       /* most times that a stage measures every pair */
    int repetitions;  /* of each time of an example */
    double precision; /* relative spread of a pair's time at which a stage ends */
    double seconds;   /* after which a stage ends */
    int inside;       /* whether the pairs of ranks of each node are measured */
    int between;      /* rounds of pairs of the first ranks of the nodes; 0: none */
    meeting *meetings;
    int nmeetings;
    example *examples;
    int nexamples;
} pairs_plan;

enum { MOST_REPETITIONS = 1024 };

int pairs_asked(const char *text);
int pairs_parse(pairs_plan *p, const world *w, const char *path, char *text, char *why);

/* pairs_stage.c: a stage measures pairs in rounds. No two pairs of a round have a rank in common. */

typedef struct {
    const char *name;
    control group; /* the ranks that take part; its rank 0 is also rank 0 of the world */
    int *partner;  /* of this rank in each round; -1: none */
    int rounds;
} stage;

void stage_run(const session *s, const pairs_plan *p, const stage *g, const int *cores);

/* pairs_example.c: measures all parameters of one example pair for each class of pairs in the plan. */

void examples_run(const session *s, const pairs_plan *p, const example *e, int n);

/* pairs.c */

void pairs_measure(const session *s, const pairs_plan *p);
void pairs_place(line *l, const session *s, const int *cores, char side, int rank);
int pairs_partner(int player, int round, int players);
void *pairs_memory(size_t n, size_t bytes);

enum { TAG_PAIR = 40, TAG_REPORT, TAG_EXAMPLE };

#endif
