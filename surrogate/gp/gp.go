package gp

import (
	"fmt"
	"math"
)

// GP is a model with its hyper-parameters and the observations it is conditioned on.
// Its methods that do not change it are safe for concurrent use.
type GP struct {
	opt    Options
	params params
	x      [][]float64
	y      []float64

	cols    columns // x over the length scales
	f       factor  // of K + noise·I, in Fit's units
	z       []float64
	jitter  float64
	version int // counts rebuilds of f, so that pools notice
}

// Fit learns the hyper-parameters from the rows of x and their targets y and returns the model
// conditioned on them.
//
// x is n×d, n, d ≥ 1, one observation a row; it is copied. The mean is the mean of y; length
// scales, signal and noise maximise the log marginal likelihood plus weak log-normal priors
// relative to the range of each column and the variance of y. Equal rows, constant columns,
// constant targets and n = 1 are fine: there the priors speak.
//
// It returns an error matching ErrShape for ragged or empty rows, ErrValue for NaN, infinite or
// overflowing numbers, ErrOptions, or ErrFactor when no start gave a usable matrix. The result
// depends on the arguments only. About n³ operations and 2n² numbers per evaluation of the likelihood.
//
// Source: Rasmussen and Williams, Gaussian Processes for ML (2006), chapters 2 and 5.
func Fit(x [][]float64, y []float64, opt Options) (*GP, error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	if err := checkTraining(x, y); err != nil {
		return nil, err
	}
	g := &GP{opt: opt.withDefaults()}
	g.keep(x, y)
	if err := g.learn(nil); err != nil {
		return nil, err
	}
	return g, nil
}

// keep copies the observations.
func (g *GP) keep(x [][]float64, y []float64) {
	for _, row := range x {
		g.x = append(g.x, append([]float64(nil), row...))
	}
	g.y = append(g.y, y...)
}

// Refit learns the hyper-parameters again from all observations, with the options of Fit. The
// first start is the present hyper-parameters, the second Fit's first. Pools follow by
// themselves. On an error the model stays as it was.
func (g *GP) Refit() error { return g.learn(&g.params) }

// learn replaces the hyper-parameters by the best ones found; warm, if not nil, is the first start.
func (g *GP) learn(warm *params) error {
	y, mean, scale, err := standardise(g.y)
	if err != nil {
		return err
	}
	b := newBelief(g.x)
	var starts [][]float64
	if warm != nil {
		starts = append(starts, b.inside(warm.theta(scale)))
	}
	for k := 0; len(starts) < g.opt.Starts; k++ {
		starts = append(starts, b.start(k, g.opt.Seed))
	}
	best, err := learn(newLikelihood(g.x, y), b, starts, g.opt.tolerance())
	if err != nil {
		return err
	}
	old := g.params
	g.params = paramsOf(best, mean, scale)
	if err := g.rebuild(); err != nil {
		g.params = old
		if warm != nil {
			_ = g.rebuild() // it succeeded with these hyper-parameters and rows before
		}
		return err
	}
	return nil
}

// rebuild factors the covariance of all observations with the present hyper-parameters.
func (g *GP) rebuild() error {
	g.version++
	g.cols = newColumns(g.x, g.params.length)
	jitter, ok := g.f.build(len(g.x), g.params.signal+g.params.noise, func(i int, row []float64) {
		g.fill(i, row)
		row[i] += g.params.noise
	})
	if !ok {
		return fmt.Errorf("%w: %d rows, %+v", ErrFactor, len(g.x), g.params)
	}
	g.jitter = jitter
	g.z = g.z[:0]
	for i := range g.y {
		g.pushTarget(i)
	}
	return nil
}

// fill writes the covariances of observation i with observations 0 to i.
func (g *GP) fill(i int, row []float64) {
	xi := make([]float64, len(g.cols))
	g.cols.row(i, xi)
	g.cols.distances(row, xi)
	matern(row, nil, g.params.signal)
}

// pushTarget appends entry i of z = L⁻¹(y - mean).
func (g *GP) pushTarget(i int) {
	row := g.f.rows[i]
	g.z = append(g.z, (g.y[i]-g.params.mean-dot(row[:i], g.z))/row[i])
}

// Append conditions the model on one more observation, with unchanged hyper-parameters; row is
// copied. The result is the model conditioned on all the observations at once, but for rounding.
//
// Errors match ErrShape or ErrValue for a bad row or target, and the model stays as it was.
// O(n²) operations; O(n³/3) in the rare case that the matrix needs more jitter.
func (g *GP) Append(row []float64, y float64) error {
	if err := checkRows([][]float64{row}, len(g.cols)); err != nil {
		return err
	}
	if !finite(y) {
		return fmt.Errorf("%w: target %g", ErrValue, y)
	}
	n := len(g.x)
	g.keep([][]float64{row}, []float64{y})
	g.cols.push(row, g.params.length)
	ok := g.f.extend(n+1, func(i int, row []float64) {
		g.fill(i, row)
		row[i] += g.params.noise + g.jitter
	})
	if ok {
		g.pushTarget(n)
		return nil
	}
	if err := g.rebuild(); err != nil {
		g.x, g.y = g.x[:n], g.y[:n]
		_ = g.rebuild() // it succeeded with these hyper-parameters and rows before
		return err
	}
	return nil
}

// Len is the number of observations.
func (g *GP) Len() int { return len(g.x) }

// theta returns the logarithms of p for targets divided by scale.
func (p *params) theta(scale float64) []float64 {
	theta := make([]float64, 0, len(p.length)+2)
	for _, l := range p.length {
		theta = append(theta, math.Log(l))
	}
	return append(theta, math.Log(p.signal/scale/scale), math.Log(p.noise/scale/scale))
}

// paramsOf undoes params.theta.
func paramsOf(theta []float64, mean, scale float64) params {
	d := len(theta) - 2
	p := params{mean: mean, length: make([]float64, d)}
	for i := range p.length {
		p.length[i] = math.Exp(theta[i])
	}
	p.signal = math.Exp(theta[d]) * scale * scale
	p.noise = math.Exp(theta[d+1]) * scale * scale
	return p
}
