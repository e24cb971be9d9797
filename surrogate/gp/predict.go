package gp

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// predictRows is how many rows Predict solves at a time: a few blocks, so that its scratch
// memory, predictRows·n numbers, stays small beside the model.
const predictRows = 4 * blockLen

// Predict returns the posterior of the latent function at the rows of xq.
//
// xq is q×d, columns as in Fit, q ≥ 1. mean and variance have length q, in Fit's units and
// their square; variance leaves the measurement noise out: add Params().Noise for the spread
// of a new observation.
//
// It returns an error matching ErrShape or ErrValue for bad rows. O(q·n²) operations; safe for
// concurrent use.
//
// Source: Rasmussen and Williams, Gaussian Processes for ML (2006), algorithm 2.1.
func (g *GP) Predict(xq [][]float64) (mean, variance []float64, err error) {
	if err := checkRows(xq, g.Dim()); err != nil {
		return nil, nil, err
	}
	mean, variance = make([]float64, len(xq)), make([]float64, len(xq))
	v := newRows(min(predictRows, len(xq)), g.Len())
	for first := 0; first < len(xq); first += predictRows {
		part := xq[first:min(first+predictRows, len(xq))]
		g.whiten(v[:len(part)], part)
		for i, row := range v[:len(part)] {
			mean[first+i] = g.params.Mean + dot(row, g.z)
			variance[first+i] = max(0, g.params.Signal-dot(row, row))
		}
	}
	return mean, variance, nil
}

// whiten sets the first n numbers of each row of v to L⁻¹k, k being the covariances of that row
// of xq with the observations.
func (g *GP) whiten(v, xq [][]float64) {
	x := make([]float64, g.Dim())
	for i, row := range xq {
		for d, value := range row {
			x[d] = value / g.params.Length[d]
		}
		g.cols.distances(v[i][:g.Len()], x)
		g.opt.Kernel.covariance(v[i][:g.Len()], nil, g.params.Signal)
	}
	g.f.solve(v, 0)
}

// Joint returns the joint posterior of the latent function at the rows of xq: mean and
// covariance, in Fit's units. Arguments and errors are those of Predict.
// O(q·n² + q²·n) operations.
func (g *GP) Joint(xq [][]float64) (mean []float64, covariance *mat.SymDense, err error) {
	if err := checkRows(xq, g.Dim()); err != nil {
		return nil, nil, err
	}
	mean = make([]float64, len(xq))
	covariance = mat.NewSymDense(len(xq), nil)
	rows := newTriangle(len(xq))
	g.joint(xq, mean, rows)
	for i, row := range rows {
		for j, c := range row {
			covariance.SetSym(i, j, c)
		}
	}
	return mean, covariance, nil
}

// joint sets mean and, row by row, the lower triangle of the posterior covariance at xq.
func (g *GP) joint(xq [][]float64, mean []float64, lower [][]float64) {
	v := newRows(len(xq), g.Len())
	g.whiten(v, xq)
	cols := newColumns(xq, g.params.Length)
	x := make([]float64, g.Dim())
	for i, row := range lower {
		mean[i] = g.params.Mean + dot(v[i], g.z)
		cols.row(i, x)
		cols.distances(row, x)
		g.opt.Kernel.covariance(row, nil, g.params.Signal)
	}
	var c block
	for first := 0; first < len(v); first += blockLen {
		last := min(first+blockLen, len(v))
		for left := 0; left <= first; left += blockLen {
			right := min(left+blockLen, len(v))
			c.mul(v[first:last], v[left:right], 0, g.Len())
			for i := first; i < last; i++ {
				for j := left; j < min(right, i+1); j++ {
					lower[i][j] -= c[(i-first)*blockLen+j-left]
				}
			}
		}
		for i := first; i < last; i++ {
			lower[i][i] = max(0, lower[i][i])
		}
	}
}

// Sample draws count functions from the joint posterior at the rows of xq: count×q values of
// the latent function, in Fit's units. They depend on the model, xq and the state of rng only.
//
// It returns an error matching ErrValue for a negative count, ErrFactor when the covariance of
// the rows cannot be factored even with jitter, or those of Predict.
// O(q·n² + q²·n + q³/3 + count·q²) operations.
func (g *GP) Sample(rng *rand.Rand, xq [][]float64, count int) ([][]float64, error) {
	if err := checkRows(xq, g.Dim()); err != nil {
		return nil, err
	}
	if count < 0 {
		return nil, fmt.Errorf("%w: %d samples", ErrValue, count)
	}
	mean, lower := make([]float64, len(xq)), newTriangle(len(xq))
	g.joint(xq, mean, lower)
	var f factor
	if _, ok := f.build(len(xq), g.params.Signal, func(i int, row []float64) { copy(row, lower[i]) }); !ok {
		return nil, fmt.Errorf("%w: posterior at %d rows", ErrFactor, len(xq))
	}
	normal := make([]float64, len(xq))
	out := newRows(count, len(xq))
	for _, sample := range out {
		for i := range normal {
			normal[i] = rng.NormFloat64()
		}
		for i := range sample {
			sample[i] = mean[i] + dot(f.rows[i], normal[:i+1])
		}
	}
	return out, nil
}

// newRows returns n rows of width numbers in one piece of memory.
func newRows(n, width int) [][]float64 {
	all := make([]float64, n*width)
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = all[i*width : (i+1)*width : (i+1)*width]
	}
	return rows
}

// newTriangle returns n rows, row i of i+1 numbers.
func newTriangle(n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, i+1)
	}
	return rows
}
