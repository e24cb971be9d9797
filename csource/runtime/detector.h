/* Change detection: whether the times of one algorithm have become longer or shorter. A self-starting cumulative sum (CUSUM)
 * of the logarithms of the times, which needs neither their mean nor their deviation beforehand. */
#ifndef TUTTI_DETECTOR_H
#define TUTTI_DETECTOR_H

#pragma GCC visibility push(hidden)

typedef struct {
    double threshold;
    int n;           /* times that the mean and the deviation are of */
    double mean, m2; /* of the logarithms of times: their mean, and the sum of squared deviations */
    double up, down; /* cumulative sums of deviations towards longer and shorter times */
} change_detector;

/* While nothing changes, one false alarm in run_length times is expected, in 10 at least. */
void detector_start(change_detector *d, double run_length);
void detector_restart(change_detector *d, double run_length); /* keeps the mean and the deviation */

/* Adds a time above 0 in any unit, always the same. Returns 1 if times have changed; then start or restart the detector. */
int detector_add(change_detector *d, double time);

int detector_suspects(const change_detector *d); /* the last times look as if they had changed */

/* Whether the means of two detectors differ by no more than chance. */
int detector_agrees(const change_detector *d, const change_detector *with);

#pragma GCC visibility pop

#endif
