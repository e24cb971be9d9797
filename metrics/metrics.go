package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Errors of this package, to be tested with errors.Is.
var (
	ErrTime  = errors.New("time must be positive and finite")
	ErrEmpty = errors.New("no points")
	ErrShape = errors.New("lengths differ")
)

// Options define what counts as a mistake. They also have the weights of the points.
type Options struct {
	MistakeThreshold float64 // slowdown minus one: 0.1 means more than 10 % slower; zero means the default
	// Weights holds a weight, zero or more, for each slowdown. Averages, proportions and quantiles are
	// weighted by it; nil means equal weights.
	Weights []float64
}

func (o Options) Weight(i int) float64 {
	if o.Weights == nil {
		return 1
	}
	return o.Weights[i]
}

// Threshold returns the mistake threshold or its default.
func (o Options) Threshold() float64 { return cmp.Or(o.MistakeThreshold, DefaultMistakeThreshold) }

// Slowdown returns chosen/best, where both are times in seconds. Noise can make the result smaller than 1.
// If a time is not positive and finite, the error matches ErrTime.
func Slowdown(chosen, best float64) (float64, error) {
	for _, t := range []float64{chosen, best} {
		if !(t > 0) || math.IsInf(t, 0) {
			return 0, fmt.Errorf("slowdown of %g s against %g s: %w", chosen, best, ErrTime)
		}
	}
	return chosen / best, nil
}

// Summary describes the slowdowns of a selection over several points.
type Summary struct {
	Points   int     `json:"points"`
	Slowdown float64 `json:"slowdown"`     // mean
	Accuracy float64 `json:"accuracy"`     // proportion within TieTolerance of the best
	Mistakes float64 `json:"mistakes"`     // proportion above the mistake threshold
	P95      float64 `json:"p95_slowdown"` // 95th percentile, empirical
	Worst    float64 `json:"worst_slowdown"`
}

// Summarize summarizes slowdowns, one for each point. The error matches ErrEmpty if there are no slowdowns
// or the total weight is zero. It matches ErrTime for a slowdown that is not positive and finite, and
// ErrShape for invalid weights. It takes O(n log n) time.
func Summarize(slowdowns []float64, opt Options) (Summary, error) {
	s, err := Average(slowdowns, opt)
	if err != nil {
		return Summary{}, err
	}
	sorted, weights := slices.Clone(slowdowns), slices.Clone(opt.Weights)
	stat.SortWeighted(sorted, weights)
	s.P95 = stat.Quantile(0.95, stat.Empirical, sorted, weights)
	at := len(sorted) - 1
	for weights != nil && weights[at] == 0 {
		at--
	}
	s.Worst = sorted[at]
	return s, nil
}

// Average is Summarize without P95 and Worst, which stay zero, in O(n) time.
func Average(slowdowns []float64, opt Options) (Summary, error) {
	if len(slowdowns) == 0 {
		return Summary{}, ErrEmpty
	}
	if opt.Weights != nil && len(opt.Weights) != len(slowdowns) {
		return Summary{}, fmt.Errorf("%d weights of %d slowdowns: %w", len(opt.Weights), len(slowdowns), ErrShape)
	}
	s := Summary{Points: len(slowdowns)}
	n := 0.0
	for i, v := range slowdowns {
		if !(v > 0) || math.IsInf(v, 0) {
			return Summary{}, fmt.Errorf("slowdown %d is %g: %w", i, v, ErrTime)
		}
		w := opt.Weight(i)
		if !(w >= 0) || math.IsInf(w, 0) {
			return Summary{}, fmt.Errorf("weight %d is %g, want zero or more: %w", i, w, ErrShape)
		}
		n += w
		s.Slowdown += w * v
		if v <= 1+TieTolerance {
			s.Accuracy += w
		}
		if v > 1+opt.Threshold() {
			s.Mistakes += w
		}
	}
	if n == 0 {
		return Summary{}, fmt.Errorf("no point has a weight: %w", ErrEmpty)
	}
	s.Slowdown, s.Accuracy, s.Mistakes = s.Slowdown/n, s.Accuracy/n, s.Mistakes/n
	return s, nil
}

// R2 returns the coefficient of determination of predictions, 1 - SSE/SST. It is negative if the mean of the
// true values would be a better prediction. If all true values are equal, it is 1 for exact predictions and
// an error for inexact ones. It also returns an error if there are no values, if the lengths differ, or if a
// value is not finite.
func R2(truth, predicted []float64) (float64, error) {
	if len(truth) != len(predicted) {
		return 0, fmt.Errorf("r2 of %d and %d values: %w", len(truth), len(predicted), ErrShape)
	}
	if len(truth) == 0 {
		return 0, ErrEmpty
	}
	mean := stat.Mean(truth, nil)
	var sse, sst float64
	for i, t := range truth {
		sse += (t - predicted[i]) * (t - predicted[i])
		sst += (t - mean) * (t - mean)
	}
	switch {
	case math.IsNaN(sse + sst), math.IsInf(sse+sst, 0):
		return 0, errors.New("r2: values must be finite")
	case sse == 0:
		return 1, nil
	case sst == 0:
		return 0, errors.New("r2: the true values do not vary")
	}
	return 1 - sse/sst, nil
}

// Allowed holds the largest values that the stopping criteria of a campaign allow. The method Loss divides by
// the first two of them. A zero value means the default.
type Allowed struct {
	Slowdown  float64 // average slowdown minus one
	Mistakes  float64 // proportion of significant mistakes
	Threshold float64 // a choice that is slower than the best by more than this fraction is a mistake
}

// WithDefaults replaces zero and negative values by those of the default stopping criteria.
func (a Allowed) WithDefaults() Allowed {
	for _, f := range []struct {
		value   *float64
		instead float64
	}{
		{&a.Slowdown, DefaultAllowedSlowdown},
		{&a.Mistakes, DefaultAllowedMistakes},
		{&a.Threshold, DefaultMistakeThreshold},
	} {
		if !(*f.value > 0) {
			*f.value = f.instead
		}
	}
	return a
}

// Loss returns slowdown / allowed slowdown + mistakes / allowed mistakes. Both slowdowns are slowdowns minus
// one. `mistakes` is the proportion or the probability of mistakes.
func (a Allowed) Loss(slowdown, mistakes float64) float64 {
	a = a.WithDefaults()
	return slowdown/a.Slowdown + mistakes/a.Mistakes
}

// LossOf returns the loss of a single choice. `slowdown` is the choice's slowdown minus one.
func (a Allowed) LossOf(slowdown float64) float64 {
	if slowdown > a.WithDefaults().Threshold {
		return a.Loss(slowdown, 1)
	}
	return a.Loss(slowdown, 0)
}

// Price combines the slowdown and the mistakes of a summary into one number. It is the average slowdown plus
// the proportion of mistakes, weighted so that both count equally.
func (a Allowed) Price(s Summary) float64 {
	a = a.WithDefaults()
	return 1 + a.Slowdown*a.Loss(s.Slowdown-1, s.Mistakes)
}

// Finite reports whether v is neither NaN nor infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
