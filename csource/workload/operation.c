#include "workload.h"

/* The operation that does not commute composes two maps x -> a x + b modulo the prime PRIME. A map is stored in a
 * float as a * PRIME + b, which a float holds exactly. */
enum { PRIME = 2039 };

static float composed(float first, float second)
{
    unsigned f = (unsigned)first, s = (unsigned)second;
    unsigned a = f / PRIME * (s / PRIME) % PRIME, b = (s / PRIME * (f % PRIME) + s % PRIME) % PRIME;
    return (float)(a * PRIME + b);
}

static float added(float x, float y) { return x + y; }

/* Combines each element of `in` with the same element of `inout` by a function, for n items of contiguous
   elements. */
static void each(const void *in, void *inout, int n, MPI_Datatype type, float (*of)(float, float))
{
    MPI_Aint lb, extent, begin, length;
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &begin, &length);
    for (int i = 0; i < n; i++) {
        const float *x = (const float *)(const void *)((const char *)in + i * extent + begin);
        float *y = (float *)(void *)((char *)inout + i * extent + begin);
        for (MPI_Aint k = 0; k < length / (MPI_Aint)sizeof *y; k++)
            y[k] = of(x[k], y[k]);
    }
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type) { each(in, inout, *n, *type, added); }

static void compose(void *in, void *inout, int *n, MPI_Datatype *type) { each(in, inout, *n, *type, composed); }

int operation_make(operation op, MPI_Op *out)
{
    *out = MPI_SUM;
    return op == BUILTIN ? MPI_SUCCESS : MPI_Op_create(op == OWN ? add : compose, op == OWN, out);
}

void operation_free(MPI_Op *op)
{
    if (*op != MPI_SUM)
        MPI_Op_free(op);
}

/* Computes the elements that a rank contributes to a reduction. They repeat after PERIOD elements. Sums of inputs
 * are exact in a float for up to two million ranks, in any order. */
void operation_input(operation op, int rank, int salt, float table[PERIOD])
{
    for (int i = 0; i < PERIOD; i++) {
        unsigned v = ((unsigned)rank + (unsigned)i + (unsigned)salt) % 7;
        table[i] = op == ORDERED ? (float)((v + 2) * PRIME + 3 * v + 1) : (float)v;
    }
}

void operation_result(operation op, int ranks, int salt, float table[PERIOD])
{
    float next[PERIOD];
    operation_input(op, 0, salt, table);
    for (int r = 1; r < ranks; r++) {
        operation_input(op, r, salt, next);
        for (int i = 0; i < PERIOD; i++)
            table[i] = op == ORDERED ? composed(table[i], next[i]) : added(table[i], next[i]);
    }
}
