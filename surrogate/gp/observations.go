package gp

import (
	"fmt"
	"math"
	"slices"

	"tutti/metrics"
)

// Observations holds observed values (targets) of tasks at rows. Each field except X has one element for
// each observation. Some fields may be nil, as their comments say.
type Observations struct {
	X      [][]float64 // distinct rows
	At     []int       // row in X
	Task   []int       // counted from 0
	Source []int       // counted from 0; nil: all 0
	Y      []float64   // target
	Extra  []float64   // variance of the noise in excess of Params.Noise, without that of the job; nil: 0
	Job    []int       // counted from 1, 0 for none; nil: all 0
}

// element returns all[j], or zero if the slice is nil.
func element[T any](all []T, j int) (e T) {
	if all != nil {
		e = all[j]
	}
	return e
}

// extra returns the variance of observation j beyond the common noise.
func (o Observations) extra(j int) float64 { return element(o.Extra, j) }

// source returns the source of observation j.
func (o Observations) source(j int) int { return element(o.Source, j) }

// job returns the number of the job that made observation j, or 0 if it is unknown.
func (o Observations) job(j int) int { return element(o.Job, j) }

// sources reports whether any observation has a source other than 0, for example an earlier campaign.
func (o Observations) sources() bool {
	return slices.ContainsFunc(o.Source, func(s int) bool { return s != 0 })
}

// validate returns an error matching ErrShape or ErrValue for invalid observations.
func (o Observations) validate() error {
	if err := checkRows(o.X, 0); err != nil {
		return err
	}
	if len(o.At) != len(o.Y) || len(o.Task) != len(o.Y) || len(o.Y) == 0 {
		return fmt.Errorf("%w: %d targets at %d rows of %d tasks", ErrShape, len(o.Y), len(o.At), len(o.Task))
	}
	if o.Source != nil && len(o.Source) != len(o.Y) {
		return fmt.Errorf("%w: %d targets from %d sources", ErrShape, len(o.Y), len(o.Source))
	}
	if o.Extra != nil && len(o.Extra) != len(o.Y) {
		return fmt.Errorf("%w: %d targets with %d variances", ErrShape, len(o.Y), len(o.Extra))
	}
	if o.Job != nil && len(o.Job) != len(o.Y) {
		return fmt.Errorf("%w: %d targets from %d jobs", ErrShape, len(o.Y), len(o.Job))
	}
	for j := range o.Y {
		if err := o.validateOne(j); err != nil {
			return err
		}
	}
	return nil
}

// validateOne returns an error matching ErrValue if a value of observation j is out of range.
func (o Observations) validateOne(j int) error {
	switch e := o.extra(j); {
	case !(e >= 0) || math.IsInf(e, 0):
		return fmt.Errorf("%w: observation %d has the variance %g", ErrValue, j, e)
	case o.job(j) < 0:
		return fmt.Errorf("%w: observation %d is of job %d", ErrValue, j, o.job(j))
	case o.source(j) < 0:
		return fmt.Errorf("%w: observation %d is of source %d", ErrValue, j, o.source(j))
	case !metrics.Finite(o.Y[j]) || o.At[j] < 0 || o.At[j] >= len(o.X) || o.Task[j] < 0:
		return fmt.Errorf("%w: observation %d: %g of task %d at row %d of %d", ErrValue, j, o.Y[j], o.Task[j], o.At[j], len(o.X))
	}
	return nil
}

// jobs returns the number of jobs, which is the greatest job number.
func (o Observations) jobs() int { return slices.Max(append([]int{0}, o.Job...)) }

// Sample returns all observations at a sample of rows; see SampleRows.
func (o Observations) Sample(most int) Observations {
	if len(o.Y) <= most {
		return o
	}
	count, fresh := make([]int, len(o.X)), make([]bool, len(o.X))
	for j, u := range o.At {
		count[u]++
		fresh[u] = fresh[u] || o.source(j) == 0
	}
	sample := SampleRows(count, fresh, most)
	var out Observations
	row := make([]int, len(o.X)) // in out, plus one
	for j, u := range o.At {
		if !sample[u] {
			continue
		}
		if row[u] == 0 {
			out.X = append(out.X, o.X[u])
			row[u] = len(out.X)
		}
		out.At = append(out.At, row[u]-1)
		out.Task = append(out.Task, o.Task[j])
		if o.Source != nil {
			out.Source = append(out.Source, o.Source[j])
		}
		out.Y = append(out.Y, o.Y[j])
		if o.Extra != nil {
			out.Extra = append(out.Extra, o.Extra[j])
		}
		if o.Job != nil {
			out.Job = append(out.Job, o.Job[j])
		}
	}
	return out
}

// SampleRows reports for each row whether it is in a sample of the rows, given the number of observations at each row.
// The sample has `most` observations, or a few more to complete a row. If there are no more, it has all rows.
//
// The rows of the sample are distributed evenly over all rows. The k-th one is at the fraction k·(φ-1) modulo one,
// where φ is the golden ratio. The rows for which `preferred` is true come first.
func SampleRows(count []int, preferred []bool, most int) []bool {
	n, all := len(count), 0
	for _, c := range count {
		all += c
	}
	if all <= most {
		return slices.Repeat([]bool{true}, n)
	}
	sample, total := make([]bool, n), 0
	for _, first := range []bool{true, false} {
		for k := 1; total < most && k <= 8*n; k++ {
			_, part := math.Modf(float64(k) * (math.Phi - 1))
			if u := int(part * float64(n)); !sample[u] && preferred[u] == first {
				sample[u] = true
				total += count[u]
			}
		}
	}
	return sample
}
