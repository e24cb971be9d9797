package preprocess

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"tutti/coll"
)

// Replicate is a candidate that was measured twice, in two jobs.
type Replicate struct {
	First, Again coll.Measurement
	Seen         int // number of other candidates' measurements before the second measurement
}

// Noise estimates the variance of log10 of measured times. The variance has two parts. The variance between
// jobs is estimated for each message size. The variance within a job follows from the samples of a
// measurement. For the zero value, the variance between jobs is MeasurementNoise.
type Noise struct {
	sizes     []float64  // distinct values of log2(bytes + 1) of the replicates
	variances []variance // of the replicates, in ascending order
	job       float64    // variance of a shift that all measurements of a job share
	medians   *sync.Map  // message size in bytes -> median over the replicates
}

// variance is one replicate's estimate of the variance between jobs.
type variance struct {
	squared float64 // squared decades, at least MeasurementNoise
	size    int     // index in sizes
}

const (
	medianSquare   = 0.455 // median of the χ² distribution with one degree of freedom
	intervalSigmas = 3.92  // width of a 95 % interval in standard deviations
)

// NoiseOf estimates the noise from replicates. For two times of the same candidate, half of the squared
// difference estimates the variance of one time.
func NoiseOf(replicates []Replicate) Noise {
	n := Noise{medians: new(sync.Map)}
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

// WithJob returns a copy of n with the variance of a shift that all measurements of a job share.
func (n Noise) WithJob(variance float64) Noise {
	n.job = variance
	return n
}

// Between returns the variance of log10 of a time between jobs. It is a median over the replicates, so that
// single outliers have no effect. Replicates with a similar message size have a greater weight. It is at least
// MeasurementNoise plus the variance that WithJob added. For n replicates, the first call for a message size
// takes O(n) operations.
func (n Noise) Between(p coll.Point) float64 {
	if len(n.variances) == 0 {
		return MeasurementNoise + n.job
	}
	median, known := n.medians.Load(p.MsgBytes)
	if !known {
		median = n.median(math.Log2(float64(p.MsgBytes) + 1))
		n.medians.Store(p.MsgBytes, median)
	}
	return max(median.(float64), MeasurementNoise+n.job)
}

// median returns the weighted median of the replicates' variances at a size whose log2(bytes + 1) is `at`.
func (n Noise) median(at float64) float64 {
	weights := make([]float64, len(n.sizes))
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
	return median
}

// Unshifted returns the variance between jobs without the part that WithJob added. It is at least
// MeasurementNoise.
func (n Noise) Unshifted(p coll.Point) float64 { return max(MeasurementNoise, n.Between(p)-n.job) }

// Of returns the variance of log10 of a measured time: the variance between jobs plus that within the job.
func (n Noise) Of(m coll.Measurement) float64 { return n.Between(m.Point) + noiseWithin(m) }

// Disturbed reports whether the first of a candidate's two measurements is an outlier: slower than the second
// one by more than the noise explains. Disturbances only make jobs slower, so the second time is the right one.
func (n Noise) Disturbed(r Replicate) bool {
	return math.Log10(r.First.Seconds/r.Again.Seconds) > OutlierSigma*math.Sqrt(n.Of(r.First)+n.Of(r.Again))
}

// noiseWithin returns the variance of log10 of the median of a job's samples. It is computed from the 95 %
// interval of the median. If the measurement has no interval, it is 0.
func noiseWithin(m coll.Measurement) float64 {
	if !(m.Low > 0 && m.High >= m.Low) {
		return 0
	}
	within := math.Log10(m.High/m.Low) / intervalSigmas
	return within * within
}
