package gp

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"

	"tutti/metrics"
)

// hyperprior holds independent normal priors for the elements of theta (see paramsOf), and the bounds of the
// search.
type hyperprior struct {
	median, sd, low, high []float64
}

// add appends the prior and the bounds of one element of theta.
func (h *hyperprior) add(median, sd, low, high float64) {
	h.median = append(h.median, median)
	h.sd = append(h.sd, sd)
	h.low = append(h.low, low)
	h.high = append(h.high, high)
}

// penalty returns a constant minus the log prior density of theta, in nats. For a theta outside the bounds, it
// adds the squared distance to the bounds, since L-BFGS itself has no bounds. If grad is not nil, penalty
// adds its derivatives to grad.
func (h *hyperprior) penalty(theta, grad []float64) float64 {
	var sum float64
	for i, v := range theta {
		t := (v - h.median[i]) / h.sd[i]
		sum += t * t / 2
		slope := t / h.sd[i]
		if over := v - min(max(v, h.low[i]), h.high[i]); over != 0 {
			sum += boundWeight * over * over
			slope += 2 * boundWeight * over
		}
		if grad != nil {
			grad[i] += slope
		}
	}
	return sum
}

// clamp limits the elements of theta to their bounds and returns theta.
func (h *hyperprior) clamp(theta []float64) []float64 {
	for i, v := range theta {
		theta[i] = min(max(v, h.low[i]), h.high[i])
	}
	return theta
}

// maximise searches for the theta (see paramsOf) with the greatest posterior density, by L-BFGS from
// `start`. It returns the best theta of all evaluations.
func maximise(l *likelihood, h *hyperprior, start []float64, evals int) ([]float64, error) {
	var best []float64
	least := math.Inf(1) // smallest cost so far
	problem := optimize.Problem{
		Func: func(theta []float64) float64 {
			cost := h.penalty(theta, nil) - l.value(theta)
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
			h.penalty(theta, grad)
		},
	}
	settings := &optimize.Settings{
		FuncEvaluations:   evals,
		GradientThreshold: gradientTolerance,
		Converger:         &optimize.FunctionConverge{Absolute: valueTolerance, Iterations: valueIterations},
	}
	// If the line search fails, the best theta found so far is the result.
	_, _ = optimize.Minimize(problem, start, settings, &optimize.LBFGS{})
	if best == nil {
		return nil, fmt.Errorf("%w at the start of the search", ErrFactor)
	}
	return best, nil
}

// constantSpread is a limit for the standard deviation of targets, relative to the greatest target. Targets
// with a smaller standard deviation count as constant. The value is of the order of rounding errors.
const constantSpread = 1e-12

// standardise returns y shifted to mean 0 and scaled to variance 1. It also returns the shift and the
// scale. It does not scale constant targets.
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
	if !metrics.Finite(mean) || !metrics.Finite(scale) {
		return nil, 0, 0, fmt.Errorf("%w: targets up to %g overflow", ErrValue, largest)
	}
	if scale <= constantSpread*largest || scale == 0 {
		scale = 1
	}
	for i := range std {
		std[i] /= scale
	}
	return std, mean, scale, nil
}
