#include "native.h"

#include <stdio.h>
#include <sys/resource.h>

/* Reads how often this process was preempted, and the processor time of its node since boot. The times are 0 if
 * /proc/stat cannot be read. */
void load_read(load *l)
{
    struct rusage own;
    double ticks[8] = {0}; /* user, nice, system, idle, iowait, irq, softirq, steal */
    FILE *f = fopen("/proc/stat", "r");
    l->preempted = getrusage(RUSAGE_SELF, &own) == 0 ? (double)own.ru_nivcsw : 0;
    l->stolen = l->all = 0;
    if (f == NULL)
        return;
    if (fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]) == 8) {
        l->stolen = ticks[7];
        for (int i = 0; i < 8; i++)
            l->all += ticks[i];
    }
    fclose(f);
}
