#include "detector.h"

#include <math.h>

/* Sources: Hawkins, Self-starting CUSUM charts for location and scale (The Statistician 36, 1987); Wallace, Bounds on normal
 * approximations to Student's and the chi-square distributions (Annals of Mathematical Statistics 30, 1959); Reynolds, Amin
 * and Arnold, CUSUM charts with variable sampling intervals (Technometrics 32, 1990). */

enum { MIN_TIMES = 4 }; /* with fewer times there is no alarm */

static const double allowance = 0.5;      /* deviations subtracted from each time: half of the smallest change to detect */
static const double max_deviation = 3;    /* limit for a single time, so that an outlier is not a change */
static const double min_deviation = 0.01; /* of logarithms: clocks are not more precise */
static const double suspicion = 1.5;      /* a sum above it is suspicious, as after a single time that is two deviations off, once in 20 times */
static const double difference = 2;       /* in standard errors: means with a greater distance differ */

/* Resets the two sums, one for longer and one for shorter times, and computes their threshold. The run length is the
 * wanted number of times between two false alarms; each sum alone gets twice this length. By Siegmund's approximation
 * the run length of a sum is (exp(2kb) - 2kb - 1)/2k^2, where k is the allowance and b = threshold + 1.166. Source:
 * Siegmund, Sequential Analysis (1985), chapter 2. */
void detector_restart(change_detector *d, double run_length)
{
    double run = 2 * (run_length > 10 ? run_length : 10), low = 0, high = 100;
    for (int i = 0; i < 60; i++) {
        double b = (low + high) / 2, x = 2 * allowance * b;
        if ((exp(x) - x - 1) / (2 * allowance * allowance) < run)
            low = b;
        else
            high = b;
    }
    d->threshold = low > 1.166 ? low - 1.166 : 0;
    d->up = d->down = 0;
}

void detector_start(change_detector *d, double run_length)
{
    *d = (change_detector){0};
    detector_restart(d, run_length);
}

static double deviation(const change_detector *d) { return fmax(min_deviation, sqrt(d->m2 / (d->n - 1))); }

/* Converts the logarithm of a time into a standard normal number, by Student's t statistic and Wallace's approximation.
 * The number is limited to max_deviation. *clipped becomes x, or the logarithm at the limit if the number was limited. */
static double standard(const change_detector *d, double x, double *clipped)
{
    double n = d->n, nu = n - 1;
    *clipped = x;
    if (d->n < MIN_TIMES)
        return 0;
    double scale = sqrt(1 + 1 / n) * deviation(d);
    double t = (x - d->mean) / scale, wallace = (8 * nu + 1) / (8 * nu + 3);
    double z = copysign(wallace * sqrt(nu * log1p(t * t / nu)), t);
    if (fabs(z) <= max_deviation)
        return z;
    double most = sqrt(nu * expm1(max_deviation * max_deviation / (wallace * wallace * nu)));
    *clipped = d->mean + copysign(most * scale, z);
    return copysign(max_deviation, z);
}

int detector_add(change_detector *d, double time)
{
    double clipped, z = standard(d, log(time), &clipped);
    d->up = fmax(0, d->up + z - allowance);
    d->down = fmax(0, d->down - z - allowance);
    if (d->up > d->threshold || d->down > d->threshold)
        return 1;
    d->n++;
    double step = clipped - d->mean;
    d->mean += step / d->n;
    d->m2 += step * (clipped - d->mean);
    return 0;
}

int detector_agrees(const change_detector *d, const change_detector *with)
{
    if (d->n < MIN_TIMES || with->n == 0)
        return with->n == 0;
    return fabs(d->mean - with->mean) < difference * deviation(d) * sqrt(1.0 / d->n + 1.0 / with->n);
}

int detector_suspects(const change_detector *d) { return d->up > suspicion || d->down > suspicion; }
