package online

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"tutti/coll"
	"tutti/metrics"
)

// history holds the times of all jobs so far, by class and algorithm. It also holds the measurements of
// earlier sources.
type history struct {
	classes     []Class
	times       [][]meanTime // for each class and algorithm
	earlier     [][]coll.Measurement
	repeated    int       // number of calls that have an earlier call of the same class and algorithm
	squares     float64   // sum of the squared deviations of calls from the mean of their class and algorithm
	callsPerJob []float64 // average number of timed calls of each class, over the jobs that have such calls
	valid       validTimes
}

// meanTime is the mean natural logarithm of the seconds of n calls.
type meanTime struct {
	n    int
	mean float64
}

// newHistory returns the history that follows from the calls of each class, which must be in the order of
// jobs. Calls before a change of their algorithm's times do not count.
func newHistory(classes []Class, calls [][]timedCall, earlier [][]coll.Measurement) *history {
	h := &history{
		classes: classes, earlier: earlier, times: make([][]meanTime, len(classes)),
		callsPerJob: make([]float64, len(classes)), valid: validCalls(classes, calls),
	}
	for class, of := range calls {
		h.times[class] = make([]meanTime, len(classes[class].Algorithms))
		h.callsPerJob[class] = callsPerJob(of)
		for algorithm, logs := range h.valid.logs[class] {
			if n := len(logs); n > 0 {
				mean, variance := stat.PopMeanVariance(clip(logs), nil)
				h.times[class][algorithm] = meanTime{n, mean}
				h.repeated, h.squares = h.repeated+n-1, h.squares+float64(n)*variance
			}
		}
	}
	return h
}

func callsPerJob(calls []timedCall) float64 {
	jobs := map[int]bool{}
	for _, c := range calls {
		jobs[c.job] = true
	}
	return float64(len(calls)) / float64(max(1, len(jobs)))
}

// maxDeviations limits the deviation of a call from the median, in standard deviations. Larger deviations
// are reduced to it, so that a few delayed calls have little influence.
const maxDeviations = 3

// clip limits logarithms to at most maxDeviations from their median. It changes the slice.
func clip(logs []float64) []float64 {
	width := maxDeviations * max(usualNoise, metrics.RobustDeviation(logs))
	middle := metrics.Quantile(logs, 0.5)
	for i, x := range logs {
		logs[i] = min(middle+width, max(middle-width, x))
	}
	return logs
}

// The noise of one call is a weighted mean of usualNoise (a relative standard deviation) and of the noise in
// repeated calls. Without repeated calls it is usualNoise. After usualWeight repeated calls, both have the
// same weight.
const (
	usualNoise  = 0.05
	usualWeight = 10
)

// noise returns the variance of the logarithm of a call's time around the mean of the call's class and
// algorithm.
func (h *history) noise() float64 {
	return (usualWeight*usualNoise*usualNoise + h.squares) / float64(usualWeight+h.repeated)
}

// normal95 is half the width of a 95 % interval of a normal distribution, in standard deviations.
const normal95 = 1.96

// measurements returns the times that jobs recorded for a collective, as measurements. A time is the
// geometric mean of the calls, with a 95 % interval.
func (h *history) measurements(c coll.Collective) []coll.Measurement {
	deviation := math.Sqrt(h.noise())
	var out []coll.Measurement
	for i, class := range h.classes {
		if class.Collective != c {
			continue
		}
		for a, w := range h.times[i] {
			if w.n == 0 {
				continue
			}
			width := normal95 * deviation / math.Sqrt(float64(w.n))
			out = append(out, coll.Measurement{
				Candidate: coll.Candidate{Point: class.Point, Algorithm: class.Algorithms[a]},
				Seconds:   math.Exp(w.mean), Low: math.Exp(w.mean - width), High: math.Exp(w.mean + width),
				Samples: w.n, CostSeconds: float64(w.n) * math.Exp(w.mean),
			})
		}
	}
	return out
}

// earlierOf returns the earlier measurements of a collective. The result has one slice for each source.
func (h *history) earlierOf(c coll.Collective) [][]coll.Measurement {
	var out [][]coll.Measurement
	for _, source := range h.earlier {
		var of []coll.Measurement
		for _, m := range source {
			if m.Collective == c {
				of = append(of, m)
			}
		}
		if len(of) > 0 {
			out = append(out, of)
		}
	}
	return out
}

// calls returns the number of calls of a class whose times are still valid.
func (h *history) calls(class int) int {
	n := 0
	for _, w := range h.times[class] {
		n += w.n
	}
	return n
}
