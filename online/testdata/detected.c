/* detected RUN: reads times, and answers each with both sums of a detector that raises a false alarm once in RUN times, and
 * whether it raises one, after which it starts anew. */
#include "detector.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    detector d;
    double seconds;
    if (argc != 2)
        return 1;
    detector_start(&d, atof(argv[1]));
    while (scanf("%lf", &seconds) == 1) {
        int alarm = detector_add(&d, seconds);
        if (alarm)
            detector_start(&d, atof(argv[1]));
        printf("%.17g %.17g %d\n", d.up, d.down, alarm);
    }
    return 0;
}
