package gp

import (
	"fmt"
	"math"
	"slices"
)

// Options configures Learn.
type Options struct {
	Length      []float64 // length scales of the step functions, and prior medians of the other length scales, in the columns' units
	Steps       float64   // fraction of the variance of a task's own function that is a step function
	Split       float64   // fraction of the same variance that is independent between values of SplitColumn
	SplitColumn int
	Noise       float64 // variance of the measurement noise, in the square of the targets' unit; not learned
	Start       *Params // start of the search; nil means the prior medians
}

// Learn learns the hyperparameters from the observations. If there are more than 240 observations, it uses
// those at an evenly distributed sample of the rows.
//
// The hyperparameter Mean is the mean of the targets. The others maximize the log marginal likelihood under
// log-normal priors, with analytic gradients. The likelihood is computed without Steps and Split. Otherwise
// the step functions alone would explain so much that the smooth parts would be underestimated. The result
// depends only on the arguments. The errors are those of New.
//
// Source: Rasmussen and Williams, Gaussian Processes for ML (2006), chapter 5.
func Learn(obs Observations, opt Options) (Params, error) {
	if err := obs.validate(); err != nil {
		return Params{}, err
	}
	if err := checkLengths(opt.Length, len(obs.X[0])); err != nil {
		return Params{}, err
	}
	if !(opt.Noise >= 0) || math.IsInf(opt.Noise, 0) {
		return Params{}, fmt.Errorf("%w: noise %g", ErrValue, opt.Noise)
	}
	if opt.Start == nil && len(obs.Y) > 2*firstObservations {
		p, err := learn(obs.Sample(firstObservations), opt)
		if err != nil {
			return Params{}, err
		}
		opt.Start = &p
	}
	return learn(obs.Sample(maxLearned), opt)
}

// learn works like Learn, but uses all observations and a single search.
func learn(obs Observations, opt Options) (Params, error) {
	y, mean, scale, err := standardise(obs.Y)
	if err != nil {
		return Params{}, err
	}
	unit := scale * scale
	h := opt.hyperprior(unit, obs.sources())
	start := slices.Clone(h.median)
	switch {
	case opt.Start != nil:
		start = h.clamp(opt.Start.theta(unit, len(h.median)))
	case obs.jobs() > 0:
		start[2*len(opt.Length)] += math.Log(jobStart / jobPrior.median)
	}
	obs.Extra = slices.Clone(obs.Extra)
	for j := range obs.Extra {
		obs.Extra[j] /= unit
	}
	l := &likelihood{obs: obs, y: y, noise: opt.Noise / unit}
	best, err := maximise(l, h, start, maxEvals)
	if err != nil {
		return Params{}, err
	}
	p := paramsOf(h.clamp(best), len(opt.Length), unit)
	p.Mean, p.Noise, p.StepLength, p.Steps = mean, opt.Noise, opt.Length, opt.Steps
	p.Split, p.SplitColumn = opt.Split, opt.SplitColumn
	return p, nil
}

// hyperprior returns the prior of the vector theta; see paramsOf. `unit` is the variance of
// the targets. `sources` says whether any observation has a source other than 0.
func (o Options) hyperprior(unit float64, sources bool) *hyperprior {
	h := &hyperprior{}
	for range 2 {
		for _, length := range o.Length {
			at := math.Log(length)
			h.add(at, lengthSD, at-lengthMax, at+lengthMax)
		}
	}
	noise := math.Log(max(o.Noise/unit, minNoise))
	h.add(noise+math.Log(jobPrior.median), jobPrior.sd, noise+math.Log(jobPrior.low), noise+math.Log(jobPrior.high))
	priors := variancePriors
	if sources {
		priors = slices.Concat(priors, slices.Repeat([]variancePrior{changePrior}, sourceVariances))
	}
	for _, p := range priors {
		h.add(math.Log(p.median), p.sd, math.Log(p.low), math.Log(p.high))
	}
	return h
}

// sourceVariances is the number of variances that describe how another source of observations, such as an
// earlier campaign, differs from source 0. They are the last ones in the result of Params.variances.
const sourceVariances = 4

// variances returns pointers to the variances that are learned, in the order of theta (see paramsOf).
func (p *Params) variances() []*float64 {
	return []*float64{
		&p.Job, &p.Common, &p.Own, &p.Level, &p.Shared, &p.Rough,
		&p.ChangeLevel, &p.Change, &p.ChangeOwnLevel, &p.ChangeOwn,
	}
}

// paramsOf returns the hyperparameters whose logarithms are the elements of theta. It is the inverse of the
// method theta. The first elements are the d length scales of the common function, followed by the d length
// scales of the tasks' own functions. The variances, divided by `unit`, come last. If source 0 is the only
// source, theta omits the variances between sources.
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

// theta returns the natural logarithms of the first n hyperparameters, in the order that paramsOf describes. A variance
// of 0 gives -Inf.
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
