package selection

import (
	"reflect"

	"tutti/coll"
)

// boundary returns the last value at which algorithm x applies, if x is selected at grid value a and y at the next
// grid value b.
func boundary(a, b int64, x, y coll.Algorithm) int64 {
	switch {
	case x.IsDefault():
		return b - 1
	case y.IsDefault():
		return a
	}
	return midpoint(a, b)
}

// fillCommGaps adds ranges for the communicator sizes between neighboring ranges, which are not on the grid.
func fillCommGaps(ranges []CommRange) []CommRange {
	out := ranges[:1:1]
	for _, next := range ranges[1:] {
		last := &out[len(out)-1]
		lower, upper := ppnsBetween(last.PPNs, next.PPNs)
		edge := int(midpoint(int64(last.High), int64(next.Low)))
		for _, gap := range []CommRange{{last.High + 1, edge, lower}, {edge + 1, next.Low - 1, upper}, next} {
			switch last := &out[len(out)-1]; {
			case gap.Low > gap.High:
			case reflect.DeepEqual(last.PPNs, gap.PPNs):
				last.High = gap.High
			default:
				out = append(out, gap)
			}
		}
	}
	return out
}

// ppnsBetween returns the rules for the lower and the upper half of a gap between two communicator sizes with the
// rules a and b. Processes per node that only one of them has are left to the library.
func ppnsBetween(a, b []PPNRange) (lower, upper []PPNRange) {
	for _, x := range a {
		for _, y := range b {
			if low, high := max(x.Low, y.Low), min(x.High, y.High); low <= high {
				below, above := bandsBetween(x.Bands, y.Bands)
				lower, upper = appendPPN(lower, PPNRange{low, high, below}), appendPPN(upper, PPNRange{low, high, above})
			}
		}
	}
	if lower == nil {
		none := []PPNRange{{a[0].Low, a[len(a)-1].High, []Band{{UpTo: a[0].Bands[len(a[0].Bands)-1].UpTo, Algorithm: coll.Default}}}}
		return none, none
	}
	return lower, upper
}

// fillPPNGaps adds ranges for the processes per node between neighboring ranges, which are not on the grid.
func fillPPNGaps(ranges []PPNRange) []PPNRange {
	out := ranges[:1:1]
	for _, next := range ranges[1:] {
		last := out[len(out)-1]
		lower, upper := bandsBetween(last.Bands, next.Bands)
		edge := int(midpoint(int64(last.High), int64(next.Low)))
		for _, gap := range []PPNRange{{last.High + 1, edge, lower}, {edge + 1, next.Low - 1, upper}, next} {
			out = appendPPN(out, gap)
		}
	}
	return out
}

// appendPPN appends a range. An empty range is ignored, and one with the rules of the last range extends it.
func appendPPN(ranges []PPNRange, next PPNRange) []PPNRange {
	switch n := len(ranges) - 1; {
	case next.Low > next.High:
	case n >= 0 && reflect.DeepEqual(ranges[n].Bands, next.Bands):
		ranges[n].High = next.High
	default:
		ranges = append(ranges, next)
	}
	return ranges
}

// bandsBetween returns the bands for the lower and the upper half of a gap between grid values with the bands a and b.
// Where either selects the library's default, both halves do. Elsewhere each half has its neighbor's algorithm.
func bandsBetween(a, b []Band) (lower, upper []Band) {
	for len(a) > 0 && len(b) > 0 {
		upTo, x, y := min(a[0].UpTo, b[0].UpTo), a[0].Algorithm, b[0].Algorithm
		if x.IsDefault() || y.IsDefault() {
			x, y = coll.Default, coll.Default
		}
		lower, upper = appendBand(lower, Band{upTo, x}), appendBand(upper, Band{upTo, y})
		if a[0].UpTo == upTo {
			a = a[1:]
		}
		if len(b) > 0 && b[0].UpTo == upTo {
			b = b[1:]
		}
	}
	return lower, upper
}

func appendBand(bands []Band, next Band) []Band {
	if n := len(bands) - 1; n >= 0 && bands[n].Algorithm == next.Algorithm {
		bands[n].UpTo = next.UpTo
		return bands
	}
	return append(bands, next)
}
