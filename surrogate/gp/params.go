package gp

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"tutti/metrics"
)

// The errors of this package, for comparison by errors.Is.
var (
	ErrShape  = errors.New("gp: wrong shape")
	ErrValue  = errors.New("gp: value out of range")
	ErrFactor = errors.New("gp: covariance matrix is not positive definite")
)

// Params holds the hyperparameters of a GP. Length scales are in the units of the columns. The fields from
// Common to ChangeOwn are variances in the square of the targets' unit.
type Params struct {
	Mean         float64
	CommonLength []float64 // of c
	OwnLength    []float64 // of each g_a
	StepLength   []float64 // length scales of the step function in each task's function g_a; not learned
	Steps        float64   // fraction of the variance of g_a that is a step function, 0 to 1; not learned
	Split        float64   // fraction of the variance of g_a that is independent between values of SplitColumn; not learned
	SplitColumn  int
	Common       float64 // of c
	Own          float64 // of each g_a
	Level        float64 // of o_a
	Shared       float64 // of s
	Rough        float64 // of r_a
	Noise        float64 // of every observation; not learned
	Job          float64 // of the shift by a job

	// Variances of the difference between source 0 and another source. They are zero if source 0 is the only
	// source.
	ChangeLevel    float64 // of d_i
	Change         float64 // of e_i
	ChangeOwnLevel float64 // of d_ia
	ChangeOwn      float64 // of e_ia
}

// validate returns an error matching ErrShape or ErrValue unless p describes a GP over `dim` columns.
func (p Params) validate(dim int) error {
	if !(p.Steps >= 0 && p.Steps <= 1) {
		return fmt.Errorf("%w: steps %g, want 0 to 1", ErrValue, p.Steps)
	}
	if !(p.Split >= 0 && p.Split <= 1) || p.SplitColumn < 0 || p.SplitColumn >= dim {
		return fmt.Errorf("%w: split %g by column %d of %d", ErrValue, p.Split, p.SplitColumn, dim)
	}
	lengths := [][]float64{p.CommonLength, p.OwnLength}
	if p.Steps > 0 {
		lengths = append(lengths, p.StepLength)
	}
	for _, length := range lengths {
		if err := checkLengths(length, dim); err != nil {
			return err
		}
	}
	if !metrics.Finite(p.Mean) {
		return fmt.Errorf("%w: mean %g", ErrValue, p.Mean)
	}
	if !(p.Common > 0) {
		return fmt.Errorf("%w: common variance %g, want more than 0", ErrValue, p.Common)
	}
	for _, v := range append(p.variances(), &p.Noise) {
		if !(*v >= 0) || math.IsInf(*v, 0) {
			return fmt.Errorf("%w: variance %g", ErrValue, *v)
		}
	}
	return nil
}

// checkLengths returns an error unless there are `dim` length scales, all of them positive.
func checkLengths(lengths []float64, dim int) error {
	if len(lengths) != dim {
		return fmt.Errorf("%w: %d length scales for %d columns", ErrShape, len(lengths), dim)
	}
	for d, l := range lengths {
		if !(l > 0) || math.IsInf(l, 0) {
			return fmt.Errorf("%w: length scale %g of column %d", ErrValue, l, d)
		}
	}
	return nil
}

// checkRows returns an error unless every row consists of `dim` finite numbers. If `dim` is 0, every row must be as
// long as the first one.
func checkRows(rows [][]float64, dim int) error {
	if len(rows) == 0 {
		return fmt.Errorf("%w: no rows", ErrShape)
	}
	if dim = cmp.Or(dim, len(rows[0])); dim == 0 {
		return fmt.Errorf("%w: rows without columns", ErrShape)
	}
	for i, row := range rows {
		if len(row) != dim {
			return fmt.Errorf("%w: row %d has %d columns, want %d", ErrShape, i, len(row), dim)
		}
		for d, v := range row {
			if !metrics.Finite(v) {
				return fmt.Errorf("%w: %g in row %d, column %d", ErrValue, v, i, d)
			}
		}
	}
	return nil
}

// noise returns the noise variance of observation j, including the variance between jobs.
func (p Params) noise(obs Observations, j int) float64 {
	if obs.job(j) > 0 {
		return p.Noise + max(obs.extra(j), p.Job)
	}
	return p.Noise + obs.extra(j)
}

// addNoise adds the noise covariances between observation i and the observations 0 to i. `row`
// is row i of the covariance matrix.
func (p Params) addNoise(obs Observations, i int, row []float64) {
	row[i] += p.noise(obs, i)
	if obs.job(i) == 0 {
		return
	}
	for j, job := range obs.Job[:i] {
		if job == obs.Job[i] {
			row[j] += p.Job
		}
	}
}
