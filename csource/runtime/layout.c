#include "comm.h"
#include "layout.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Numbers the groups (below a switch, or on a node) of one level. A new group begins where the path of a rank changes
 * at this level or an outer one. */
static void number_groups(layout *l, int level, const int *place, const int *path)
{
    int *group = l->group + (long)level * l->size, levels = l->levels;
    for (int i = 1; i < l->size; i++) {
        const int *one = path + (long)place[l->order[i - 1]] * levels, *two = path + (long)place[l->order[i]] * levels;
        group[i] = group[i - 1] + (memcmp(one, two, (size_t)(level + 1) * sizeof *one) != 0);
    }
}

layout *layout_new(int size, const int *place, int levels, const int *path)
{
    layout *l = allocate(1, sizeof *l);
    uint64_t *keys = allocate((size_t)size, sizeof *keys);
    l->size = size;
    l->levels = levels;
    l->order = allocate((size_t)size * (size_t)(levels + 2), sizeof *l->order);
    l->position = l->order + size;
    l->group = l->position + size;
    for (int r = 0; r < size; r++)
        keys[r] = (uint64_t)place[r] << 32 | (uint64_t)r;
    qsort(keys, (size_t)size, sizeof *keys, ascending);
    for (int i = 0; i < size; i++) {
        l->order[i] = (int)(keys[i] & 0xffffffffu);
        l->position[l->order[i]] = i;
    }
    free(keys);
    for (int level = 0; level < levels; level++)
        number_groups(l, level, place, path);
    return l;
}

void layout_free(layout *l)
{
    if (l == NULL)
        return;
    schedule_free(l->alltoall);
    patterns_free(l->patterns);
    free(l->order);
    free(l);
}
