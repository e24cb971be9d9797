package openmpi

import (
	"cmp"
	"fmt"
	"slices"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// Merge implements mpi.Build. It leaves empty messages to the library. For an allgather, coll/tuned computes the
// message size from the send count. The standard ignores this count in calls in place, so coll/tuned may take
// such a call for one with an empty message.
func (b build) Merge(rows []selection.Row, maxLoss float64) (selection.Selection, error) {
	rows = onePart(oneSegment(rows))
	sel, err := selection.MergeAll(assumeDefaults(rows, maxLoss), size, selection.Options{MaxLoss: maxLoss, Between: mpi.Between})
	if err != nil {
		return selection.Selection{}, fmt.Errorf("openmpi: %w", err)
	}
	leaveEmptyMessages(sel.Trees)
	for _, l := range sel.Layouts {
		leaveEmptyMessages(l.Trees)
	}
	b.addHanLayouts(&sel, rows)
	return sel, nil
}

// addHanLayouts adds an entry to the selection for each layout that the component coll/han serves. In jobs of these
// layouts, the rules of coll/han depend on the layout.
func (b build) addHanLayouts(sel *selection.Selection, rows []selection.Row) {
	byPoint := func(a, b selection.Row) int { return coll.ComparePoints(a.Point, b.Point) }
	for _, r := range slices.SortedFunc(slices.Values(rows), byPoint) {
		l := r.Point.Layout()
		same := func(x selection.LayoutTrees) bool { return x.Layout == l }
		if b.hanServes(coll.Bcast, l) && !slices.ContainsFunc(sel.Layouts, same) {
			sel.Layouts = append(sel.Layouts, selection.LayoutTrees{Layout: l, Trees: sel.Trees})
		}
	}
}

// assumeDefaults prepares the rows of collectives that have one rule for all message sizes. If a row has no
// time of the default, it gets the time of the row's best algorithm plus maxLoss. The rule then selects either
// an algorithm that is the best at every size, or the default.
func assumeDefaults(rows []selection.Row, maxLoss float64) []selection.Row {
	rows = slices.Clone(rows)
	for i, r := range rows {
		isDefault := func(o selection.Option) bool { return o.Algorithm.IsDefault() }
		if sized(r.Point.Collective) || !r.Point.Collective.Sized() || len(r.Options) == 0 || slices.ContainsFunc(r.Options, isDefault) {
			continue
		}
		best := slices.MinFunc(r.Options, func(a, b selection.Option) int { return cmp.Compare(a.Seconds, b.Seconds) })
		best.Algorithm = coll.Default
		best.Seconds *= 1 + max(maxLoss, 1e-9) // equal times would prefer the default
		rows[i].Options = append(slices.Clone(r.Options), best)
	}
	return rows
}

func leaveEmptyMessages(trees []*selection.Tree) {
	for _, t := range trees {
		if !sized(t.Collective) {
			continue
		}
		for _, c := range t.Comms {
			for i, p := range c.PPNs {
				switch first := p.Bands[0]; {
				case first.Algorithm.IsDefault():
				case first.UpTo == 0:
					p.Bands[0].Algorithm = coll.Default
				default:
					c.PPNs[i].Bands = slices.Insert(p.Bands, 0, selection.Band{Algorithm: coll.Default})
					t.Summary.Leaves++
				}
			}
		}
	}
}
