package openmpi

import (
	"cmp"
	"fmt"
	"slices"

	"tutti/coll"
	"tutti/coll/catalogue"
	"tutti/selection"
)

// Options says how to fit.
type Options struct {
	MaxLoss float64 // see selection.Options
	OpSafe  bool    // leave out algorithms that are wrong for operations that do not commute
}

// Plan is what to write: trees for everybody, and other ones for layouts that
// would lose by them.
type Plan struct {
	Trees     []*selection.Tree // one per collective, alphabetical
	Layouts   []LayoutPlan
	Conflicts []Conflict
}

// LayoutPlan holds the trees for jobs of one layout: the common ones but for
// communicators as large as the job.
type LayoutPlan struct {
	Layout coll.Layout
	Trees  []*selection.Tree
}

// Conflict is a layout that disagrees with another one of as many processes.
type Conflict struct {
	Collective coll.Collective
	Layout     coll.Layout
	Loss       float64 // worst predicted slowdown, minus one, under the common rules
}

// SafeRows returns the rows without the options that the catalogue does not call
// right for every operation. The library's default always is.
func SafeRows(rows []selection.Row, cat *catalogue.Catalogue) ([]selection.Row, error) {
	out := make([]selection.Row, len(rows))
	for i, r := range rows {
		out[i].Point = r.Point
		for _, o := range r.Options {
			if !o.Algorithm.IsDefault() {
				entry, err := cat.Lookup(r.Point.Collective, o.Algorithm)
				if err != nil {
					return nil, fmt.Errorf("openmpi: %v: %w", r.Point, err)
				}
				if !entry.OpSafe {
					continue
				}
			}
			out[i].Options = append(out[i].Options, o)
		}
	}
	return out, nil
}

// Fit plans the rules for the rows of any number of collectives.
func Fit(rows []selection.Row, cat *catalogue.Catalogue, opt Options) (Plan, error) {
	if opt.OpSafe {
		safe, err := SafeRows(rows, cat)
		if err != nil {
			return Plan{}, err
		}
		rows = safe
	}
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b selection.Row) int { return coll.ComparePoints(a.Point, b.Point) })
	trees, err := fitAll(rows, opt)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Trees: trees}
	for _, l := range rivals(rows) {
		// What a job of this layout needs: its own rows where others have as many processes.
		own, err := fitAll(slices.DeleteFunc(slices.Clone(rows), func(r selection.Row) bool {
			return r.Point.Processes() == l.Processes() && r.Point.Layout() != l
		}), opt)
		if err != nil {
			return Plan{}, err
		}
		lost := false
		for _, t := range own {
			common := worstLoss(treeOf(trees, t.Collective), rows, l)
			if common > opt.MaxLoss && worstLoss(t, rows, l) < common {
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

// For returns the trees for jobs of a layout.
func (p Plan) For(l coll.Layout) []*selection.Tree {
	for _, own := range p.Layouts {
		if own.Layout == l {
			return own.Trees
		}
	}
	return p.Trees
}

// fitAll fits sorted rows, one tree per collective.
func fitAll(rows []selection.Row, opt Options) ([]*selection.Tree, error) {
	var trees []*selection.Tree
	for len(rows) > 0 {
		c := rows[0].Point.Collective
		end := slices.IndexFunc(rows, func(r selection.Row) bool { return r.Point.Collective != c })
		if end < 0 {
			end = len(rows)
		}
		t, err := selection.Fit(rows[:end], Size, selection.Options{MaxLoss: opt.MaxLoss, ByProcesses: true})
		if err != nil {
			return nil, fmt.Errorf("openmpi: %w", err)
		}
		trees, rows = append(trees, t), rows[end:]
	}
	return trees, nil
}

// rivals returns the layouts that share their number of processes with another,
// by processes.
func rivals(rows []selection.Row) []coll.Layout {
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

// treeOf returns the tree of a collective, nil when there is none.
func treeOf(trees []*selection.Tree, c coll.Collective) *selection.Tree {
	for _, t := range trees {
		if t.Collective == c {
			return t
		}
	}
	return nil
}

// worstLoss returns the largest loss of a tree over the rows of a layout.
func worstLoss(t *selection.Tree, rows []selection.Row, l coll.Layout) float64 {
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
