package gp

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"
)

// belief is what is held about theta before seeing the targets: independent normal
// distributions, and the bounds outside of which nothing is looked for.
type belief struct {
	centre, sd, low, high []float64
}

// boundWeight weighs the squared excess over a bound, in nats.
const boundWeight = 100

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
			sum += boundWeight * over * over
			slope += 2 * boundWeight * over
		}
		if grad != nil {
			grad[i] += slope
		}
	}
	return sum
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

// tolerance says when a search ends; see doc.go for what would matter.
type tolerance struct {
	evals      int     // at most
	gradient   float64 // norm below which it is flat
	absolute   float64 // nats that it must gain
	iterations int     // in so many steps
}

// maximise maximises likelihood and belief from start by L-BFGS and returns the best theta
// that any evaluation saw.
func maximise(l *likelihood, b *belief, start []float64, until tolerance) ([]float64, error) {
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
	settings := &optimize.Settings{
		FuncEvaluations:   until.evals,
		GradientThreshold: until.gradient,
		Converger:         &optimize.FunctionConverge{Absolute: until.absolute, Iterations: until.iterations},
	}
	// A line search that gives up still leaves the best point seen, which is what counts.
	_, _ = optimize.Minimize(problem, start, settings, &optimize.LBFGS{})
	if best == nil {
		return nil, fmt.Errorf("%w at the start of the search", ErrFactor)
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
