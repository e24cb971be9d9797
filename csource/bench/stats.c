#include "native.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAIL 0.025 /* probability on each side of a 95 % interval */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns how many of n samples lie below the 95 % confidence interval of their median. As many lie above it. The
 * number is the largest k with P(B < k) <= TAIL. B has a binomial distribution of n trials with probability 1/2. */
static int outside(int n)
{
    double sum = 0;
    for (int k = 0; k <= n; k++) {
        sum += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * log(2.0));
        if (sum > TAIL)
            return k;
    }
    return 0;
}

void summarise(const double *samples, int n, double *scratch, summary *out)
{
    memcpy(scratch, samples, (size_t)n * sizeof *scratch);
    qsort(scratch, (size_t)n, sizeof *scratch, ascending);
    int cut = outside(n);
    out->min = scratch[0];
    out->max = scratch[n - 1];
    out->median = n % 2 ? scratch[n / 2] : (scratch[n / 2 - 1] + scratch[n / 2]) / 2;
    out->low = out->high = 0;
    if (cut > 0) {
        out->low = scratch[cut - 1];
        out->high = scratch[n - cut];
    }
}
