package gp

import (
	"fmt"
	"math"
	"slices"
)

// Options say how Fit learns hyper-parameters.
type Options struct {
	Length      []float64 // of steps, and centres of the priors of the other length scales, in the columns' units
	Steps       float64   // part of the variance of a task's own function that goes by steps
	Split       float64   // part of it that each value of SplitColumn has of its own
	SplitColumn int       // of the rows
	Noise       float64   // variance of the measurement noise, in the targets' unit squared; it is not learnt
	Start       *Params   // where the search begins; nil: at the centres of the priors
}

// variancePrior is log-normal, relative to the variance of the targets.
type variancePrior struct{ centre, sd, low, high float64 }

// What is common makes most of the variance, a task's own way a twentieth. Our choice;
// a deviation of 1.5 is a factor of 4.5. The order is that of Params.variances.
var multiPriors = []variancePrior{
	{1, 1.5, 1e-3, 1e3},    // common
	{0.05, 1.5, 1e-5, 1e2}, // own
	{0.05, 1.5, 1e-5, 1e2}, // level
	{1e-4, 2, 1e-7, 1},     // shared
	{3e-4, 1.5, 1e-6, 1},   // rough
}

// Between sources little is taken to have changed: 1 % of the targets' deviation.
var changePriors = []variancePrior{
	{1e-4, 2, 1e-7, 1e2}, // level
	{1e-4, 2, 1e-7, 1e2}, // smooth part
	{1e-4, 2, 1e-7, 1e2}, // level of a task
	{1e-4, 2, 1e-7, 1e2}, // smooth part of a task
}

// What a job does is relative to the measurement noise, and taken to be a tenth of it.
var jobPrior = variancePrior{0.1, 2, 1e-3, 1e4}

// A search without a start begins with so much for what a job does, relative to the measurement
// noise: from little it may end where other parts explain what jobs do.
const jobStart = 10.0

const (
	multiLengthSD  = 1.0  // of the logarithm of a length scale: a factor of 2.7
	multiLengthMax = 4.0  // and at most so much from the centre
	minNoise       = 1e-6 // of the variance of the targets: less would leave the matrix singular
	multiEvals     = 40   // of the likelihood
	multiFirst     = 80   // observations that a search without a start begins with: evaluations are cheap there
	multiRows      = 240  // observations to learn from: more move the parameters little and cost n³
)

// Fit returns the model with the hyper-parameters of Learn conditioned on all
// observations.
func Fit(obs Observations, opt Options) (*GP, error) {
	p, err := Learn(obs, opt)
	if err != nil {
		return nil, err
	}
	return New(p, obs)
}

// Learn learns the hyper-parameters from the observations, from an even sample of
// rows where there are more than 240.
//
// The mean is that of the targets; the rest maximises the log marginal likelihood of a
// model without steps and split, plus log-normal priors: steps explain so much by themselves that
// with them less is learnt of what is smooth. The result depends on the arguments only.
// Errors are those of New.
func Learn(obs Observations, opt Options) (Params, error) {
	if err := obs.validate(); err != nil {
		return Params{}, err
	}
	if len(opt.Length) != len(obs.X[0]) {
		return Params{}, fmt.Errorf("%w: %d length scales for %d columns", ErrShape, len(opt.Length), len(obs.X[0]))
	}
	for _, v := range append([]float64{opt.Noise + math.SmallestNonzeroFloat64}, opt.Length...) {
		if !(v > 0) || math.IsInf(v, 0) {
			return Params{}, fmt.Errorf("%w: length scales %g, noise %g", ErrValue, opt.Length, opt.Noise)
		}
	}
	if opt.Start == nil && len(obs.Y) > 2*multiFirst {
		p, err := learn(obs.Sample(multiFirst), opt)
		if err != nil {
			return Params{}, err
		}
		opt.Start = &p
	}
	return learn(obs.Sample(multiRows), opt)
}

func learn(obs Observations, opt Options) (Params, error) {
	y, mean, scale, err := standardise(obs.Y)
	if err != nil {
		return Params{}, err
	}
	unit := scale * scale
	b := opt.belief(unit, obs.sources())
	start := append([]float64(nil), b.centre...)
	switch {
	case opt.Start != nil:
		start = b.inside(opt.Start.theta(unit, len(b.centre)))
	case obs.jobs() > 0:
		start[2*len(opt.Length)] += math.Log(jobStart / jobPrior.centre)
	}
	obs.Extra = slices.Clone(obs.Extra)
	for j := range obs.Extra {
		obs.Extra[j] /= unit
	}
	l := &likelihood{obs: obs, y: y, noise: opt.Noise / unit}
	best, err := maximise(l, b, start, tolerance{evals: multiEvals, gradient: 1e-3, absolute: 1e-2, iterations: 2})
	if err != nil {
		return Params{}, err
	}
	p := paramsOf(b.inside(best), len(opt.Length), unit)
	p.Mean, p.Noise, p.StepLength, p.Steps = mean, opt.Noise, opt.Length, opt.Steps
	p.Split, p.SplitColumn = opt.Split, opt.SplitColumn
	return p, nil
}

// belief about theta, see paramsOf.
func (o Options) belief(unit float64, sources bool) *belief {
	b := &belief{}
	for range 2 {
		for _, length := range o.Length {
			at := math.Log(length)
			b.add(at, multiLengthSD, at-multiLengthMax, at+multiLengthMax)
		}
	}
	noise := math.Log(max(o.Noise/unit, minNoise))
	b.add(noise+math.Log(jobPrior.centre), jobPrior.sd, noise+math.Log(jobPrior.low), noise+math.Log(jobPrior.high))
	priors := multiPriors
	if sources {
		priors = append(slices.Clip(priors), changePriors...)
	}
	for _, p := range priors {
		b.add(math.Log(p.centre), p.sd, math.Log(p.low), math.Log(p.high))
	}
	return b
}

// variances that are learnt, in the order of theta.
func (p *Params) variances() []*float64 {
	return []*float64{
		&p.Job, &p.Common, &p.Own, &p.Level, &p.Shared, &p.Rough,
		&p.ChangeLevel, &p.Change, &p.ChangeOwnLevel, &p.ChangeOwn,
	}
}

// paramsOf is the inverse of theta, the logarithms of d common lengths, d own lengths
// and variances over unit, those of changes only where there are sources.
func paramsOf(theta []float64, d int, unit float64) Params {
	e := make([]float64, len(theta))
	for i, v := range theta {
		e[i] = math.Exp(v)
	}
	p := Params{CommonLength: e[:d:d], OwnLength: e[d : 2*d : 2*d]}
	for i, variance := range p.variances()[:len(e)-2*d] {
		*variance = unit * e[2*d+i]
	}
	return p
}

// theta of n numbers; -Inf is the logarithm of nothing.
func (p Params) theta(unit float64, n int) []float64 {
	var out []float64
	for _, lengths := range [][]float64{p.CommonLength, p.OwnLength} {
		for _, v := range lengths {
			out = append(out, math.Log(v))
		}
	}
	for _, variance := range p.variances()[:n-len(out)] {
		out = append(out, math.Log(*variance/unit))
	}
	return out
}

// Sample returns the observations at as many rows as it takes to have most of them, all
// when there are no more; see SampleIndices.
func (o Observations) Sample(most int) Observations {
	if len(o.Y) <= most {
		return o
	}
	var out Observations
	row := make([]int, len(o.X)) // in out, plus one
	for _, j := range o.SampleIndices(most) {
		u := o.At[j]
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

// SampleIndices returns which observations Sample takes, in order: all those at rows that are
// taken evenly over their order, number k being the one at the fraction k·0.618… modulo
// one. Rows with an observation of source 0 come before the others.
func (o Observations) SampleIndices(most int) []int {
	n := len(o.X)
	count, present := make([]int, n), make([]bool, n)
	for j, u := range o.At {
		count[u]++
		present[u] = present[u] || o.source(j) == 0
	}
	taken := make([]bool, n)
	total := 0
	for _, first := range []bool{true, false} {
		for k := 1; total < most && k <= 8*n && len(o.Y) > most; k++ {
			_, part := math.Modf(float64(k) * (math.Phi - 1))
			if u := int(part * float64(n)); !taken[u] && present[u] == first {
				taken[u] = true
				total += count[u]
			}
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
