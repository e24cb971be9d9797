package metrics

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Interval is a confidence interval of a statistic.
type Interval struct{ Low, High float64 }

// Bootstrap returns the percentile interval of a statistic of values: resamples
// draws with replacement of len(values) each, the (1-level)/2 quantiles cut off
// on both sides. The same seed gives the same interval. O(resamples · n).
//
// It returns an error matching ErrEmpty for no values and another one for fewer
// than 10 resamples or a level outside (0, 1).
//
// Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), §13.3.
func Bootstrap(values []float64, statistic func([]float64) float64, resamples int, level float64, seed uint64) (Interval, error) {
	if len(values) == 0 {
		return Interval{}, ErrEmpty
	}
	if resamples < 10 || !(level > 0 && level < 1) {
		return Interval{}, fmt.Errorf("bootstrap with %d resamples at level %g: want at least 10 and a level in (0, 1)", resamples, level)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(len(values))))
	draw := make([]float64, len(values))
	stats := make([]float64, resamples)
	for b := range stats {
		for i := range draw {
			draw[i] = values[rng.IntN(len(values))]
		}
		stats[b] = statistic(draw)
	}
	slices.Sort(stats)
	tail := (1 - level) / 2
	return Interval{
		Low:  stat.Quantile(tail, stat.Empirical, stats, nil),
		High: stat.Quantile(1-tail, stat.Empirical, stats, nil),
	}, nil
}
