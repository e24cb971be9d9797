package gp

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"
)

// MultiOptions say how FitMulti learns hyper-parameters.
type MultiOptions struct {
	Length []float64    // centres of the priors of both kinds of length scales, in the columns' units
	Noise  float64      // variance of the measurement noise, in the targets' unit squared; it is not learnt
	Start  *MultiParams // where the search begins; nil: at the centres of the priors
}

// Log-normal priors of the variances, relative to that of the targets: what is common makes
// most of it, a task's own way a twentieth. Our choice; a deviation of 1.5 is a factor of 4.5.
var multiPriors = [...]struct{ centre, sd, low, high float64 }{
	{1, 1.5, 1e-3, 1e3},    // common
	{0.05, 1.5, 1e-5, 1e2}, // own
	{0.05, 1.5, 1e-5, 1e2}, // level
	{1e-4, 2, 1e-7, 1},     // shared
	{3e-4, 1.5, 1e-6, 1},   // rough
}

const (
	multiLengthSD  = 1.0 // of the logarithm of a length scale: a factor of 2.7
	multiLengthMax = 4.0 // and at most so much from the centre
	multiEvals     = 40  // of the likelihood
	multiRows      = 240 // observations to learn from: more move the parameters little and cost n³
)

// FitMulti learns the hyper-parameters from the observations, from an even sample of
// rows where there are more than 240, and returns the model conditioned on all.
//
// The mean is that of the targets; the rest maximises the log marginal likelihood plus
// log-normal priors. The result depends on the arguments only. Errors are those of
// WithMulti.
func FitMulti(obs Observations, opt MultiOptions) (*Multi, error) {
	if err := obs.validate(); err != nil {
		return nil, err
	}
	if len(opt.Length) != len(obs.X[0]) {
		return nil, fmt.Errorf("%w: %d length scales for %d columns", ErrShape, len(opt.Length), len(obs.X[0]))
	}
	for _, v := range append([]float64{opt.Noise + math.SmallestNonzeroFloat64}, opt.Length...) {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: length scales %g, noise %g", ErrValue, opt.Length, opt.Noise)
		}
	}
	p, err := learnMulti(obs.Sample(multiRows), opt)
	if err != nil {
		return nil, err
	}
	return WithMulti(p, obs)
}

func learnMulti(obs Observations, opt MultiOptions) (MultiParams, error) {
	y, mean, scale, err := standardise(obs.Y)
	if err != nil {
		return MultiParams{}, err
	}
	unit := scale * scale
	b := opt.belief()
	start := append([]float64(nil), b.centre...)
	if opt.Start != nil {
		start = b.inside(opt.Start.theta(unit))
	}
	l := &multiLikelihood{obs: obs, y: y, noise: opt.Noise / unit}
	theta, cost := start, math.Inf(1)
	problem := optimize.Problem{
		Func: func(at []float64) float64 {
			v := b.penalty(at, nil) - l.value(at)
			if math.IsNaN(v) {
				v = math.Inf(1)
			}
			if v < cost {
				cost, theta = v, append([]float64(nil), at...)
			}
			return v
		},
		Grad: func(grad, at []float64) {
			l.gradient(at, grad)
			for i := range grad {
				grad[i] = -grad[i]
			}
			b.penalty(at, grad)
		},
	}
	settings := &optimize.Settings{
		FuncEvaluations:   multiEvals,
		GradientThreshold: 1e-3,
		Converger:         &optimize.FunctionConverge{Absolute: 1e-3, Iterations: 3},
	}
	// A search that gives up still leaves the best point seen, which is what counts.
	_, _ = optimize.Minimize(problem, start, settings, &optimize.LBFGS{})
	if math.IsInf(cost, 1) {
		return MultiParams{}, fmt.Errorf("%w at the start", ErrFactor)
	}
	p := multiParams(b.inside(theta), unit)
	p.Mean, p.Noise = mean, opt.Noise
	return p, nil
}

func (o MultiOptions) belief() *belief {
	b := &belief{}
	for range 2 {
		for _, length := range o.Length {
			at := math.Log(length)
			b.add(at, multiLengthSD, at-multiLengthMax, at+multiLengthMax)
		}
	}
	for _, p := range multiPriors {
		b.add(math.Log(p.centre), p.sd, math.Log(p.low), math.Log(p.high))
	}
	return b
}

// multiParams is the inverse of theta, the logarithms of common lengths, own lengths,
// common, own, level, shared and rough, the variances over unit.
func multiParams(theta []float64, unit float64) MultiParams {
	d := (len(theta) - len(multiPriors)) / 2
	e := make([]float64, len(theta))
	for i, v := range theta {
		e[i] = math.Exp(v)
	}
	t := e[2*d:]
	return MultiParams{
		CommonLength: e[:d:d], OwnLength: e[d : 2*d : 2*d],
		Common: unit * t[0], Own: unit * t[1], Level: unit * t[2], Shared: unit * t[3], Rough: unit * t[4],
	}
}

func (p MultiParams) theta(unit float64) []float64 {
	var out []float64
	for _, v := range p.CommonLength {
		out = append(out, math.Log(v))
	}
	for _, v := range p.OwnLength {
		out = append(out, math.Log(v))
	}
	for _, v := range []float64{p.Common, p.Own, p.Level, p.Shared, p.Rough} {
		out = append(out, math.Log(v/unit))
	}
	return out
}

// Sample returns the observations at as many rows as it takes to have most of them, all
// when there are no more; see Sampled.
func (o Observations) Sample(most int) Observations {
	if len(o.Y) <= most {
		return o
	}
	var out Observations
	row := make([]int, len(o.X)) // in out, plus one
	for _, j := range o.Sampled(most) {
		u := o.At[j]
		if row[u] == 0 {
			out.X = append(out.X, o.X[u])
			row[u] = len(out.X)
		}
		out.At = append(out.At, row[u]-1)
		out.Task = append(out.Task, o.Task[j])
		out.Y = append(out.Y, o.Y[j])
	}
	return out
}

// Sampled returns which observations Sample takes, in order: all those at rows that are
// taken evenly over their order, number k being the one at the fraction k·0.618… modulo
// one.
func (o Observations) Sampled(most int) []int {
	n := len(o.X)
	count := make([]int, n)
	for _, u := range o.At {
		count[u]++
	}
	taken := make([]bool, n)
	total := 0
	for k := 1; total < most && k <= 8*n && len(o.Y) > most; k++ {
		_, part := math.Modf(float64(k) * (math.Phi - 1))
		if u := int(part * float64(n)); !taken[u] {
			taken[u] = true
			total += count[u]
		}
	}
	var out []int
	for j, u := range o.At {
		if taken[u] || len(o.Y) <= most {
			out = append(out, j)
		}
	}
	return out
}
