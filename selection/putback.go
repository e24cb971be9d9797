package selection

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tutti/coll"
)

// Condemned is what must be left to the library's default in the files of one
// collective.
type Condemned struct {
	Points []coll.Point // on the grid or between, in the order of coll.ComparePoints
	All    bool         // the whole collective
}

// PutBack returns rows with which every condemned point is left to the library's
// default: the options but the default are taken from the row of the point itself
// and, for a point that another row answers for, from the nearest ones, one by
// one, until what choose makes of the rows selects the default there. The rows
// given are not changed.
//
// choose is asked as often as rows are put back.
func PutBack(rows []Row, condemned Condemned, choose func([]Row) (func(coll.Point) coll.Algorithm, error)) ([]Row, error) {
	out := slices.Clone(rows)
	if condemned.All {
		for i := range out {
			out[i] = onlyDefault(out[i])
		}
		return out, nil
	}
	if len(condemned.Points) == 0 {
		return out, nil
	}
	back := make([]bool, len(out))
	for i, r := range out {
		if _, on := slices.BinarySearchFunc(condemned.Points, r.Point, coll.ComparePoints); on {
			out[i], back[i] = onlyDefault(r), true
		}
	}
	for range len(out) + 1 {
		selected, err := choose(out)
		if err != nil {
			return nil, err
		}
		open := slices.DeleteFunc(slices.Clone(condemned.Points), func(p coll.Point) bool { return selected(p).IsDefault() })
		if len(open) == 0 {
			return out, nil
		}
		for _, p := range open {
			if at := nearest(out, back, p); at >= 0 {
				out[at], back[at] = onlyDefault(out[at]), true
			}
		}
	}
	return nil, fmt.Errorf("selection: %v: the file selects an algorithm with every row put back", condemned.Points)
}

// onlyDefault returns the row without its options but the default.
func onlyDefault(r Row) Row {
	kept := Row{Point: r.Point}
	for _, o := range r.Options {
		if o.Algorithm.IsDefault() {
			kept.Options = append(kept.Options, o)
		}
	}
	return kept
}

// nearest returns the row nearest to a point that was not put back, -1 for none.
// Rows of the point's own layout come first, then those with as many ranks,
// which some libraries cannot tell apart.
func nearest(rows []Row, back []bool, p coll.Point) int {
	best := -1
	for i, r := range rows {
		if !back[i] && (best < 0 || CompareNearness(p, r.Point, rows[best].Point) < 0) {
			best = i
		}
	}
	return best
}

// CompareNearness orders two points by how near they are to a third: by layout, where
// another one with as many ranks is nearest, then by size. It is 0 for equal
// points alone.
func CompareNearness(to, a, b coll.Point) int {
	layout := func(p coll.Point) float64 {
		steps := gap(p.Nodes, to.Nodes) + gap(p.PPN, to.PPN)
		if steps > 0 && p.Ranks() == to.Ranks() {
			steps = math.SmallestNonzeroFloat64
		}
		return steps
	}
	return cmp.Or(
		cmp.Compare(layout(a), layout(b)),
		cmp.Compare(gap(a.MsgBytes, to.MsgBytes), gap(b.MsgBytes, to.MsgBytes)),
		coll.ComparePoints(a, b),
	)
}

// gap is the distance of two numbers in doublings; zero counts as a half.
func gap[T int | int64](a, b T) float64 {
	log := func(v T) float64 { return math.Log2(max(float64(v), 0.5)) }
	return math.Abs(log(a) - log(b))
}
