#include "bytes.h"
#include "users.h"

#define ROW(...) {__VA_ARGS__},
const algorithm repository[] = {
    EACH_ALGORITHM(ROW)
    {COLLECTIVES, NULL, NULL, 0, NULL},
};

int repository_fits(const algorithm *a, int ranks)
{
    const tutti_algorithm *own = a->needs & USERS && a != &user_missing ? ((const user_algorithm *)a)->own : NULL;
    if (a == &user_missing || (own != NULL && (ranks < own->min_ranks || (own->max_ranks > 0 && ranks > own->max_ranks))))
        return 0;
    if ((a->needs & TOGETHER) && ranks > MOST_TOGETHER)
        return 0;
    if ((a->needs & POWER_OF_TWO) && ranks != floor_power_of_two(ranks))
        return 0;
    return !(a->needs & EVEN) || ranks % 2 == 0;
}

int repository_can(const algorithm *a, const call *c)
{
    if ((a->needs & COMMUTATIVE) && !c->commutative)
        return 0;
    if ((a->needs & COUNT_SIZE) && c->count < c->size)
        return 0;
    if ((a->needs & GATHERS) && (uint64_t)c->size * bytes_of(c->count, c->type) > MOST_GATHERED)
        return 0;
    return !(a->needs & COUNT_POWER_OF_TWO) || c->count >= floor_power_of_two(c->size);
}

void repository_run(const algorithm *a, const call *c)
{
    if (a->needs & USERS)
        note(((const user_algorithm *)a)->own->run(c));
    else
        a->run(c);
}
