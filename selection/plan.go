package selection

import (
	"cmp"
	"slices"

	"tutti/coll"
)

// Plan is what a library is told: trees for everybody and, where its rules know the
// size of a communicator but nothing of nodes, other ones for jobs of layouts that
// would lose by them.
type Plan struct {
	Trees     []*Tree // one per collective, alphabetical
	Layouts   []LayoutPlan
	Conflicts []Conflict

	// Inter has the algorithms between nodes, for collectives that the library makes
	// from parts: its points have one process on each node.
	Inter []*Tree
}

// LayoutPlan holds the trees for jobs of one layout: the common ones but for
// communicators as large as the job.
type LayoutPlan struct {
	Layout coll.Layout
	Trees  []*Tree
}

// Conflict is a layout that disagrees with another one of as many processes.
type Conflict struct {
	Collective coll.Collective
	Layout     coll.Layout
	Loss       float64 // worst predicted slowdown, minus one, under the common rules
}

// FitPlan plans for the rows of any number of collectives. size is the library's
// own measure of a message, as for Fit; rows are told apart by processes alone.
func FitPlan(rows []Row, size func(coll.Point) int64, maxLoss float64) (Plan, error) {
	trees, err := fitAll(rows, size, maxLoss)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Trees: trees}
	for _, l := range rivals(rows) {
		// What a job of this layout needs: its own rows where others have as many processes.
		own, err := fitAll(slices.DeleteFunc(slices.Clone(rows), func(r Row) bool {
			return r.Point.Processes() == l.Processes() && r.Point.Layout() != l
		}), size, maxLoss)
		if err != nil {
			return Plan{}, err
		}
		lost := false
		for _, t := range own {
			common := worstLoss(TreeOf(trees, t.Collective), rows, l)
			if common > maxLoss && worstLoss(t, rows, l) < common {
				plan.Conflicts = append(plan.Conflicts, Conflict{t.Collective, l, common})
				lost = true
			}
		}
		if lost {
			plan.Layouts = append(plan.Layouts, LayoutPlan{l, own})
		}
	}
	return plan, nil
}

// Leaves is the number of bands that are told: those for everybody, or of the layouts
// where there are none.
func (p Plan) Leaves() int {
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

// For returns the trees for jobs of a layout.
func (p Plan) For(l coll.Layout) []*Tree {
	for _, own := range p.Layouts {
		if own.Layout == l {
			return own.Trees
		}
	}
	return p.Trees
}

// Select returns what a job of the point's own layout does at the point, and false
// outside the tuned range, where the library's default stays.
func (p Plan) Select(point coll.Point) (coll.Algorithm, bool) {
	if t := TreeOf(p.For(point.Layout()), point.Collective); t != nil {
		return t.Select(point)
	}
	return coll.Default, false
}

// TreeOf returns the tree of a collective, nil when there is none.
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

// fitAll fits one tree per collective.
func fitAll(rows []Row, size func(coll.Point) int64, maxLoss float64) ([]*Tree, error) {
	var trees []*Tree
	for _, same := range ByCollective(rows) {
		t, err := Fit(same, size, Options{MaxLoss: maxLoss, ByProcesses: true})
		if err != nil {
			return nil, err
		}
		trees = append(trees, t)
	}
	return trees, nil
}

// rivals returns the layouts that share their number of processes with another,
// by processes.
func rivals(rows []Row) []coll.Layout {
	var all []coll.Layout
	for _, r := range rows {
		all = append(all, r.Point.Layout())
	}
	slices.SortFunc(all, func(a, b coll.Layout) int {
		return cmp.Or(cmp.Compare(a.Processes(), b.Processes()), coll.CompareLayouts(a, b))
	})
	all = slices.Compact(all)
	var out []coll.Layout
	for i, l := range all {
		if i > 0 && all[i-1].Processes() == l.Processes() || i+1 < len(all) && all[i+1].Processes() == l.Processes() {
			out = append(out, l)
		}
	}
	return out
}

// worstLoss returns the largest loss of a tree over the rows of a layout.
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
