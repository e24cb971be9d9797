package plogp

import (
	"cmp"
	"math"
	"slices"
)

// leastStep is the smallest distance between two sizes that gets another one between
// them, in bytes.
const leastStep = 32

// Sizes returns the sizes that are measured first: the powers of two up to most bytes.
func Sizes(most int) []int {
	var out []int
	for m := 1; m <= most && m > 0; m *= 2 {
		out = append(out, m)
	}
	return out
}

// Extra returns the sizes to measure besides those of the readings: where a reading is
// off the line between its two neighbours by more than the share tolerance of itself,
// the size half-way to the next one, if that is more than 32 bytes away. Measured again
// and again until there are none, lines between neighbours are as good as the tolerance
// but for jumps, which lie between sizes that are 32 bytes apart.
func Extra(readings []Reading, tolerance float64) []int {
	sorted := slices.SortedFunc(slices.Values(readings), func(a, b Reading) int { return cmp.Compare(a.Bytes, b.Bytes) })
	var out []int
	for i := 1; i+1 < len(sorted); i++ {
		here, next := sorted[i], sorted[i+1]
		if next.Bytes-here.Bytes > leastStep && bent(sorted[i-1], here, next, tolerance) {
			out = append(out, here.Bytes+(next.Bytes-here.Bytes)/2)
		}
	}
	return out
}

// bent reports whether one of the times is off the line between a and c.
func bent(a, b, c Reading, tolerance float64) bool {
	share := float64(b.Bytes-a.Bytes) / float64(c.Bytes-a.Bytes)
	for _, of := range []func(Reading) float64{
		func(r Reading) float64 { return r.RoundTrip },
		func(r Reading) float64 { return r.Send },
		func(r Reading) float64 { return r.Receive },
	} {
		if math.Abs(of(b)-between(of(a), of(c), share)) > tolerance*of(b) {
			return true
		}
	}
	return false
}
