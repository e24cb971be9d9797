#include "draw.h"

/* Mixes each number into a hash by the finalizer of SplitMix64. Source: Steele, Lea and Flood, Fast Splittable
 * Pseudorandom Number Generators (OOPSLA 2014). */
static uint64_t hash(const uint64_t *numbers, int n)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < n; i++) {
        h += numbers[i] + 0x9e3779b97f4a7c15u;
        h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
        h = (h ^ h >> 27) * 0x94d049bb133111ebu;
        h ^= h >> 31;
    }
    return h;
}

double uniform(const uint64_t *numbers, int n) { return ((double)(hash(numbers, n) >> 11) + 0.5) / 9007199254740992.0; }

int draw_index(const double *sums, int n, double u)
{
    int low = 0, high = n - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (sums[middle] < u)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
