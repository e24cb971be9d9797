package selection

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tutti/coll"
)

// Rejected lists points of one collective at which a verification found the selection slower than the
// library's default.
type Rejected struct {
	Points []coll.Point // on the grid or between, sorted by coll.ComparePoints
	All    bool         // the whole collective
}

// RevertToDefault returns rows for which the selection is the library's default at every rejected point. If
// the point has a row, it removes all options except the default from this row. If not, it does the same
// with the nearest rows, one after another, until the default is selected at the point. The given rows do
// not change.
//
// The function `choose` fits a selection to rows. It is called once after each removal.
func RevertToDefault(rows []Row, rejected Rejected, choose func([]Row) (func(coll.Point) coll.Algorithm, error)) ([]Row, error) {
	out := slices.Clone(rows)
	if rejected.All {
		for i := range out {
			out[i] = onlyDefault(out[i])
		}
		return out, nil
	}
	if len(rejected.Points) == 0 {
		return out, nil
	}
	reverted := make([]bool, len(out))
	for i, r := range out {
		if _, on := slices.BinarySearchFunc(rejected.Points, r.Point, coll.ComparePoints); on {
			out[i], reverted[i] = onlyDefault(r), true
		}
	}
	for range len(out) + 1 {
		selected, err := choose(out)
		if err != nil {
			return nil, err
		}
		open := slices.DeleteFunc(slices.Clone(rejected.Points), func(p coll.Point) bool { return selected(p).IsDefault() })
		if len(open) == 0 {
			return out, nil
		}
		for _, p := range open {
			if at := nearest(out, reverted, p); at >= 0 {
				out[at], reverted[at] = onlyDefault(out[at]), true
			}
		}
	}
	return nil, fmt.Errorf("selection: %v: the file still selects an algorithm after every row was reverted", rejected.Points)
}

func onlyDefault(r Row) Row {
	r.Options = slices.DeleteFunc(slices.Clone(r.Options), func(o Option) bool { return !o.Algorithm.IsDefault() })
	return r
}

// nearest returns the index of the nearest row that is not reverted yet, or -1 if there is none. Rows of
// the same layout as the point are nearest. Rows with the same number of ranks come next, since some
// libraries cannot distinguish their layouts.
func nearest(rows []Row, reverted []bool, p coll.Point) int {
	best := -1
	for i, r := range rows {
		if !reverted[i] && (best < 0 || CompareNearness(p, r.Point, rows[best].Point) < 0) {
			best = i
		}
	}
	return best
}

// CompareNearness orders points a and b by their distance from a third point, `to`. It compares layouts first;
// layouts with the same number of ranks are nearest. Then it compares sizes. It returns 0 only for equal points.
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

// gap returns how many doublings lie between two numbers. Zero counts as 1/2, so that the result is finite.
func gap[T int | int64](a, b T) float64 {
	log := func(v T) float64 { return math.Log2(max(float64(v), 0.5)) }
	return math.Abs(log(a) - log(b))
}
