#include "comm.h"
#include "tree.h"

#include <stdlib.h>

/* Returns a tree that has only a root. Its list of children has space for all other ranks. */
static tree tree_new(const call *c)
{
    return (tree){-1, 0, memory((size_t)c->size * sizeof(int))};
}

/* Sets this rank's parent and children in a binomial tree over a list of n ranks; `me` is this rank's index in the
 * list. Indexes are written as digits in the radix. A child's index differs from its parent's in one digit, below the
 * lowest nonzero digit of the parent's. Distant children come first. */
static void join_binomial(tree *t, int radix, const int *list, int n, int me)
{
    int step = 1;
    while (step < n && me / step % radix == 0)
        step *= radix;
    if (me > 0)
        t->parent = list[me - me / step % radix * step];
    for (step /= radix; step > 0; step /= radix)
        for (int k = 1; k < radix && me + k * step < n; k++)
            t->child[t->children++] = list[me + k * step];
}

/* Sets this rank's parent and children in a postal tree. In each step, every rank that has the message sends it to
 * another rank. The message arrives after as many steps as the radix says. No other tree reaches more ranks in the
 * same time. The list of ranks is split in two, again and again: its first rank sends to the first rank of the second
 * part. The first part has as many ranks as can be reached in one step less. */
static void join_postal(tree *t, int radix, const int *list, int n, int me)
{
    int low = 0, high = n, turn = 0;
    int *reached = memory((size_t)(n + radix) * sizeof *reached); /* by step: the ranks that have the message */
    for (reached[0] = 1; reached[turn] < n; turn++)
        reached[turn + 1] = reached[turn] + (turn + 1 < radix ? 0 : reached[turn + 1 - radix]);
    while (high - low > 1) {
        while (reached[turn - 1] >= high - low)
            turn--;
        int middle = low + reached[turn - 1];
        if (me == low)
            t->child[t->children++] = list[middle];
        if (me == middle)
            t->parent = list[low];
        if (me < middle)
            high = middle;
        else
            low = middle;
    }
    free(reached);
}

/* Sets this rank's parent and children in a tree of chains that begin at the root. The last chains may be one member
 * shorter. */
static void join_chains(tree *t, int chains, const int *list, int n, int me)
{
    for (int k = 0, first = 1, end; k < chains && first < n; k++, first = end) {
        end = first + (n - first + chains - k - 1) / (chains - k);
        if (me == 0)
            t->child[t->children++] = list[first];
        if (me < first || me >= end)
            continue;
        t->parent = list[me == first ? 0 : me - 1];
        if (me + 1 < end)
            t->child[t->children++] = list[me + 1];
    }
}

/* Sets this rank's parent and children in a tree over a list of n ranks; `me` is this rank's index in the list. */
static void tree_join(tree *t, tree_form form, int radix, const int *list, int n, int me)
{
    if (form == BINOMIAL) {
        join_binomial(t, radix, list, n, me);
        return;
    }
    if (form == POSTAL) {
        join_postal(t, radix, list, n, me);
        return;
    }
    if (form == CHAINS) {
        join_chains(t, radix, list, n, me);
        return;
    }
    int width = form == FLAT ? n : form == BINARY ? 2 : 1;
    if (me > 0)
        t->parent = list[(me - 1) / width];
    for (long k = (long)me * width + 1; k <= (long)me * width + width && k < n; k++)
        t->child[t->children++] = list[k];
}

tree tree_of_ranks(const call *c, tree_form form, int radix, int first, int n)
{
    tree t = tree_new(c);
    int *list = memory((size_t)n * sizeof *list);
    for (int i = 0; i < n; i++)
        list[i] = after(c, c->root, first + i);
    tree_join(&t, form, radix, list, n, after(c, c->rank, -c->root) - first);
    free(list);
    return t;
}

/* A range of positions. It contains `first` but not `end`. */
typedef struct {
    int first, end;
} span;

/* Returns the group of a position at a level of switches and nodes. Below the last level each position is a group of
 * its own. */
static span group_at(const layout *l, int level, int position)
{
    span s = {position, position + 1};
    if (level == l->levels)
        return s;
    while (s.first > 0 && group_of(l, level, s.first - 1) == group_of(l, level, position))
        s.first--;
    while (s.end < l->size && group_of(l, level, s.end) == group_of(l, level, position))
        s.end++;
    return s;
}

static int leader(span s, int root) { return root >= s.first && root < s.end ? root : s.first; }

/* Inserts this rank into a tree of leaders, if it is a leader. The tree has the leaders of all groups at the given
 * level that are inside the larger group `within`. The leader of `within` comes first, and the others follow in the
 * order of a ring. */
static void join_leaders(const call *c, tree *t, span within, int level, tree_form form, int radix, int *list)
{
    const layout *l = c->layout;
    int root = l->position[c->root], own = l->position[c->rank], me = -1, n = 0;
    int top = leader(within, root), at = top;
    do {
        span s = group_at(l, level, at);
        if (leader(s, root) == own)
            me = n;
        list[n++] = l->order[leader(s, root)];
        at = s.end < within.end ? s.end : within.first;
    } while (leader(group_at(l, level, at), root) != top);
    if (me >= 0)
        tree_join(t, form, radix, list, n, me);
}

tree tree_of_groups(const call *c, int level, tree_shape how)
{
    tree t = tree_new(c);
    int *list = memory((size_t)c->size * sizeof *list);
    span within = {0, c->size};
    for (tree_form form = how.first; level <= c->layout->levels; level++) {
        join_leaders(c, &t, within, level, form, how.radix, list);
        form = level + 1 < c->layout->levels ? how.below : how.inside;
        within = group_at(c->layout, level, c->layout->position[c->rank]);
    }
    free(list);
    return t;
}

void tree_down(const call *c, tree *t)
{
    int step = segment_of(c, c->count);
    MPI_Request in = MPI_REQUEST_NULL, *out = requests_of(t->children + 1);
    for (int from = 0, next; from < c->count; from = next) {
        int n = at_most(step, c->count - from), more;
        next = from + n;
        more = at_most(step, c->count - next);
        if (t->parent >= 0 && from == 0)
            receive_from(c, c->data, n, t->parent);
        else if (t->parent >= 0)
            wait_receives(c, &in, 1, n);
        if (t->parent >= 0 && more > 0)
            start_receive(c, at(c, c->data, next), more, t->parent, &in);
        for (int k = 0; k < t->children; k++)
            start_send(c, at(c, c->data, from), n, t->child[k], &out[k]);
        wait_all(out, t->children);
    }
    free(out);
    free(t->child);
}

void tree_up(const call *c, tree *t)
{
    int step = segment_of(c, c->count);
    char *tmp = scratch(c, step);
    MPI_Request out = MPI_REQUEST_NULL;
    for (int from = 0, n; from < c->count; from += n) {
        n = at_most(step, c->count - from);
        char *part = at(c, c->data, from);
        for (int k = t->children; k-- > 0;) {
            receive_from(c, tmp, n, t->child[k]);
            combine(c, part, tmp, n, 0);
        }
        wait_all(&out, 1);
        if (t->parent >= 0)
            start_send(c, part, n, t->parent, &out);
    }
    wait_all(&out, 1);
    scratch_free(c, tmp);
    free(t->child);
}
