/* Trees that messages go down and up. */
#ifndef TUTTI_TREE_H
#define TUTTI_TREE_H

#include "repository.h"

#pragma GCC visibility push(hidden)

/* The place of a rank in a tree. */
typedef struct {
    int parent;    /* -1: the root */
    int children;
    int *child;    /* the one with the most below it first */
    int error;     /* of making it */
} tree;

/* How members of a list are joined. A binomial tree has a radix, usually 2; that of a postal
 * one says how many turns a message takes that is sent in one. */
typedef enum { FLAT, CHAIN, BINARY, BINOMIAL, POSTAL } tree_form;

/* How groups are joined: those of a first level, then within each of them those of the next
 * levels, last the ranks of a node. */
typedef struct {
    tree_form first, below, inside;
    int radix;
} tree_shape;

/* The tree over n ranks from a first one on, counted from the call's root round; the
 * first is its root. */
tree tree_of_ranks(const call *c, tree_form form, int radix, int first, int n);

/* The tree over the groups of a level and of those below it. Each group has a leader: the
 * root's is the root. */
tree tree_of_groups(const call *c, int level, tree_shape how);

int tree_down(const call *c, tree *t); /* segment by segment: one is sent on while the next is received; frees the tree */
int tree_up(const call *c, tree *t);   /* combines the vectors of all below; the operation commutes; frees the tree */

#pragma GCC visibility pop

#endif
