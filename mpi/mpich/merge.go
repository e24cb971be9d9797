package mpich

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// Merge implements mpi.Build. It merges rows into a selection that the files of the library can express.
//
// In a composition, the part between nodes runs on a communicator of its own. There MPICH knows the number of nodes and
// the message size, but not the number of ranks on each node. All points with the same number of nodes and message size
// therefore share the algorithm between nodes.
//
// This shared algorithm must leave every point at least one option that is not slower than the default. Of the
// possible algorithms, Merge selects the one with the smallest sum of losses. Points keep only options that would
// then run exactly as they were measured.
//
// Several collectives share the parts within nodes. For example, the bcast within a node is a part of
// allreduce, barrier and scan, too. Merge leaves these parts to the library, and removes options that need
// another algorithm in them.
//
// If each rank counts as a node, no condition distinguishes layouts with the same number of ranks.
func (b build) Merge(rows []selection.Row, maxLoss float64) (selection.Selection, error) {
	var sel selection.Selection
	if b.lib.NoNodes {
		var kept []selection.Row
		for _, r := range rows {
			kept = append(kept, b.project(r, ""))
		}
		return selection.MergeAll(kept, size, selection.Options{MaxLoss: maxLoss, Between: reachesInto})
	}
	for _, same := range selection.ByCollective(rows) {
		kept, between := b.share(same)
		tree, err := selection.Merge(kept, size, selection.Options{MaxLoss: maxLoss, Between: reachesInto})
		if err != nil {
			return selection.Selection{}, err
		}
		sel.Trees = append(sel.Trees, tree)
		if !slices.ContainsFunc(between, func(r selection.Row) bool { return !r.Options[0].Algorithm.IsDefault() }) {
			continue
		}
		if tree, err = selection.Merge(between, size, selection.Options{Between: reachesInto}); err != nil {
			return selection.Selection{}, err
		}
		sel.Inter = append(sel.Inter, tree)
	}
	return sel, nil
}

// share selects the algorithms that run between nodes. The result `kept` has all rows, but only with options
// that then run as they were measured. The result `between` has a row for each selected algorithm, at a point
// with one rank on each node.
func (b build) share(rows []selection.Row) (kept, between []selection.Row) {
	for _, cell := range cells(rows) {
		own := b.own(cell[0].Point)
		chosen := b.choose(cell, own)
		for _, r := range cell {
			kept = append(kept, b.project(r, chosen))
		}
		if own == "" {
			continue
		}
		alg := coll.Default
		if e, ok := b.entry(cell[0].Point.Collective, chosen); ok && chosen != own {
			alg = coll.Algorithm{Name: e.Name}
		}
		between = append(between, selection.Row{
			Point:   partPoint(cell[0].Point, interPart),
			Options: []selection.Option{{Algorithm: alg, Seconds: 1}},
		})
	}
	return kept, between
}

// reachesInto reports whether an algorithm may be selected between two communicator sizes (see selection.Options). For
// bcast and ibcast it may not if both are powers of two, of ranks or of nodes. There the default is a scatter with recursive
// doubling, which shares links between the ranks of a node. At other sizes it is a scatter with a ring, which can be faster
// than what beats the default at powers of two (tree of 4.0.2; docs/experiments/2026-11-29-harm.md).
func reachesInto(alg coll.Algorithm, g selection.Gap) bool {
	byPowerOfTwo := g.Collective == coll.Bcast || g.Collective == coll.Ibcast
	ranks, nodes := isPowerOfTwo(g.Low) && isPowerOfTwo(g.High), isPowerOfTwo(g.Low/g.PPN) && isPowerOfTwo(g.High/g.PPN)
	return mpi.Between(alg, g) && !(byPowerOfTwo && (ranks || nodes))
}

func isPowerOfTwo(n int) bool { return n > 0 && n == coll.FloorPowerOfTwo(n) }

func cells(rows []selection.Row) [][]selection.Row {
	order := func(a, b selection.Row) int {
		return cmp.Or(cmp.Compare(a.Point.Nodes, b.Point.Nodes), cmp.Compare(partsOrder(a.Point), partsOrder(b.Point)),
			cmp.Compare(size(a.Point), size(b.Point)))
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, order)
	var out [][]selection.Row
	for i, r := range rows {
		if i == 0 || order(rows[i-1], r) != 0 {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], r)
	}
	return out
}

// partsOrder returns 1 at points with several nodes and several ranks on each, where a composition has a part between
// the nodes. Elsewhere it returns 0.
func partsOrder(p coll.Point) int {
	if p.Nodes > 1 && p.PPN > 1 {
		return 1
	}
	return 0
}

// own returns which algorithm runs between the nodes at a point if there are no files, as the name of a leaf
// of the tree. It returns "" if the collective has no part between nodes, or if the files cannot select that
// part's algorithm.
func (b build) own(p coll.Point) string {
	if partsOrder(p) == 0 || !b.mixes(p.Collective) || b.partsAreFlat() {
		return ""
	}
	alg, err := reach(b.lib.Tree, b.part(b.callAt(p), p.Collective, rootsKind))
	if err != nil {
		return ""
	}
	return alg.Name
}

// entry returns the catalogue's entry for the algorithm that a function of MPICH implements. Leaves of selection
// trees name such functions.
func (b build) entry(c coll.Collective, function string) (mpi.Entry, bool) {
	return b.cat.Find(c, func(e mpi.Entry) bool { return e.Function == function })
}

// need returns which algorithm must run between the nodes if an option is to run as it was measured. The
// result is the name of the algorithm's leaf, or empty if any algorithm is suitable. It is false if the files
// cannot express the option.
func (b build) need(alg coll.Algorithm, p coll.Point, own string) (string, bool) {
	if alg.IsDefault() {
		r, err := b.route(b.shipped(), b.callAt(p))
		if err != nil || len(r.parts) > 0 {
			return own, true
		}
		return "", true
	}
	e, err := b.cat.Lookup(p.Collective, alg)
	switch {
	case err != nil:
		return "", false
	case !composes(e) && !e.Has(mpi.Parent):
		return "", true
	case !composes(e): // splits by itself
		return own, true
	case !b.mixes(p.Collective):
		return "", false
	}
	if node, ok := partOf(b.cat, p.Collective, alg, nodePart); ok {
		inside, err := reach(b.lib.Tree, b.part(b.callAt(p), p.Collective, nodeKind))
		if err != nil || inside.Name != node.Function {
			return "", false
		}
	}
	if inter, ok := partOf(b.cat, p.Collective, alg, interPart); ok {
		return inter.Function, true
	}
	return own, true
}

// runs reports whether an option would run as it was measured if the algorithm of leaf `chosen` is selected
// between the nodes.
func (b build) runs(alg coll.Algorithm, p coll.Point, chosen, own string) bool {
	leaf, ok := b.need(alg, p, own)
	return ok && (leaf == "" || own == "" || leaf == chosen)
}

// choose returns the algorithm that runs between the nodes for the rows of a cell, by the name of its leaf.
// The rows of a cell have the same number of nodes and message size, so they must share this algorithm.
func (b build) choose(cell []selection.Row, own string) string {
	if own == "" {
		return ""
	}
	leaves := []string{own}
	for _, r := range cell {
		for _, o := range r.Options {
			if leaf, ok := b.need(o.Algorithm, r.Point, own); ok && leaf != "" && !slices.Contains(leaves, leaf) {
				leaves = append(leaves, leaf)
			}
		}
	}
	slices.Sort(leaves[1:])
	best, least := own, b.loss(cell, own, own)
	for _, leaf := range leaves[1:] {
		if loss := b.loss(cell, leaf, own); loss < least {
			best, least = leaf, loss
		}
	}
	return best
}

// loss returns the total loss of the rows in a cell if leaf `chosen` is selected between the nodes. A cell has
// rows that must share this algorithm. Rows of one layout share an option, because the library cannot
// distinguish them.
func (b build) loss(cell []selection.Row, chosen, own string) float64 {
	byLayout := map[coll.Layout][]selection.Row{}
	for _, r := range cell {
		l := r.Point.Layout()
		byLayout[l] = append(byLayout[l], r)
	}
	total := 0.0
	for _, l := range slices.SortedFunc(maps.Keys(byLayout), coll.CompareLayouts) {
		best := math.Inf(1)
		for _, o := range byLayout[l][0].Options {
			best = min(best, b.optionLoss(byLayout[l], o.Algorithm, chosen, own))
		}
		total += best
	}
	return total
}

// optionLoss returns the total loss of the rows with one option. It is infinite if the option would not run as
// measured. It is also infinite if in a row the option is missing or slower than the default.
func (b build) optionLoss(rows []selection.Row, alg coll.Algorithm, chosen, own string) float64 {
	sum := 0.0
	for _, r := range rows {
		i := slices.IndexFunc(r.Options, func(o selection.Option) bool { return o.Algorithm == alg })
		if i < 0 || r.Options[i].Seconds > defaultSeconds(r) || !b.runs(alg, r.Point, chosen, own) {
			return math.Inf(1)
		}
		loss, _ := r.Loss(alg)
		sum += loss
	}
	return sum
}

// project keeps the options of a row that would run exactly as they were measured, if leaf `chosen` is selected
// between the nodes. If the default would not run as measured, project also removes options that are slower
// than the default.
func (b build) project(r selection.Row, chosen string) selection.Row {
	own, limit := b.own(r.Point), math.Inf(1)
	if !b.runs(coll.Default, r.Point, chosen, own) {
		limit = defaultSeconds(r)
	}
	out := selection.Row{Point: r.Point}
	for _, o := range r.Options {
		if o.Seconds <= limit && b.runs(o.Algorithm, r.Point, chosen, own) {
			out.Options = append(out.Options, o)
		}
	}
	return out
}

func defaultSeconds(r selection.Row) float64 {
	for _, o := range r.Options {
		if o.Algorithm.IsDefault() {
			return o.Seconds
		}
	}
	return math.Inf(1)
}
