package gp

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/optimize"
)

// belief is what is held about theta before seeing the targets: independent normal
// distributions, and the bounds outside of which nothing is looked for.
type belief struct {
	centre, sd, low, high []float64
}

// Priors and bounds, for targets of variance 1 and columns measured in their own range.
//
// Length scales: log-normal with location √2 + ½·log d and scale √3, from Hvarfner, Hellsten and
// Nardi, Vanilla Bayesian Optimization Performs Great in High Dimensions (ICML 2024).
// Signal and noise variance: our choice, centred on the whole variance and a thousandth of it,
// a factor e² = 7.4 each way being one standard deviation.
// Bounds: 1e-5 and 1e5 as in scikit-learn; the noise stays above 1e-6 to keep the matrix regular.
const (
	lengthSD   = 1.7320508075688772 // √3
	signalSD   = 2
	noiseMean  = 1e-3
	noiseSD    = 2
	boundRatio = 1e5
	leastNoise = 1e-6
	wall       = 100 // weight of the squared excess over a bound, in nats
)

func newBelief(x [][]float64) *belief {
	spans := spans(x)
	b := &belief{}
	bound := math.Log(boundRatio)
	for _, span := range spans {
		at := math.Log(span)
		b.add(at+math.Sqrt2+0.5*math.Log(float64(len(spans))), lengthSD, at-bound, at+bound)
	}
	b.add(0, signalSD, -bound, bound)
	b.add(math.Log(noiseMean), noiseSD, math.Log(leastNoise), bound)
	return b
}

func (b *belief) add(centre, sd, low, high float64) {
	b.centre = append(b.centre, centre)
	b.sd = append(b.sd, sd)
	b.low = append(b.low, low)
	b.high = append(b.high, high)
}

// penalty returns what theta costs, in nats, and adds its derivatives to grad unless that is nil.
// Bounds are walls that grow with the square of the excess, since L-BFGS knows none.
func (b *belief) penalty(theta, grad []float64) float64 {
	var sum float64
	for i, v := range theta {
		t := (v - b.centre[i]) / b.sd[i]
		sum += 0.5 * t * t
		slope := t / b.sd[i]
		if over := v - min(max(v, b.low[i]), b.high[i]); over != 0 {
			sum += wall * over * over
			slope += 2 * wall * over
		}
		if grad != nil {
			grad[i] += slope
		}
	}
	return sum
}

// start returns the k-th start: the first is length scales of one range, unit signal and a
// hundredth of noise; the others are drawn from the priors, inside the bounds.
func (b *belief) start(k int, seed uint64) []float64 {
	theta := make([]float64, len(b.centre))
	d := len(theta) - 2
	if k == 0 {
		for i := range d {
			theta[i] = (b.low[i] + b.high[i]) / 2
		}
		theta[d+1] = math.Log(1e-2)
		return theta
	}
	rng := rand.New(rand.NewPCG(seed, uint64(k)))
	for i := range theta {
		theta[i] = min(max(b.centre[i]+b.sd[i]*rng.NormFloat64(), b.low[i]), b.high[i])
	}
	return theta
}

// spans returns the range of each column, 1 where it is constant.
func spans(x [][]float64) []float64 {
	out := make([]float64, len(x[0]))
	for d := range out {
		low, high := x[0][d], x[0][d]
		for _, row := range x {
			low, high = min(low, row[d]), max(high, row[d])
		}
		out[d] = high - low
		if out[d] == 0 {
			out[d] = 1
		}
	}
	return out
}

// standardise returns y moved and scaled to mean 0 and variance 1. Targets that differ by no
// more than rounding count as constant and keep their scale.
func standardise(y []float64) (std []float64, mean, scale float64, err error) {
	n := float64(len(y))
	var largest, square float64
	for _, v := range y {
		mean += v / n
		largest = max(largest, math.Abs(v))
	}
	std = make([]float64, len(y))
	for i, v := range y {
		std[i] = v - mean
		square += std[i] * std[i] / n
	}
	scale = math.Sqrt(square)
	if !finite(mean) || !finite(scale) {
		return nil, 0, 0, fmt.Errorf("%w: targets up to %g overflow", ErrValue, largest)
	}
	if scale <= 1e-12*largest || scale == 0 {
		scale = 1
	}
	for i := range std {
		std[i] /= scale
	}
	return std, mean, scale, nil
}

// objective is the log likelihood of hyper-parameters.
type objective interface {
	value(theta []float64) float64
	gradient(theta, grad []float64)
}

// tolerance says when a search ends; see doc.go for what would matter.
type tolerance struct {
	evals      int     // at most
	gradient   float64 // norm below which it is flat
	absolute   float64 // nats that it must gain
	iterations int     // in so many steps
}

// learn maximises likelihood and belief from each start by L-BFGS and returns the best theta
// that any evaluation saw.
func learn(l objective, b *belief, starts [][]float64, until tolerance) ([]float64, error) {
	var best []float64
	least := math.Inf(1) // penalty minus log likelihood at best
	problem := optimize.Problem{
		Func: func(theta []float64) float64 {
			cost := b.penalty(theta, nil) - l.value(theta)
			if math.IsNaN(cost) {
				cost = math.Inf(1)
			}
			if cost < least {
				least = cost
				best = append(best[:0], theta...)
			}
			return cost
		},
		Grad: func(grad, theta []float64) {
			l.gradient(theta, grad)
			for i := range grad {
				grad[i] = -grad[i]
			}
			b.penalty(theta, grad)
		},
	}
	for _, start := range starts {
		settings := &optimize.Settings{
			FuncEvaluations:   until.evals,
			GradientThreshold: until.gradient,
			Converger:         &optimize.FunctionConverge{Absolute: until.absolute, Iterations: until.iterations},
		}
		// A line search that gives up still leaves the best point seen, which is what counts.
		_, _ = optimize.Minimize(problem, start, settings, &optimize.LBFGS{})
	}
	if best == nil {
		return nil, fmt.Errorf("%w at every start", ErrFactor)
	}
	return best, nil
}

// inside moves theta to the nearest point within the bounds; -Inf, the logarithm of no noise, too.
func (b *belief) inside(theta []float64) []float64 {
	for i, v := range theta {
		theta[i] = min(max(v, b.low[i]), b.high[i])
	}
	return theta
}
