#include "detector.h"

#include <math.h>

/* Sources: Hawkins, Self-starting CUSUM charts for location and scale (The Statistician 36, 1987); Wallace, Bounds on
 * normal approximations to Student's and the chi-square distributions (Annals of Mathematical Statistics 30, 1959); Reynolds,
 * Amin and Arnold, CUSUM charts with variable sampling intervals (Technometrics 32, 1990). */

enum { WATCH_FROM = 4 }; /* times before which nothing is told */

static const double allowance = 0.5;       /* deviations that each time is forgiven: half of a change of one deviation */
static const double most_deviation = 3;    /* that one counts for */
static const double least_deviance = 0.01; /* of logarithms: clocks and counters are not better */
static const double suspicion = 1.5;       /* a sum that one time two deviations off makes; one in 20 is, on either side */
static const double apart = 2;             /* deviations of their difference: means that lie farther apart differ */

/* Inverts the average run length of a one-sided sum, (exp(2kb) - 2kb - 1)/2k^2 with b = threshold + 1.166.
 * Source: Siegmund, Sequential Analysis (1985), chapter 2. */
void detector_again(detector *d, double mean_run)
{
    double run = 2 * (mean_run > 10 ? mean_run : 10), low = 0, high = 100;
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

void detector_start(detector *d, double mean_run)
{
    *d = (detector){0};
    detector_again(d, mean_run);
}

static double deviation(const detector *d) { return fmax(least_deviance, sqrt(d->m2 / (d->n - 1))); }

/* A logarithm as a standard normal number, most_deviation at most; cut becomes the logarithm cut to the same. */
static double standard(const detector *d, double x, double *cut)
{
    double n = d->n, nu = n - 1;
    *cut = x;
    if (d->n < WATCH_FROM)
        return 0;
    double scale = sqrt(1 + 1 / n) * deviation(d);
    double t = (x - d->mean) / scale, wallace = (8 * nu + 1) / (8 * nu + 3);
    double z = copysign(wallace * sqrt(nu * log1p(t * t / nu)), t);
    if (fabs(z) <= most_deviation)
        return z;
    double most = sqrt(nu * expm1(most_deviation * most_deviation / (wallace * wallace * nu)));
    *cut = d->mean + copysign(most * scale, z);
    return copysign(most_deviation, z);
}

int detector_add(detector *d, double seconds)
{
    double cut, z = standard(d, log(seconds), &cut);
    d->up = fmax(0, d->up + z - allowance);
    d->down = fmax(0, d->down - z - allowance);
    if (d->up > d->threshold || d->down > d->threshold)
        return 1;
    d->n++;
    double step = cut - d->mean;
    d->mean += step / d->n;
    d->m2 += step * (cut - d->mean);
    return 0;
}

int detector_agrees(const detector *d, const detector *with)
{
    if (d->n < WATCH_FROM || with->n == 0)
        return with->n == 0;
    return fabs(d->mean - with->mean) < apart * deviation(d) * sqrt(1.0 / d->n + 1.0 / with->n);
}

int detector_suspects(const detector *d) { return d->up > suspicion || d->down > suspicion; }
