/* Change detection finds out whether the times of an algorithm have become longer or shorter. It is a
 * self-starting cumulative sum (CUSUM) of the logarithms of times, which needs neither mean nor deviation
 * beforehand. */
#ifndef TUTTI_DETECTOR_H
#define TUTTI_DETECTOR_H

#pragma GCC visibility push(hidden)

typedef struct {
    double threshold;
    int n;           /* number of times in the mean and the deviation */
    double mean, m2; /* of the logarithms of times: their mean, and the sum of squared deviations */
    double up, down; /* cumulative sums of deviations towards longer and shorter times */
} change_detector;

/* Starts a detector of changes in the durations of calls. While there is no change, it gives on average one false alarm
 * every `run_length` calls, which must be at least 10. */
void detector_start(change_detector *d, double run_length);
void detector_restart(change_detector *d, double run_length); /* keeps the mean and the deviation */

/* Adds a time, which must be positive; all times have the same unit. Returns 1 if the times have changed. The
 * detector must then be started or restarted. */
int detector_add(change_detector *d, double time);

int detector_suspects(const change_detector *d); /* whether the last times may have changed */

/* Returns whether the means of two detectors agree, so that their difference may be due to chance. */
int detector_agrees(const change_detector *d, const change_detector *with);

#pragma GCC visibility pop

#endif
