/* drawn: reads a table of BYTES bytes, then lines LOW COUNT; answers each with what a call of the seed and group below
 * draws of an allreduce on 4 ranks: the bits of both numbers and the place in the mix. */
#include "explore.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

int main(void)
{
    char text[4096], why[WHY];
    uint64_t low, count, from = 0, to = UINT64_MAX;
    size_t n;
    if (scanf("%zu", &n) != 1 || getchar() != '\n' || n >= sizeof text || fread(text, 1, n, stdin) != n)
        return 1;
    text[n] = 0;
    if (table_read(text, n, why))
        return 2;
    const mix *m = table_mix(ALLREDUCE, 4, 4, 8, &from, &to);
    while (m != NULL && scanf("%" SCNu64 " %" SCNu64, &low, &count) == 2) {
        uint64_t at[] = {12345678901234567890u, 0xcbf29ce484222325u, (uint64_t)table_place(m), low, count, 3};
        double share = uniform(at, 6);
        at[5] = 4;
        double weights = uniform(at, 6);
        printf("%016" PRIx64 " %016" PRIx64 " %d\n", bits_of(share), bits_of(weights), drawn(m->sums, m->n, weights));
    }
    return 0;
}
