package clustering

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tutti/topology/discover"
)

// Distances returns the time in seconds of a message between each pair of ranks (equation 3.4), as rows up
// to the diagonal. Row i of pairs has the PLogP parameters of rank i with each rank before it.
func Distances(pairs [][]discover.Parameters, bytes int) [][]float64 {
	out := make([][]float64, len(pairs))
	for i, row := range pairs {
		out[i] = make([]float64, i)
		for j, p := range row {
			out[i][j] = Time(p, bytes)
		}
	}
	return out
}

// Profiles returns the Euclidean distance between the profiles of each pair of ranks. The profile of a rank
// consists of the latency, the overheads and the gap of a message to each rank (equations 3.5 and 3.6). The
// rows, and the parameter pairs, have the form of those of Distances. It takes O(n³) time.
func Profiles(pairs [][]discover.Parameters, bytes int) [][]float64 {
	const each = 4 // number of parameters of a pair
	vectors := make([][]float64, len(pairs))
	for i := range vectors {
		vectors[i] = make([]float64, each*len(pairs))
	}
	for i, row := range pairs {
		for j, p := range row {
			o := At(p, bytes)
			parameters := []float64{p.Latency, o.Send, o.Receive, o.Gap}
			copy(vectors[i][each*j:], parameters)
			copy(vectors[j][each*i:], parameters)
		}
	}
	out := make([][]float64, len(pairs))
	for i := range out {
		out[i] = make([]float64, i)
		for j := range i {
			out[i][j] = floats.Distance(vectors[i], vectors[j], 2)
		}
	}
	return out
}

// minStep is a difference of sizes in bytes. Extra returns no size between two sizes that differ by at most
// this number.
const minStep = 32

// Sizes returns the sizes to measure first, in bytes: the powers of two up to most.
func Sizes(most int) []int {
	var out []int
	for m := 1; m <= most && m > 0; m *= 2 {
		out = append(out, m)
	}
	return out
}

// Extra returns further sizes to measure, in bytes. It compares each reading with the straight line between
// its two neighbours. If the relative difference exceeds tolerance, it returns the size half-way to the
// next reading, unless the next reading is at most 32 bytes away. If Extra returns nothing, linear
// interpolation is within the tolerance, except next to jumps.
func Extra(readings []discover.SizeTimes, tolerance float64) []int {
	sorted := slices.SortedFunc(slices.Values(readings), func(a, b discover.SizeTimes) int { return cmp.Compare(a.Bytes, b.Bytes) })
	var out []int
	for i := 1; i+1 < len(sorted); i++ {
		here, next := sorted[i], sorted[i+1]
		if next.Bytes-here.Bytes > minStep && bent(sorted[i-1], here, next, tolerance) {
			out = append(out, here.Bytes+(next.Bytes-here.Bytes)/2)
		}
	}
	return out
}

// Readings measures the powers of two up to most bytes. Then it measures sizes that Extra returns, until
// there are none.
func Readings(most int, tolerance float64, measure func(bytes int) discover.SizeTimes) []discover.SizeTimes {
	var out []discover.SizeTimes
	for sizes := Sizes(most); len(sizes) > 0; sizes = Extra(out, tolerance) {
		for _, bytes := range sizes {
			out = append(out, measure(bytes))
		}
	}
	return out
}

// bent reports whether the reading b differs by more than tolerance from the straight line between the
// readings a and c.
func bent(a, b, c discover.SizeTimes, tolerance float64) bool {
	share := float64(b.Bytes-a.Bytes) / float64(c.Bytes-a.Bytes)
	for _, seconds := range []func(discover.SizeTimes) float64{
		func(r discover.SizeTimes) float64 { return r.RoundTrip },
		func(r discover.SizeTimes) float64 { return r.Send },
		func(r discover.SizeTimes) float64 { return r.Receive },
	} {
		if math.Abs(seconds(b)-between(seconds(a), seconds(c), share)) > tolerance*seconds(b) {
			return true
		}
	}
	return false
}

// At returns the overheads of a message size by linear interpolation between the measured sizes, or by
// extrapolation. No result is below 0.
func At(p discover.Parameters, bytes int) discover.Overhead {
	if len(p.Sizes) == 1 {
		o := p.Sizes[0]
		o.Bytes = bytes
		return o
	}
	i, _ := slices.BinarySearchFunc(p.Sizes, bytes, func(o discover.Overhead, b int) int { return cmp.Compare(o.Bytes, b) })
	i = min(max(i, 1), len(p.Sizes)-1)
	a, b := p.Sizes[i-1], p.Sizes[i]
	share := float64(bytes-a.Bytes) / float64(b.Bytes-a.Bytes)
	return discover.Overhead{
		Bytes:   bytes,
		Send:    between(a.Send, b.Send, share),
		Receive: between(a.Receive, b.Receive, share),
		Gap:     between(a.Gap, b.Gap, share),
	}
}

func between(a, b, share float64) float64 { return max(a+share*(b-a), 0) }

// Time returns the time of a message in seconds: the sum of the latency, the gap and the mean of both
// overheads (equation 3.3).
func Time(p discover.Parameters, bytes int) float64 {
	o := At(p, bytes)
	return p.Latency + (o.Send+o.Receive)/2 + o.Gap
}

// Parameters of Gap.
const (
	minMessages     = 10
	maxMessages     = 37500
	steadyTolerance = 0.01 // relative change of the gap between two series
)

// Gap measures the gap of messages of one size, in seconds. measure returns the time of a series of
// messages without pauses. The length of the series doubles, from 10 messages, until two gaps differ by
// less than 1 %. Gap returns false if they still differ when the next series would exceed 37 500 messages.
func Gap(measure func(messages int) float64) (gap float64, steady bool) {
	for n := minMessages; n <= maxMessages; n *= 2 {
		last := gap
		gap = measure(n) / float64(n)
		if n > minMessages && math.Abs(gap-last) < steadyTolerance*last {
			return gap, true
		}
	}
	return gap, false
}
