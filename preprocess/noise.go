package preprocess

import (
	"cmp"
	"math"
	"slices"

	"tutti/coll"
)

// MeasurementNoise is the variance of log10 of a time that is 2 % off: the medians of
// repeated jobs on shared clusters differ by so much, or by more.
const MeasurementNoise = 7.5e-5 // (0.02 / ln 10)²

// Replicate is a candidate that was measured twice, in two jobs.
type Replicate struct {
	First, Again coll.Measurement
	Seen         int // measurements of other candidates by the time of the second
}

// Noise is how far measured times are off: what jobs differ by, at each size and in all that they
// measure, and what the samples within a job show. The zero value takes MeasurementNoise for the
// former.
type Noise struct {
	sizes []float64 // log2(bytes + 1) of the repeats, each once
	shown []shown   // by variance
	job   float64   // variance of what a job does to all that it measures
}

// shown is what a repeat shows.
type shown struct {
	variance float64 // squared decades, MeasurementNoise at least
	size     int     // in sizes
}

const (
	noisePrior = 2.0 // repeats that MeasurementNoise is worth
	noiseWidth = 4.0 // doublings of the size over which what a repeat shows falls by e
	// The median of the square of a normal number over its variance.
	medianSquare = 0.455
)

// NoiseOf learns from repeats, two of the same candidate each: half the square of their
// difference estimates the variance of one.
func NoiseOf(repeats []Replicate) Noise {
	var n Noise
	for _, r := range repeats {
		d, size := math.Log10(r.Again.Seconds/r.First.Seconds), math.Log2(float64(r.First.MsgBytes)+1)
		at := slices.Index(n.sizes, size)
		if at < 0 {
			at = len(n.sizes)
			n.sizes = append(n.sizes, size)
		}
		n.shown = append(n.shown, shown{max(MeasurementNoise, d*d/2/medianSquare), at})
	}
	slices.SortStableFunc(n.shown, func(a, b shown) int { return cmp.Compare(a.variance, b.variance) })
	return n
}

// WithJob is n where a job moves all that it measures together, with this variance.
func (n Noise) WithJob(variance float64) Noise {
	n.job = variance
	return n
}

// Between is the variance of log10 of a time between jobs, MeasurementNoise beside what a job
// does at least. It goes by the median of the repeats, each weighted by how near its size is:
// that a job is far off now and then says nothing of the others. O(n) operations for n repeats.
func (n Noise) Between(p coll.Point) float64 {
	at, weights := math.Log2(float64(p.MsgBytes)+1), make([]float64, len(n.sizes))
	for i, size := range n.sizes {
		weights[i] = math.Exp(-math.Abs(size-at) / noiseWidth)
	}
	total := noisePrior
	for _, s := range n.shown {
		total += weights[s.size]
	}
	median, passed := MeasurementNoise, noisePrior
	for _, s := range n.shown {
		if passed >= total/2 {
			break
		}
		median = s.variance
		passed += weights[s.size]
	}
	return max(median, MeasurementNoise+n.job)
}

// Of is the variance of log10 of a measured time: that between jobs, and that of the
// median within one.
func (n Noise) Of(m coll.Measurement) float64 { return n.Between(m.Point) + noiseWithin(m) }

// disturbedFrom is by how many deviations of its noise a time is slower than another of the same
// candidate where a job disturbed it.
const disturbedFrom = 4.0

// Disturbed reports whether the first of two times of a candidate is slower than the second by
// more than noise makes it: jobs are disturbed and slow, none is fast by chance.
func (n Noise) Disturbed(r Replicate) bool {
	return math.Log10(r.First.Seconds/r.Again.Seconds) > disturbedFrom*math.Sqrt(n.Of(r.First)+n.Of(r.Again))
}

// noiseWithin is the part of Of that the samples of a measurement show, whose 95 %
// interval is 3.92 deviations wide; 0 when it is not known.
func noiseWithin(m coll.Measurement) float64 {
	if !(m.Low > 0 && m.High >= m.Low) {
		return 0
	}
	within := math.Log10(m.High/m.Low) / 3.92
	return within * within
}
