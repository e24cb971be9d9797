package verify

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tutti/coll"
	"tutti/selection"
)

// Condemned is what verifications took back from the file of one collective.
type Condemned struct {
	Points []coll.Point // to be left to the library's default, on the grid or between, in order
	All    bool         // the whole collective
}

// CondemnedBy returns what entries, of all sessions, condemned of a collective of
// a library.
func CondemnedBy(entries []Entry, library string, c coll.Collective) Condemned {
	var out Condemned
	for _, e := range entries {
		if e.Library != library || e.Verdict == nil {
			continue
		}
		for _, f := range e.Verdict.PutBack {
			if f.Collective == c {
				out.Points = append(out.Points, f.Point)
			}
		}
		out.All = out.All || slices.Contains(e.Verdict.Left, c)
	}
	slices.SortFunc(out.Points, coll.ComparePoints)
	out.Points = slices.Compact(out.Points)
	return out
}

// PutBack returns rows with which every condemned point is left to the library's
// default: the options but the default are taken from the row of the point itself
// and, for a point that another row answers for, from the nearest ones, one by
// one, until what choose makes of the rows selects the default there. The rows
// given are not changed.
//
// choose is asked as often as rows are put back.
func PutBack(rows []selection.Row, condemned Condemned, choose func([]selection.Row) (func(coll.Point) coll.Algorithm, error)) ([]selection.Row, error) {
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
	return nil, fmt.Errorf("verify: %v: the file selects an algorithm with every row put back", condemned.Points)
}

// onlyDefault returns the row without its options but the default.
func onlyDefault(r selection.Row) selection.Row {
	kept := selection.Row{Point: r.Point}
	for _, o := range r.Options {
		if o.Algorithm.IsDefault() {
			kept.Options = append(kept.Options, o)
		}
	}
	return kept
}

// nearest returns the row nearest to a point that was not put back, -1 for none.
// Rows of the point's own layout come first, then those with as many processes,
// which some libraries cannot tell apart.
func nearest(rows []selection.Row, back []bool, p coll.Point) int {
	best := -1
	for i, r := range rows {
		if !back[i] && (best < 0 || nearer(p, r.Point, rows[best].Point)) {
			best = i
		}
	}
	return best
}

func nearer(to, a, b coll.Point) bool {
	layout := func(p coll.Point) float64 {
		steps := gap(p.Nodes, to.Nodes) + gap(p.PPN, to.PPN)
		if steps > 0 && p.Processes() == to.Processes() {
			steps = math.SmallestNonzeroFloat64
		}
		return steps
	}
	return cmp.Or(
		cmp.Compare(layout(a), layout(b)),
		cmp.Compare(gap(a.MsgBytes, to.MsgBytes), gap(b.MsgBytes, to.MsgBytes)),
		coll.ComparePoints(a, b),
	) < 0
}

// gap is the distance of two numbers in doublings; zero counts as a half.
func gap[T int | int64](a, b T) float64 {
	log := func(v T) float64 { return math.Log2(max(float64(v), 0.5)) }
	return math.Abs(log(a) - log(b))
}
