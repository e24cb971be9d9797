package mpi

import (
	"math"
	"slices"

	"tutti/coll"
	"tutti/selection"
)

// MergeWhole makes a selection for a library whose settings say what runs for every call: no range of sizes can be left to
// it. It selects for each layout separately, with at most maxBands ranges of sizes. An algorithm is fast enough for a row if
// it loses at most maxLoss, is not slower than the default, or is marked as equal. A collective is left to the
// library for a layout if no algorithm is fast enough at some size, or if the geometric mean of the times would not become
// shorter. Rules lose at most maxLoss. If they need more ranges, the algorithm that is fast enough at all sizes and the
// fastest on average is selected. `size` is the message size as the library computes it.
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
			if !whole(t, acceptable, maxBands) {
				if acceptable = withOneAlgorithm(same, acceptable); acceptable == nil {
					continue
				}
				if t, err = selection.Merge(acceptable, size, selection.Options{MaxLoss: maxLoss, ByRanks: true}); err != nil {
					return selection.Selection{}, err
				}
			}
			if whole(t, acceptable, maxBands) && saves(t, same) {
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

// withoutDefault returns the rows without the library's default, and without options that are slower than it, lose more than
// maxLoss and are not marked as equal. It returns false if a row then has no option.
func withoutDefault(rows []selection.Row, maxLoss float64) ([]selection.Row, bool) {
	var out []selection.Row
	for _, r := range rows {
		kept := selection.Row{Point: r.Point}
		allowed := maxLoss
		if loss, ok := r.Loss(coll.Default); ok {
			allowed = max(allowed, loss)
		}
		for _, o := range r.Options {
			if loss, _ := r.Loss(o.Algorithm); !o.Algorithm.IsDefault() && (loss <= allowed || o.Equal) {
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

// saves reports whether the times of a tree's choices have a smaller product than those of the default. It is true if a row
// lacks the default.
func saves(t *selection.Tree, rows []selection.Row) bool {
	byDefault, known := logLoss(rows, func(coll.Point) coll.Algorithm { return coll.Default })
	sum, _ := logLoss(rows, func(p coll.Point) coll.Algorithm { alg, _ := t.Select(p); return alg })
	return !known || sum < byDefault
}

// withOneAlgorithm returns the acceptable rows with only the algorithm that all of them have and that has the smallest
// product of times. It returns nil if there is none.
func withOneAlgorithm(rows, acceptable []selection.Row) (out []selection.Row) {
	best, least := coll.Default, math.Inf(1)
	for _, o := range acceptable[0].Options {
		choose := func(coll.Point) coll.Algorithm { return o.Algorithm }
		if _, everywhere := logLoss(acceptable, choose); !everywhere {
			continue
		}
		if sum, _ := logLoss(rows, choose); sum < least {
			best, least = o.Algorithm, sum
		}
	}
	if best.IsDefault() {
		return nil
	}
	for _, r := range acceptable {
		out = append(out, selection.Row{Point: r.Point, Options: []selection.Option{{Algorithm: best, Seconds: 1}}})
	}
	return out
}

// logLoss returns the sum over the rows of the logarithm of a choice's loss factor. It returns false if a row lacks the
// choice.
func logLoss(rows []selection.Row, choose func(coll.Point) coll.Algorithm) (sum float64, ok bool) {
	for _, r := range rows {
		loss, ok := r.Loss(choose(r.Point))
		if !ok {
			return 0, false
		}
		sum += math.Log1p(loss)
	}
	return sum, true
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
