package gp

import (
	"errors"
	"fmt"
	"math"
)

// Errors that callers may ask for with errors.Is.
var (
	ErrShape  = errors.New("gp: wrong shape")
	ErrValue  = errors.New("gp: value out of range")
	ErrFactor = errors.New("gp: covariance matrix is not positive definite")
)

// Params are hyper-parameters in the units of the rows' columns and of the
// targets; Common to ChangeOwn are variances.
type Params struct {
	Mean         float64
	CommonLength []float64 // of c
	OwnLength    []float64 // of each g_a
	StepLength   []float64 // of the steps in each g_a. They are not learnt, nor is the rest with them
	Steps        float64   // part of each g_a's variance that goes by steps, from 0 to 1
	Split        float64   // part of it that is each value's of SplitColumn own, from 0 to 1
	SplitColumn  int       // of the rows
	Common       float64   // of c
	Own          float64   // of each g_a
	Level        float64   // of o_a
	Shared       float64   // of s
	Rough        float64   // of r_a
	Noise        float64
	Job          float64 // of what a job does
	// By how much another source differs; zero where there is none.
	ChangeLevel    float64 // of d_i
	Change         float64 // of e_i
	ChangeOwnLevel float64 // of d_ia
	ChangeOwn      float64 // of e_ia
}

// validate returns an error matching ErrShape or ErrValue unless p describes a GP over dim columns.
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
	if !finite(p.Mean) {
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

// checkLengths returns an error unless there is one positive length scale for each of dim columns.
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
