/* Trees of ranks, along which messages travel down from the root or up to it. */
#ifndef TUTTI_TREE_H
#define TUTTI_TREE_H

#include "repository.h"

#pragma GCC visibility push(hidden)

/* A tree as one rank sees it: the rank's parent and children. */
typedef struct {
    int parent;    /* -1: the rank is the root */
    int children;
    int *child;    /* the one with the largest subtree first */
} tree;

/* The form of a tree over a list of ranks. With CHAINS, the root begins as many chains as the radix says, of nearly
 * equal lengths. A binomial tree has a radix, usually 2. The radix of a postal tree is the number of messages that a
 * rank can send while one message travels. */
typedef enum { FLAT, CHAIN, CHAINS, BINARY, BINOMIAL, POSTAL } tree_form;

/* The forms of the trees that together make a tree of groups: over the groups of the first level, over the groups of
 * each further level, and over the ranks of a node. */
typedef struct {
    tree_form first, below, inside;
    int radix;
} tree_shape;

/* Returns this rank's parent and children in a tree over n successive ranks of a ring. The root of the tree is the
 * rank that is `first` places after the call's root. */
tree tree_of_ranks(const call *c, tree_form form, int radix, int first, int n);

/* Returns this rank's parent and children in a tree over the groups of a level and of all levels below it. Each group
 * has a leader. The call's root leads its own group. */
tree tree_of_groups(const call *c, int level, tree_shape how);

void tree_down(const call *c, tree *t); /* sends each segment on while it receives the next; frees the tree */
void tree_up(const call *c, tree *t);   /* combines the vectors of all ranks below; the operation must commute; frees the tree */

#pragma GCC visibility pop

#endif
