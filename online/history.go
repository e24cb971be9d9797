package online

import (
	"maps"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/stat"

	"tutti/coll"
	"tutti/metrics"
)

// history holds the times of all jobs so far, by class of calls and algorithm. It also holds measurements
// from other sources, such as campaigns.
type history struct {
	classes     []Class
	times       [][]meanTime // for each class and algorithm
	earlier     [][]coll.Measurement
	repeated    int       // number of calls that have an earlier call of the same class and algorithm
	squares     float64   // sum of the squared deviations of calls from the mean of their class and algorithm
	callsPerJob []float64 // average number of timed calls of each class, over the jobs that have such calls
	valid       validTimes
}

// meanTime is the mean of the natural logarithms of the times of n calls, in seconds.
type meanTime struct {
	n    int
	mean float64
}

// newHistory returns the history of the given calls. The calls of each class must be in the order of jobs.
// Calls before a change of their algorithm's times do not count.
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

// noise returns the variance of the logarithm of a call's time around the mean of its class and algorithm.
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

// earlierOf returns the measurements of a collective that other sources, such as campaigns, have made. There is one
// slice for each source with such measurements.
func (h *history) earlierOf(c coll.Collective) [][]coll.Measurement {
	var out [][]coll.Measurement
	for _, source := range h.earlier {
		of := slices.DeleteFunc(slices.Clone(source), func(m coll.Measurement) bool { return m.Collective != c })
		if len(of) > 0 {
			out = append(out, of)
		}
	}
	return out
}

// calls returns how many measured calls of a class still count. Calls before a change of times do not.
func (h *history) calls(class int) int {
	n := 0
	for _, w := range h.times[class] {
		n += w.n
	}
	return n
}

// Class is a group of calls for which the same algorithm is chosen. They have the same collective, the same
// layout, and sizes with the same number of bits.
type Class struct {
	coll.Point                  // its size is the most frequent one in the samples
	Algorithms []coll.Algorithm // algorithms that can run at the point
}

// sizesWithSameBits returns the smallest and the largest size that have as many bits as `bytes`.
func sizesWithSameBits(bytes int64) (low, high int64) {
	n := bits.Len64(uint64(bytes))
	if n == 0 {
		return 0, 0
	}
	return 1 << (n - 1), 1<<n - 1
}

// classKey returns the point that identifies the class of p: it has the smallest message size of this class.
func classKey(p coll.Point) coll.Point {
	p.MsgBytes, _ = sizesWithSameBits(p.MsgBytes)
	return p
}

// jobSample is a sample, together with the index of the job that recorded it.
type jobSample struct {
	Sample
	job int
}

// classesOf groups calls into classes. There is a class for each sample, each earlier measurement and each
// point in `more`. Classes are sorted by point. It also returns the samples of each class.
func classesOf(samples []jobSample, earlier [][]coll.Measurement, more []coll.Point, feasible func(coll.Point) []coll.Algorithm) ([]Class, [][]jobSample) {
	calls, otherSizes := map[coll.Point][]jobSample{}, map[coll.Point][]int64{}
	for _, s := range samples {
		key := classKey(s.Point)
		calls[key] = append(calls[key], s)
	}
	add := func(p coll.Point) {
		key := classKey(p)
		if _, known := calls[key]; !known {
			calls[key] = nil
		}
		otherSizes[key] = append(otherSizes[key], p.MsgBytes)
	}
	for _, source := range earlier {
		for _, m := range source {
			add(m.Point)
		}
	}
	for _, p := range more {
		add(p)
	}
	var classes []Class
	var samplesOf [][]jobSample
	for _, key := range slices.SortedFunc(maps.Keys(calls), coll.ComparePoints) {
		sizes := otherSizes[key]
		if len(calls[key]) > 0 {
			sizes = nil
		}
		for _, s := range calls[key] {
			sizes = append(sizes, s.MsgBytes)
		}
		point := key
		point.MsgBytes = mostFrequent(sizes)
		classes = append(classes, Class{Point: point, Algorithms: feasible(point)})
		samplesOf = append(samplesOf, calls[key])
	}
	return classes, samplesOf
}

// mostFrequent returns the most frequent of the numbers, the smallest one of several. It sorts the numbers.
func mostFrequent(numbers []int64) int64 {
	slices.Sort(numbers)
	best, most := numbers[0], 0
	for i := 0; i < len(numbers); {
		n := i
		for n < len(numbers) && numbers[n] == numbers[i] {
			n++
		}
		if n-i > most {
			best, most = numbers[i], n-i
		}
		i = n
	}
	return best
}

// collectivesOf returns the collectives of classes, each once, in the order in which they first occur.
func collectivesOf(classes []Class) []coll.Collective {
	var out []coll.Collective
	for _, c := range classes {
		if !slices.Contains(out, c.Collective) {
			out = append(out, c.Collective)
		}
	}
	return out
}
