package mpi

import (
	"slices"

	"tutti/coll"
	"tutti/selection"
)

// MergeWhole makes a selection for a library whose settings say what runs for every call: no range of sizes can be left to
// it. It selects for each layout separately, with at most maxBands ranges of sizes. A collective is left to the library for
// a layout if there is a size at which every algorithm is too slow: more than maxLoss slower than the fastest one, which
// may be the default. `size` is the message size as the library computes it.
func MergeWhole(rows []selection.Row, size func(coll.Point) int64, maxLoss float64, maxBands int) (selection.Selection, error) {
	var sel selection.Selection
	for _, layout := range layoutsOf(rows) {
		own := selection.LayoutTrees{Layout: layout}
		here := slices.DeleteFunc(slices.Clone(rows), func(r selection.Row) bool { return r.Point.Layout() != layout })
		for _, same := range selection.ByCollective(here) {
			acceptable, ok := withoutDefault(same, maxLoss)
			if !ok {
				continue
			}
			t, err := selection.Merge(acceptable, size, selection.Options{MaxLoss: maxLoss, ByRanks: true})
			if err != nil {
				return selection.Selection{}, err
			}
			if whole(t, acceptable, maxBands) {
				own.Trees = append(own.Trees, t)
			}
		}
		if len(own.Trees) > 0 {
			sel.Layouts = append(sel.Layouts, own)
		}
	}
	return sel, nil
}

func layoutsOf(rows []selection.Row) []coll.Layout {
	var out []coll.Layout
	for _, r := range rows {
		out = append(out, r.Point.Layout())
	}
	slices.SortFunc(out, coll.CompareLayouts)
	return slices.Compact(out)
}

// withoutDefault returns the rows without the library's default, and without options that are slower than
// the best one by more than maxLoss. It returns false if a row then has no option.
func withoutDefault(rows []selection.Row, maxLoss float64) ([]selection.Row, bool) {
	var out []selection.Row
	for _, r := range rows {
		kept := selection.Row{Point: r.Point}
		for _, o := range r.Options {
			if loss, _ := r.Loss(o.Algorithm); !o.Algorithm.IsDefault() && loss <= maxLoss {
				kept.Options = append(kept.Options, o)
			}
		}
		if len(kept.Options) == 0 {
			return nil, false
		}
		out = append(out, kept)
	}
	return out, true
}

// whole reports whether a tree selects an algorithm for every row, in at most maxBands ranges of sizes. It cannot if two
// rows have the same size for the library and need different algorithms.
func whole(t *selection.Tree, rows []selection.Row, maxBands int) bool {
	bands := t.Comms[0].PPNs[0].Bands
	if bands[0].Algorithm.IsDefault() { // sizes below the tuned ones
		bands = bands[1:]
	}
	return len(bands) <= maxBands && !slices.ContainsFunc(rows, func(r selection.Row) bool {
		alg, _ := t.Select(r.Point)
		return alg.IsDefault()
	})
}
