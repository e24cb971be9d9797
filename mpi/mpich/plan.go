package mpich

import (
	"cmp"
	"math"
	"slices"

	"tutti/coll"
	"tutti/mpi"
	"tutti/mpi/mpich/csel"
	"tutti/selection"
)

// Plan is what the files say about one collective. The embedded tree holds what
// points get, compositions among it.
type Plan struct {
	*selection.Tree

	// Inter holds the algorithms between nodes: its points have as many nodes as the
	// communicator and one process on each. coll.Default is the library's own.
	Inter *selection.Tree
}

// Leaves is the number of bands of the plan.
func (p Plan) Leaves() int { return p.Summary.Leaves + p.Inter.Summary.Leaves }

// Fit merges the rows of one collective into what the files of the library can
// say.
//
// The files cannot say everything. A part of a composition asks the library with
// a communicator of its own, which knows the number of nodes and the message size
// but not how many processes each node has. So all points with the same nodes and
// size share the algorithm between nodes, the library's default among them when it
// is a composition there: of the algorithms that leave every point an option no
// slower than its default, the one with the least summed loss is taken, and points
// keep the options that run as measured under it. Parts within nodes serve several
// collectives, bcast's are parts of allreduce, barrier and scan as well: they stay
// the library's own, and an option that wants another one is dropped.
func Fit(rows []selection.Row, lib csel.Library, cat *mpi.Catalogue, opt selection.Options) (Plan, error) {
	f := fitter{lib: lib, cat: cat}
	var kept, inter []selection.Row
	for _, cell := range cells(rows) {
		own := f.own(cell[0].Point)
		chosen := f.share(cell, own)
		for _, r := range cell {
			kept = append(kept, f.project(r, chosen))
		}
		if own == "" {
			continue
		}
		alg := coll.Default
		if chosen != own {
			alg = f.algorithm(cell[0].Point.Collective, chosen)
		}
		inter = append(inter, selection.Row{
			Point:   partPoint(cell[0].Point, interPart),
			Options: []selection.Option{{Algorithm: alg, Seconds: 1}},
		})
	}
	tree, err := selection.Fit(kept, Size, opt)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Tree: tree, Inter: &selection.Tree{Collective: tree.Collective}}
	if slices.ContainsFunc(inter, func(r selection.Row) bool { return !r.Options[0].Algorithm.IsDefault() }) {
		plan.Inter, err = selection.Fit(inter, Size, selection.Options{})
	}
	return plan, err
}

// cells groups rows that share the algorithm between nodes.
func cells(rows []selection.Row) [][]selection.Row {
	order := func(a, b selection.Row) int {
		return cmp.Or(cmp.Compare(a.Point.Nodes, b.Point.Nodes), cmp.Compare(several(a.Point), several(b.Point)),
			cmp.Compare(Size(a.Point), Size(b.Point)))
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

// several is 1 where a composition has parts.
func several(p coll.Point) int {
	if p.Nodes > 1 && p.PPN > 1 {
		return 1
	}
	return 0
}

type fitter struct {
	lib csel.Library
	cat *mpi.Catalogue
}

// own returns the leaf that the library itself reaches between the nodes of a
// point, empty where nothing is between nodes.
func (f fitter) own(p coll.Point) string {
	if several(p) == 0 || !mixes(f.lib, f.cat, p.Collective) {
		return ""
	}
	alg, err := reach(f.lib.Tree, part(CallAt(p), p.Collective, NodeRoots))
	if err != nil {
		return ""
	}
	return alg.Name
}

// algorithm returns the algorithm that a leaf stands for.
func (f fitter) algorithm(c coll.Collective, leaf string) coll.Algorithm {
	for _, e := range f.cat.Entries(c) {
		if e.Function == leaf {
			return coll.Algorithm{Name: e.Name}
		}
	}
	return coll.Default
}

// need returns the leaf that must run between the nodes for an option to run as
// measured, empty when it does not matter, and false when the files cannot say it.
func (f fitter) need(alg coll.Algorithm, p coll.Point, own string) (string, bool) {
	if alg.IsDefault() {
		r, err := routeOf(files{f.lib.Tree, f.lib.Device}, CallAt(p), f.cat)
		if err != nil || len(r.parts) > 0 {
			return own, true
		}
		return "", true
	}
	e, err := f.cat.Lookup(p.Collective, alg)
	switch {
	case err != nil: // Export reports it when it is chosen
		return "", true
	case !composes(e) && !e.Has(mpi.Parent):
		return "", true
	case !composes(e): // splits by itself
		return own, true
	case !mixes(f.lib, f.cat, p.Collective) || !slices.Contains(f.lib.Compositions, e.Function):
		return "", false
	}
	if node, ok := partOf(f.cat, p.Collective, alg, nodePart); ok {
		inside, err := reach(f.lib.Tree, part(CallAt(p), p.Collective, Node))
		if err != nil || inside.Name != node.Function {
			return "", false
		}
	}
	if inter, ok := partOf(f.cat, p.Collective, alg, interPart); ok {
		return inter.Function, true
	}
	return own, true
}

// runs reports whether an option runs as measured when a leaf is chosen between
// the nodes.
func (f fitter) runs(alg coll.Algorithm, p coll.Point, chosen, own string) bool {
	leaf, ok := f.need(alg, p, own)
	return ok && (leaf == "" || own == "" || leaf == chosen)
}

// share chooses the leaf between the nodes of a cell.
func (f fitter) share(cell []selection.Row, own string) string {
	if own == "" {
		return ""
	}
	leaves := []string{own}
	for _, r := range cell {
		for _, o := range r.Options {
			if leaf, ok := f.need(o.Algorithm, r.Point, own); ok && leaf != "" && !slices.Contains(leaves, leaf) {
				leaves = append(leaves, leaf)
			}
		}
	}
	slices.Sort(leaves[1:])
	best, least := own, f.loss(cell, own, own)
	for _, leaf := range leaves[1:] {
		if loss := f.loss(cell, leaf, own); loss < least {
			best, least = leaf, loss
		}
	}
	return best
}

// loss sums what the rows lose when a leaf is chosen; infinite when one of them,
// or one layout, is left without an option.
func (f fitter) loss(cell []selection.Row, chosen, own string) float64 {
	total := 0.0
	byLayout := map[coll.Layout]map[coll.Algorithm]float64{}
	rows := map[coll.Layout]int{}
	var layouts []coll.Layout
	for _, r := range cell {
		l := r.Point.Layout()
		if byLayout[l] == nil {
			byLayout[l] = map[coll.Algorithm]float64{}
			layouts = append(layouts, l)
		}
		rows[l]++
		if len(r.Options) == 0 && chosen != own {
			return math.Inf(1)
		}
		limit := defaultSeconds(r)
		for _, o := range r.Options {
			if o.Seconds <= limit && f.runs(o.Algorithm, r.Point, chosen, own) {
				loss, _ := r.Loss(o.Algorithm)
				// Options that one row lacks are worth nothing: the library cannot tell
				// rows of one layout and size apart.
				byLayout[l][o.Algorithm] += loss + 1
			}
		}
	}
	for _, l := range layouts {
		best := math.Inf(1)
		for alg, sum := range byLayout[l] {
			if f.common(cell, l, alg, chosen, own) {
				best = min(best, sum-float64(rows[l]))
			}
		}
		total += best
	}
	return total
}

// common reports whether all rows of a layout have the option, no slower than the
// default.
func (f fitter) common(cell []selection.Row, l coll.Layout, alg coll.Algorithm, chosen, own string) bool {
	for _, r := range cell {
		if r.Point.Layout() != l {
			continue
		}
		i := slices.IndexFunc(r.Options, func(o selection.Option) bool { return o.Algorithm == alg })
		if i < 0 || r.Options[i].Seconds > defaultSeconds(r) || !f.runs(alg, r.Point, chosen, own) {
			return false
		}
	}
	return true
}

// project keeps the options of a row that run as measured; none slower than the
// default, should that be gone.
func (f fitter) project(r selection.Row, chosen string) selection.Row {
	own, limit := f.own(r.Point), math.Inf(1)
	if !f.runs(coll.Default, r.Point, chosen, own) {
		limit = defaultSeconds(r)
	}
	out := selection.Row{Point: r.Point}
	for _, o := range r.Options {
		if o.Seconds <= limit && f.runs(o.Algorithm, r.Point, chosen, own) {
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
