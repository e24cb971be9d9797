package selection

import (
	"math"
	"reflect"
	"slices"

	"tutti/coll"
)

// reach says how far the algorithms of a tree's rules reach between grid values.
type reach struct {
	collective coll.Collective
	hasDefault bool                           // the rows compare with the library's default
	between    func(coll.Algorithm, Gap) bool // Options.Between
}

func reachOf(rows []Row, opt Options) reach {
	return reach{collective: rows[0].Point.Collective, between: opt.Between, hasDefault: slices.ContainsFunc(rows, func(r Row) bool {
		return slices.ContainsFunc(r.Options, func(o Option) bool { return o.Algorithm.IsDefault() })
	})}
}

// boundary returns the last size at which algorithm x applies and the first size at which y does, if x is selected at
// grid size a and y at the next grid size b. The sizes between them are left to the library.
func (r reach) boundary(a, b sizeChoices, x, y coll.Algorithm) (last, first int64) {
	upward, downward := slices.Contains(b.passing, x), slices.Contains(a.passing, y)
	switch {
	case x.IsDefault():
		return b.size - 1, b.size
	case y.IsDefault():
		return a.size, a.size + 1
	case !r.hasDefault || upward && downward:
		m := midpoint(a.size, b.size)
		return m, m + 1
	case upward:
		return b.size - 1, b.size
	case downward:
		return a.size, a.size + 1
	}
	return a.size, b.size
}

// fillCommGaps adds ranges for the communicator sizes between neighboring ranges, which are not on the grid.
func (r reach) fillCommGaps(ranges []CommRange) []CommRange {
	out := ranges[:1:1]
	for _, next := range ranges[1:] {
		last := out[len(out)-1]
		lower, upper := r.ppnsBetween(last, next)
		edge := int(midpoint(int64(last.High), int64(next.Low)))
		for _, gap := range []CommRange{{last.High + 1, edge, lower}, {edge + 1, next.Low - 1, upper}, next} {
			out = appendComm(out, gap)
		}
	}
	return out
}

// appendComm appends a range. An empty range is ignored, and one with the rules of the last range extends it.
func appendComm(ranges []CommRange, next CommRange) []CommRange {
	switch n := len(ranges) - 1; {
	case next.Low > next.High:
	case n >= 0 && reflect.DeepEqual(ranges[n].PPNs, next.PPNs):
		ranges[n].High = next.High
	default:
		ranges = append(ranges, next)
	}
	return ranges
}

// ppnsBetween returns the rules for the lower and the upper half of the gap between two communicator sizes. Processes
// per node that only one of them has are left to the library, and so is each band whose algorithm does not reach into
// the gap.
func (r reach) ppnsBetween(a, b CommRange) (lower, upper []PPNRange) {
	for _, x := range a.PPNs {
		for _, y := range b.PPNs {
			if low, high := max(x.Low, y.Low), min(x.High, y.High); low <= high {
				at := Gap{r.collective, a.High, b.Low, low}
				reaches := func(alg coll.Algorithm) bool { return !r.hasDefault || r.between == nil || r.between(alg, at) }
				below, above := r.bandsBetween(x.Bands, y.Bands, reaches)
				lower, upper = appendPPN(lower, PPNRange{low, high, below}), appendPPN(upper, PPNRange{low, high, above})
			}
		}
	}
	if lower == nil {
		first := a.PPNs[0]
		none := []PPNRange{{first.Low, a.PPNs[len(a.PPNs)-1].High, []Band{{UpTo: first.Bands[len(first.Bands)-1].UpTo, Algorithm: coll.Default}}}}
		return none, none
	}
	return lower, upper
}

// fillPPNGaps adds ranges for the processes per node between neighboring ranges, which are not on the grid.
func (r reach) fillPPNGaps(ranges []PPNRange) []PPNRange {
	out := ranges[:1:1]
	for _, next := range ranges[1:] {
		last := out[len(out)-1]
		lower, upper := r.bandsBetween(last.Bands, next.Bands, func(coll.Algorithm) bool { return true })
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
// Where both select the same algorithm and it reaches into the gap, both halves do. Elsewhere the gap is left to the library; without
// a default to compare with, each half has its neighbor's algorithm.
func (r reach) bandsBetween(a, b []Band, reaches func(coll.Algorithm) bool) (lower, upper []Band) {
	for len(a) > 0 && len(b) > 0 {
		upTo, x, y := min(a[0].UpTo, b[0].UpTo), a[0].Algorithm, b[0].Algorithm
		if x.IsDefault() || y.IsDefault() || r.hasDefault && x != y || !reaches(x) {
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

// MapAlgorithms returns the ranges with each algorithm replaced by the result of the function `to`. It joins successive
// ranges that become equal.
func MapAlgorithms(ranges []CommRange, to func(coll.Algorithm) coll.Algorithm) []CommRange {
	var out []CommRange
	for _, c := range ranges {
		var ppns []PPNRange
		for _, r := range c.PPNs {
			var bands []Band
			for _, b := range r.Bands {
				bands = appendBand(bands, Band{b.UpTo, to(b.Algorithm)})
			}
			ppns = appendPPN(ppns, PPNRange{r.Low, r.High, bands})
		}
		out = appendComm(out, CommRange{c.Low, c.High, ppns})
	}
	return out
}

// midpoint returns the geometric mean of a and b, where 0 ≤ a < b. It is rounded down and lies in [a, b).
func midpoint(a, b int64) int64 {
	m := int64(math.Sqrt(float64(a) * float64(b)))
	return min(max(m, a), b-1)
}
