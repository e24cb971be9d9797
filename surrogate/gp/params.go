package gp

import (
	"errors"
	"fmt"
	"math"
)

// Errors that callers may ask for with errors.Is.
var (
	ErrShape   = errors.New("gp: wrong shape")
	ErrValue   = errors.New("gp: value out of range")
	ErrOptions = errors.New("gp: bad options")
	ErrFactor  = errors.New("gp: covariance matrix is not positive definite")
)

// params are the hyper-parameters of a model, all in Fit's units.
type params struct {
	mean   float64   // constant mean, in y's unit
	length []float64 // length scale of each column, in that column's unit
	signal float64   // variance of the function around the mean, in y's unit squared
	noise  float64   // variance of the measurement noise, in y's unit squared; may be 0
}

// validate returns an error matching ErrShape or ErrValue unless p describes a model of dim columns.
func (p params) validate(dim int) error {
	if len(p.length) != dim {
		return fmt.Errorf("%w: %d length scales for %d columns", ErrShape, len(p.length), dim)
	}
	for d, l := range p.length {
		if !(l > 0) || math.IsInf(l, 0) {
			return fmt.Errorf("%w: length scale %g of column %d", ErrValue, l, d)
		}
	}
	if !finite(p.mean) {
		return fmt.Errorf("%w: mean %g", ErrValue, p.mean)
	}
	if !(p.signal > 0) || math.IsInf(p.signal, 0) {
		return fmt.Errorf("%w: signal variance %g", ErrValue, p.signal)
	}
	if !(p.noise >= 0) || math.IsInf(p.noise, 0) {
		return fmt.Errorf("%w: noise variance %g", ErrValue, p.noise)
	}
	return nil
}

// Options say how Fit learns the hyper-parameters. The zero value is a good start.
type Options struct {
	Starts   int    // starts of the optimiser; 0 means 3. The first is fixed, the others are drawn
	MaxEvals int    // likelihood evaluations per start; 0 means 100
	Seed     uint64 // seed of the drawn starts
}

const (
	defaultStarts   = 3
	defaultMaxEvals = 100
)

// validate returns an error matching ErrOptions for a negative count.
func (o Options) validate() error {
	switch {
	case o.Starts < 0:
		return fmt.Errorf("%w: %d starts", ErrOptions, o.Starts)
	case o.MaxEvals < 0:
		return fmt.Errorf("%w: %d evaluations", ErrOptions, o.MaxEvals)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Starts == 0 {
		o.Starts = defaultStarts
	}
	if o.MaxEvals == 0 {
		o.MaxEvals = defaultMaxEvals
	}
	return o
}

// tolerance of the search from one start.
func (o Options) tolerance() tolerance {
	return tolerance{evals: o.MaxEvals, gradient: 1e-4, absolute: 1e-6, iterations: 4}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// checkRows returns an error unless rows are dim finite numbers each; dim 0 takes the first row's width.
func checkRows(rows [][]float64, dim int) error {
	if len(rows) == 0 {
		return fmt.Errorf("%w: no rows", ErrShape)
	}
	if dim == 0 {
		dim = len(rows[0])
	}
	if dim == 0 {
		return fmt.Errorf("%w: rows without columns", ErrShape)
	}
	for i, row := range rows {
		if len(row) != dim {
			return fmt.Errorf("%w: row %d has %d columns, want %d", ErrShape, i, len(row), dim)
		}
		for d, v := range row {
			if !finite(v) {
				return fmt.Errorf("%w: %g in row %d, column %d", ErrValue, v, i, d)
			}
		}
	}
	return nil
}

// checkTraining checks rows and their targets.
func checkTraining(x [][]float64, y []float64) error {
	if err := checkRows(x, 0); err != nil {
		return err
	}
	if len(x) != len(y) {
		return fmt.Errorf("%w: %d rows and %d targets", ErrShape, len(x), len(y))
	}
	for i, v := range y {
		if !finite(v) {
			return fmt.Errorf("%w: target %g of row %d", ErrValue, v, i)
		}
	}
	return nil
}
