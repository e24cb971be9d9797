package preprocess

import (
	"cmp"
	"math"
	"slices"

	"tutti/coll"
)

// MeasurementNoise is the variance of log10 of a time whose standard deviation is 2 %: (0.02 / ln
// 10)². On shared clusters the medians of repeated jobs differ by at least that much.
const MeasurementNoise = 7.5e-5

// Replicate is a candidate that was measured twice, in two jobs.
type Replicate struct {
	First, Again coll.Measurement
	Seen         int // number of measurements of other candidates before the second one
}

// Noise estimates the variance of log10 of measured times. It has two parts: between jobs, for each
// message size, and within a job, from the samples of a measurement. The zero value assumes
// MeasurementNoise between jobs.
type Noise struct {
	sizes     []float64  // log2(bytes + 1) of the replicates, each once
	variances []variance // of the replicates, ascending
	job       float64    // variance of the shift of all measurements of a job
}

// variance is an estimate, from one replicate, of the variance between jobs.
type variance struct {
	squared float64 // decades², at least MeasurementNoise
	size    int     // index in sizes
}

// Constants of the noise estimate. Constants without a source are our choice.
const (
	noisePrior     = 2.0   // weight of MeasurementNoise, as a number of replicates
	noiseWidth     = 4.0   // distance in doublings of the size at which the weight of a replicate is 1/e
	medianSquare   = 0.455 // median of the χ² distribution with one degree of freedom
	outlierSigma   = 4.0   // standard deviations by which a disturbed time exceeds another one
	intervalSigmas = 3.92  // width of a 95 % interval in standard deviations
)

// NoiseOf estimates the noise from replicates. Half of the squared difference of two times
// estimates the variance of one time.
func NoiseOf(replicates []Replicate) Noise {
	var n Noise
	for _, r := range replicates {
		d, size := math.Log10(r.Again.Seconds/r.First.Seconds), math.Log2(float64(r.First.MsgBytes)+1)
		at := slices.Index(n.sizes, size)
		if at < 0 {
			at = len(n.sizes)
			n.sizes = append(n.sizes, size)
		}
		n.variances = append(n.variances, variance{max(MeasurementNoise, d*d/2/medianSquare), at})
	}
	slices.SortStableFunc(n.variances, func(a, b variance) int { return cmp.Compare(a.squared, b.squared) })
	return n
}

// WithJob returns a copy of n with an additional variance between jobs. This variance describes a shift
// that all measurements of a job share.
func (n Noise) WithJob(variance float64) Noise {
	n.job = variance
	return n
}

// Between returns the variance of log10 of a time between jobs. It is the median over the
// replicates, weighted by the similarity of message sizes, so that single outliers have no effect.
// It is at least MeasurementNoise plus the variance of WithJob. It takes O(n) operations for n
// replicates.
func (n Noise) Between(p coll.Point) float64 {
	at, weights := math.Log2(float64(p.MsgBytes)+1), make([]float64, len(n.sizes))
	for i, size := range n.sizes {
		weights[i] = math.Exp(-math.Abs(size-at) / noiseWidth)
	}
	total := noisePrior
	for _, v := range n.variances {
		total += weights[v.size]
	}
	median, passed := MeasurementNoise, noisePrior
	for _, v := range n.variances {
		if passed >= total/2 {
			break
		}
		median = v.squared
		passed += weights[v.size]
	}
	return max(median, MeasurementNoise+n.job)
}

// Of returns the variance of log10 of a measured time: the sum of the variances between jobs and
// within the job.
func (n Noise) Of(m coll.Measurement) float64 { return n.Between(m.Point) + noiseWithin(m) }

// Disturbed reports whether the first of two times of a candidate is an outlier: slower than the
// second by more than the noise explains. Disturbances only make jobs slower, so the second time is
// right.
func (n Noise) Disturbed(r Replicate) bool {
	return math.Log10(r.First.Seconds/r.Again.Seconds) > outlierSigma*math.Sqrt(n.Of(r.First)+n.Of(r.Again))
}

// noiseWithin returns the variance of log10 of the median of a job's samples. It is computed from
// the 95 % interval of the median, and 0 without an interval.
func noiseWithin(m coll.Measurement) float64 {
	if !(m.Low > 0 && m.High >= m.Low) {
		return 0
	}
	within := math.Log10(m.High/m.Low) / intervalSigmas
	return within * within
}
