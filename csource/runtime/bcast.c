#include "tree.h"

/* The root sends the message to each rank in turn. */
void bcast_linear(const call *c)
{
    if (c->rank != c->root) {
        receive_from(c, c->data, c->count, c->root);
        return;
    }
    for (int k = 1; k < c->size; k++)
        send_to(c, c->data, c->count, after(c, c->root, k));
}

static void all_round(const call *c, tree_form form, int radix)
{
    tree t = tree_of_ranks(c, form, radix, 0, c->size);
    tree_down(c, &t);
}

/* The message travels along a chain of ranks. Source: Pjesivac-Grbovic et al., Performance analysis of MPI collective
 * operations (2007), 3.1. */
void bcast_pipeline(const call *c) { all_round(c, CHAIN, 0); }

/* The message travels along four chains, as many as Open MPI has by default. Source: Pjesivac-Grbovic et al. (2007), 3.1. */
void bcast_chain(const call *c) { all_round(c, CHAINS, 4); }

enum { K_CHAIN_SEGMENT = 32768 }; /* bytes: the middle one of the segments that campaigns try with `chain` */

/* The message travels in segments along as many chains as the radix says, by default four. Source: Reinfjell,
 * Automatic detection of interconnect topologies (2023), 6.2.1. */
void bcast_k_chain(const call *c)
{
    call segmented = *c;
    segmented.parameter = K_CHAIN_SEGMENT;
    all_round(&segmented, CHAINS, c->parameter > 0 ? at_most(c->parameter, c->size) : 4);
}

/* The message travels down a binary tree. Source: Pjesivac-Grbovic et al. (2007), 3.1. */
void bcast_binary_tree(const call *c) { all_round(c, BINARY, 0); }

/* The message travels down a binomial tree. Source: Pjesivac-Grbovic et al. (2007), 3.1. */
void bcast_binomial(const call *c) { all_round(c, BINOMIAL, 2); }

/* The message travels down a k-nomial tree, by default of radix 4. Source: Pjesivac-Grbovic et al. (2007), 3.1. */
void bcast_knomial(const call *c)
{
    call whole = *c;
    whole.parameter = 0; /* one segment */
    all_round(&whole, BINOMIAL, c->parameter >= 2 ? at_most(c->parameter, c->size + 1) : 4);
}

/* Returns the index of the first element of part i of the message. The last parts may be shorter than the
 * others. */
static int begins(const call *c, int i)
{
    int part = (c->count + c->size - 1) / c->size;
    return (long)i * part < c->count ? i * part : c->count;
}

/* Scatters parts of the message down a binomial tree: each rank receives the parts of its subtree. */
static void scatter_parts(const call *c, int v)
{
    int bit = 1;
    while (bit < c->size && !(v & bit))
        bit *= 2;
    int end = v + bit < c->size ? v + bit : c->size;
    if (v > 0)
        receive_from(c, at(c, c->data, begins(c, v)), begins(c, end) - begins(c, v), after(c, c->rank, -bit));
    for (bit /= 2; bit > 0; bit /= 2) {
        if (v + bit >= c->size)
            continue;
        end = v + 2 * bit < c->size ? v + 2 * bit : c->size;
        send_to(c, at(c, c->data, begins(c, v + bit)), begins(c, end) - begins(c, v + bit), after(c, c->rank, bit));
    }
}

/* Scatters the message, then gathers its parts on all ranks. Source: Thakur, Rabenseifner and Gropp (2005), 3.2. */
void bcast_scatter_ring(const call *c)
{
    int v = after(c, c->rank, -c->root), next = after(c, c->rank, 1), before = after(c, c->rank, -1);
    scatter_parts(c, v);
    for (int k = 0; k < c->size - 1; k++) {
        int out = after(c, v, -k), in = after(c, v, -k - 1);
        send_receive(c, at(c, c->data, begins(c, out)), begins(c, out + 1) - begins(c, out), next,
                 at(c, c->data, begins(c, in)), begins(c, in + 1) - begins(c, in), before);
    }
}

/* The root sends the two halves of the message segment by segment, alternating between the halves. */
static void send_halves(const call *c, int first, int left, int right)
{
    int step = segment_of(c, first);
    for (int from = 0, n, m; from < first; from += n) {
        n = at_most(step, first - from);
        m = at_most(n, c->count - first - from);
        send_to(c, at(c, c->data, from), n, left);
        if (m > 0)
            send_to(c, at(c, c->data, first + from), m, right);
    }
}

/* The first part of the message travels down a binary tree of the first half of the ranks. The second part travels down
 * a tree of the other ranks. Then ranks at the same place of both trees exchange their parts. If the first tree has one
 * rank more, the root sends that rank the second part. Source: Pjesivac-Grbovic et al. (2007), 3.1. */
void bcast_split_binary(const call *c)
{
    int v = after(c, c->rank, -c->root), left = c->size / 2, right = c->size - 1 - left, first = (c->count + 1) / 2;
    int other = v <= left, from = v <= left ? 1 : left + 1, n = other ? left : right;
    char *halves[2] = {c->data, at(c, c->data, first)};
    int counts[2] = {first, c->count - first};
    if (c->size < 3) {
        bcast_binomial(c);
        return;
    }
    if (v == 0) {
        send_halves(c, first, after(c, c->root, 1), after(c, c->root, left + 1));
        if (left > right)
            send_to(c, halves[1], counts[1], after(c, c->root, left));
        return;
    }
    call half = *c;
    half.data = halves[!other];
    half.count = counts[!other];
    tree t = tree_of_ranks(c, BINARY, 0, from, n);
    if (v == from)
        t.parent = c->root;
    tree_down(&half, &t);
    if (v - from >= right) {
        receive_from(c, halves[1], counts[1], c->root);
        return;
    }
    int peer = after(c, c->rank, other ? left : -left);
    send_receive(c, halves[!other], counts[!other], peer, halves[other], counts[other], peer);
}

/* The following algorithms use trees of nodes and of the switches above the nodes. Source: Kielmann et al.,
 * MagPIe: MPI's collective communication operations for clustered wide area systems (1999). */

static void shape_down(const call *c, int level, tree_shape how)
{
    tree t = tree_of_groups(c, level, how);
    tree_down(c, &t);
}

static void groups_down(const call *c, int level, tree_form form)
{
    shape_down(c, level, (tree_shape){form, BINOMIAL, BINOMIAL, 2});
}

/* A binomial tree over the nodes, and a binomial tree inside each node. */
void bcast_two_level(const call *c) { groups_down(c, c->layout->levels - 1, BINOMIAL); }

/* A chain of nodes, and a binomial tree inside each node. */
void bcast_two_level_pipeline(const call *c) { groups_down(c, c->layout->levels - 1, CHAIN); }

/* A binary tree over the nodes, and a binomial tree inside each node. */
void bcast_two_level_binary(const call *c) { groups_down(c, c->layout->levels - 1, BINARY); }

/* Postal trees over the nodes and inside each node. A postal tree takes into account that a rank can send several
 * messages while one travels. The radix is the number of these messages, by default 4. Source: Bar-Noy and Kipnis,
 * Designing broadcasting algorithms in the postal model for message-passing systems (1992). */
void bcast_two_level_postal(const call *c)
{
    call whole = *c;
    whole.parameter = 0; /* one segment */
    int radix = c->parameter >= 2 ? at_most(c->parameter, c->size + 1) : 4;
    shape_down(&whole, c->layout->levels - 1, (tree_shape){POSTAL, POSTAL, POSTAL, radix});
}

/* MagPIe's algorithm: the root sends to one rank below each of the highest switches, and binomial trees continue from
 * these ranks. */
void bcast_magpie(const call *c) { groups_down(c, 0, FLAT); }

/* A binomial tree at each level of switches and nodes. */
void bcast_multi_level(const call *c) { groups_down(c, 0, BINOMIAL); }

/* A chain at each level of switches, and a binary tree inside each node. Most ranks send the message to two
 * other ranks. The longest path is as long as the longest paths of all levels together. */
void bcast_multi_level_pipeline(const call *c) { shape_down(c, 0, (tree_shape){CHAIN, CHAIN, BINARY, 0}); }

/* A binary tree at each level of switches and nodes. */
void bcast_multi_level_binary(const call *c) { shape_down(c, 0, (tree_shape){BINARY, BINARY, BINARY, 0}); }

void bcast_binomial_depth_first(const call *c)
{
    call there = by_position(c);
    bcast_binomial(&there);
}

void bcast_pipeline_depth_first(const call *c)
{
    call there = by_position(c);
    bcast_pipeline(&there);
}

void bcast_scatter_ring_depth_first(const call *c)
{
    call there = by_position(c);
    bcast_scatter_ring(&there);
}
