/* Whether times have changed, for better or worse: a self-starting cumulative sum of their logarithms, that of
 * online/detector.go. */
#ifndef TUTTI_DETECTOR_H
#define TUTTI_DETECTOR_H

#pragma GCC visibility push(hidden)

typedef struct {
    double threshold;
    int n;           /* times that the mean and the deviation are of */
    double mean, m2; /* of their logarithms; sum of squared deviations */
    double up, down;
} detector;

void detector_start(detector *d, double mean_run); /* a false alarm comes once in so many times, 10 at least */
void detector_again(detector *d, double mean_run); /* the same, but it knows what is usual */
int detector_add(detector *d, double seconds);     /* whether times have changed: then one of the two above comes next */
int detector_suspects(const detector *d);          /* the last ones look like a change */
int detector_agrees(const detector *d, const detector *with); /* whether what is usual to both may be the same */

#pragma GCC visibility pop

#endif
