package online

import "slices"

// untried is how many times as long as its median is expected an algorithm takes on average
// that was never called in a class. On the recorded machines of data/simgrid algorithms take
// 1.7 to 5.5 times as long as the default on average; most of them take hardly longer.
const untried = 2.5

// gainSpent is the part of what is spared by now that exploring may cost, beside Options.Over
// of the default's time.
const gainSpent = 0.2

// repeated is how often a job is expected to draw an algorithm at least: of the first call
// the time is not kept.
const repeated = 2.0

// affords is by how much explored calls may take longer on average than what is selected, as a
// share of it, where that is so many times faster than the default.
func (o Options) affords(faster float64) float64 {
	return (o.Over*faster + gainSpent*max(0, faster-1)) / o.Explore
}

// Unknown returns the weights of algorithms, the default first, where nothing is known: all of
// them alike but for the default, which holds the price down.
func Unknown(algorithms int, opt Options) []float64 {
	weights, prices := make([]float64, algorithms), make([]float64, algorithms)
	for i := range weights {
		weights[i] = 1
		if i > 0 {
			prices[i] = untried - 1
		}
	}
	restrain(weights, prices, 0, opt.affords(1))
	return weights
}

// restrain makes the price of a call that is drawn by weights, the mean of prices, no higher
// than what can be afforded: what is selected, which costs nothing, gets the weight that
// this takes.
func restrain(weights, prices []float64, selected int, affords float64) {
	sum, price := 0.0, 0.0
	for i, w := range weights {
		sum += w
		price += w * prices[i]
	}
	switch {
	case sum == 0, price > 0 && affords <= 0: // it is watched
		clear(weights)
		weights[selected] = 1
	case price > affords*sum:
		weights[selected] += price/affords - sum
	}
}

// mixed returns weights that are restrained. Where a job draws too few calls to repeat all of
// them, the algorithms with the least weights wait for a later one.
func mixed(weights, prices []float64, selected int, drawn, affords float64) []float64 {
	weights = slices.Clone(weights)
	for {
		out := slices.Clone(weights)
		restrain(out, prices, selected, affords)
		sum, others, n, least := 0.0, 0.0, 0, -1
		for i, w := range out {
			sum += w
			if i == selected || w == 0 {
				continue
			}
			others += w
			n++
			if least < 0 || w < out[least] {
				least = i
			}
		}
		if n <= 1 || drawn == 0 || drawn*others/sum >= repeated*float64(n) {
			return out
		}
		weights[least] = 0
	}
}
