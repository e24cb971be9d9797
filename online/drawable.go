package online

import "slices"

// repeated is how often a job is expected to draw an algorithm at least: of the first call
// the time is not kept.
const repeated = 2.0

// waiting is by how much the weights are divided of what waits for a later job: that it is
// hardly drawn, but has its place in the order of a race within a run, which draws nothing.
const waiting = 1000

// drawable returns weights of which a job that draws so many calls draws each algorithm often
// enough: those with the least weights wait for a later job. Where there is nothing to explore
// what is selected is watched.
func drawable(weights []float64, selected int, calls float64) []float64 {
	out := drawnOften(weights, selected, calls)
	for i, w := range weights {
		if out[i] == 0 {
			out[i] = w / waiting
		}
	}
	return out
}

// drawnOften has none of those that wait.
func drawnOften(weights []float64, selected int, calls float64) []float64 {
	out := slices.Clone(weights)
	for {
		sum, n, least := 0.0, 0, -1
		for i, w := range out {
			sum += w
			if w > 0 && i != selected {
				n++
				if least < 0 || w < out[least] {
					least = i
				}
			}
		}
		switch {
		case sum == 0:
			out[selected] = 1
			return out
		case n <= 1 || calls == 0 || calls*(sum-out[selected])/sum >= repeated*float64(n):
			return out
		}
		out[least] = 0
	}
}
