package selection

import (
	"cmp"
	"slices"

	"tutti/coll"
)

// Selection is what tutti selects for one library. The rules of a library may compare the size of a
// communicator but not its number of nodes. In this case some layouts have their own trees, in addition to
// the trees for all layouts.
type Selection struct {
	Trees   []*Tree // one per collective, alphabetical
	Layouts []LayoutTrees

	// Inter has the trees for communication between nodes. The library splits some collectives into a part within
	// nodes and a part between nodes. The points of the trees in Inter have one rank on each node.
	Inter []*Tree
}

// LayoutTrees holds the trees for jobs of one layout. They differ from the trees for all layouts only for
// communicators with as many ranks as the job.
type LayoutTrees struct {
	Layout coll.Layout
	Trees  []*Tree
}

// MergeAll fits one tree for each collective in rows, for a library whose rules cannot distinguish layouts with
// the same number of ranks. A layout that loses more than MaxLoss with these trees gets trees of its own. The
// function `size` returns the message size that the library computes for its rules.
func MergeAll(rows []Row, size func(coll.Point) int64, opt Options) (Selection, error) {
	opt.ByRanks = true
	trees, err := mergeTrees(rows, size, opt)
	if err != nil {
		return Selection{}, err
	}
	sel := Selection{Trees: trees}
	for _, l := range rivals(rows) {
		// In jobs of this layout the layout's own rows apply. Rows of other layouts with the same number of
		// ranks do not.
		own, err := mergeTrees(slices.DeleteFunc(slices.Clone(rows), func(r Row) bool {
			return r.Point.Ranks() == l.Ranks() && r.Point.Layout() != l
		}), size, opt)
		if err != nil {
			return Selection{}, err
		}
		if slices.ContainsFunc(own, func(t *Tree) bool {
			common := worstLoss(TreeOf(trees, t.Collective), rows, l)
			return common > opt.MaxLoss && worstLoss(t, rows, l) < common
		}) {
			sel.Layouts = append(sel.Layouts, LayoutTrees{l, own})
		}
	}
	return sel, nil
}

// Leaves returns the number of leaves (ranges of message sizes with one algorithm) of the trees for all
// layouts. If there are no such trees, it counts the leaves of the trees of single layouts.
func (p Selection) Leaves() int {
	trees := slices.Concat(p.Trees, p.Inter)
	if len(p.Trees) == 0 {
		for _, l := range p.Layouts {
			trees = append(trees, l.Trees...)
		}
	}
	n := 0
	for _, t := range trees {
		n += t.Summary.Leaves
	}
	return n
}

// For returns the trees for jobs of a layout: the layout's own ones if it has any, otherwise Trees.
func (p Selection) For(l coll.Layout) []*Tree {
	for _, own := range p.Layouts {
		if own.Layout == l {
			return own.Trees
		}
	}
	return p.Trees
}

// Select returns the algorithm for a job of the point's layout. Outside the tuned range it returns false;
// there the library uses its default.
func (p Selection) Select(point coll.Point) (coll.Algorithm, bool) {
	if t := TreeOf(p.For(point.Layout()), point.Collective); t != nil {
		return t.Select(point)
	}
	return coll.Default, false
}

// TreeOf returns the tree of a collective, or nil if it has none.
func TreeOf(trees []*Tree, c coll.Collective) *Tree {
	for _, t := range trees {
		if t.Collective == c {
			return t
		}
	}
	return nil
}

// ByCollective returns the rows of each collective, in the order of coll.ComparePoints.
func ByCollective(rows []Row) [][]Row {
	if len(rows) == 0 {
		return nil
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b Row) int { return coll.ComparePoints(a.Point, b.Point) })
	return chunk(rows, func(a, b Row) bool { return a.Point.Collective == b.Point.Collective })
}

func mergeTrees(rows []Row, size func(coll.Point) int64, opt Options) ([]*Tree, error) {
	var trees []*Tree
	for _, same := range ByCollective(rows) {
		t, err := Merge(same, size, opt)
		if err != nil {
			return nil, err
		}
		trees = append(trees, t)
	}
	return trees, nil
}

// rivals returns each layout that shares its number of ranks with another layout, sorted by ranks.
func rivals(rows []Row) []coll.Layout {
	var all []coll.Layout
	for _, r := range rows {
		all = append(all, r.Point.Layout())
	}
	slices.SortFunc(all, func(a, b coll.Layout) int {
		return cmp.Or(cmp.Compare(a.Ranks(), b.Ranks()), coll.CompareLayouts(a, b))
	})
	all = slices.Compact(all)
	var out []coll.Layout
	for i, l := range all {
		if i > 0 && all[i-1].Ranks() == l.Ranks() || i+1 < len(all) && all[i+1].Ranks() == l.Ranks() {
			out = append(out, l)
		}
	}
	return out
}

func worstLoss(t *Tree, rows []Row, l coll.Layout) float64 {
	worst := 0.0
	for _, r := range rows {
		if r.Point.Collective != t.Collective || r.Point.Layout() != l {
			continue
		}
		alg, _ := t.Select(r.Point)
		if loss, ok := r.Loss(alg); ok {
			worst = max(worst, loss)
		}
	}
	return worst
}
