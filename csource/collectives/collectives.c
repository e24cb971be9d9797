#include "collectives.h"

#include <string.h>

static const struct {
    const char *name;
    int properties;
} collectives[COLLECTIVES] = {
#define ENTRY(number, mpi, name, counts, properties, ...) {#name, properties},
    EACH_COLLECTIVE(ENTRY)
};

const char *collective_name(collective what) { return collectives[what].name; }

int collective_named(const char *name, size_t n, collective *what)
{
    for (int i = 0; i < COLLECTIVES; i++)
        if (strlen(collectives[i].name) == n && memcmp(collectives[i].name, name, n) == 0) {
            *what = (collective)i;
            return 1;
        }
    return 0;
}

int collective_has(collective what, int property) { return (collectives[what].properties & property) != 0; }
