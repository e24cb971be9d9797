/* Arguments: the abort factor, and ratios of a case's time to the best time. Prints for each ratio how many calls of
 * the case are timed, and the reason why the case ends. Times vary by up to 20 %, always in the same way. */
#include "measure.c"

static void run(double factor, double ratio)
{
    static session s;
    task t;
    order o;
    unsigned lot = 1;
    memset(&s, 0, sizeof s);
    memset(&t, 0, sizeof t);
    s.plan.min = 100;
    s.plan.max = 1000;
    s.plan.precision = 0.02;
    s.plan.slice = 1e9;
    s.plan.abort_factor = factor;
    s.clocks.shared = 1;
    t.s = &s;
    t.best = 1;
    t.typical = ratio;
    t.begin = seconds();
    t.times = calloc(2 * MOST + 1, sizeof(double));
    t.samples = calloc(2 * MOST, sizeof(double));
    t.scratch = calloc(2 * MOST, sizeof(double));
    for (o = next(&t); o.calls > 0; o = next(&t)) {
        memset(t.times, 0, (2 * MOST + 1) * sizeof(double));
        for (int i = 0; i < o.calls; i++) {
            lot = lot * 1103515245u + 12345u;
            t.times[i] = ratio * (0.8 + 0.4 * ((lot >> 16) % 1000) / 1000);
        }
        absorb(&t, &o);
    }
    printf("%g %d %s\n", ratio, t.n, t.stop);
}

int main(int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        run(atof(argv[1]), atof(argv[i]));
    return 0;
}
