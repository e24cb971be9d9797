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

// Repeat is a candidate that was measured twice, in two jobs.
type Repeat struct {
	First, Again coll.Measurement
	Seen         int // measurements of other candidates by the time of the second
}

// Noise is how far measured times are off: what jobs differ by, at each size, and what the
// samples within a job show. The zero value takes MeasurementNoise for the former.
type Noise struct {
	sizes   []float64 // log2(bytes + 1) of each repeat
	squares []float64 // half the square of its difference, squared decades
}

const (
	noisePrior = 2.0 // repeats that MeasurementNoise is worth
	noiseWidth = 4.0 // doublings of the size over which what a repeat shows falls by e
	// The median of the square of a normal number over its variance.
	medianSquare = 0.455
)

// NoiseOf learns from repeats, two of the same candidate each: half the square of their
// difference estimates the variance of one.
func NoiseOf(repeats []Repeat) Noise {
	var n Noise
	for _, r := range repeats {
		d := math.Log10(r.Again.Seconds / r.First.Seconds)
		n.sizes = append(n.sizes, math.Log2(float64(r.First.MsgBytes)+1))
		n.squares = append(n.squares, d*d/2)
	}
	return n
}

// Between is the variance of log10 of a time between jobs, MeasurementNoise at least. It goes
// by the median of the repeats, each weighted by how near its size is: that a job is far off
// now and then says nothing of the others. O(n log n) operations for n repeats.
func (n Noise) Between(p coll.Point) float64 {
	type shown struct{ variance, weight float64 }
	all, total := []shown{{MeasurementNoise, noisePrior}}, noisePrior
	at := math.Log2(float64(p.MsgBytes) + 1)
	for i, size := range n.sizes {
		w := math.Exp(-math.Abs(size-at) / noiseWidth)
		all = append(all, shown{n.squares[i] / medianSquare, w})
		total += w
	}
	slices.SortFunc(all, func(a, b shown) int { return cmp.Compare(a.variance, b.variance) })
	passed, k := all[0].weight, 0
	for passed < total/2 {
		k++
		passed += all[k].weight
	}
	return max(MeasurementNoise, all[k].variance)
}

// Of is the variance of log10 of a measured time: that between jobs, and that of the
// median within one.
func (n Noise) Of(m coll.Measurement) float64 { return n.Between(m.Point) + noiseWithin(m) }

// noiseWithin is the part of Of that the samples of a measurement show, whose 95 %
// interval is 3.92 deviations wide; 0 when it is not known.
func noiseWithin(m coll.Measurement) float64 {
	if !(m.Low > 0 && m.High >= m.Low) {
		return 0
	}
	within := math.Log10(m.High/m.Low) / 3.92
	return within * within
}
