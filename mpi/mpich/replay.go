package mpich

import (
	"fmt"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// Replay implements mpi.Build. It checks every row: the call must enter the selected algorithm. If the
// default is selected, the call must enter the same functions as in the library without files.
//
// Replay also checks variations of the call: in place, another operation, uneven counts, one element, scattered ranks,
// or as a part of a composition. No variation may reach an algorithm that is wrong for it.
func (b build) Replay(x mpi.Export, sel selection.Selection, rows []selection.Row) error {
	common, err := b.loaded(x, coll.Layout{})
	if err != nil {
		return err
	}
	own := map[coll.Layout]files{}
	for _, l := range x.Setup.Layouts {
		if own[l.Layout], err = b.loaded(x, l.Layout); err != nil {
			return fmt.Errorf("layout %s: %w", l.Layout, err)
		}
	}
	for _, r := range rows {
		v := replayer{b, common, sel}
		if f, ok := own[r.Point.Layout()]; ok {
			v.files = f
		}
		if err := v.point(r.Point); err != nil {
			return fmt.Errorf("mpich: %v: %w", r.Point, err)
		}
		for _, call := range variations(b.callAt(r.Point)) {
			if err := v.call(call); err != nil {
				return fmt.Errorf("mpich: %v: call %+v: %w", r.Point, call, err)
			}
		}
	}
	return nil
}

func (b build) loaded(x mpi.Export, l coll.Layout) (f files, err error) {
	if f.flat, err = parseTree(x.Loaded(l, flatFile)); err != nil {
		return f, fmt.Errorf("mpich: %w", err)
	}
	if text := x.Loaded(l, deviceFile); text != nil {
		if f.device, err = parseTree(text); err != nil {
			return f, fmt.Errorf("mpich: the device's file: %w", err)
		}
	}
	return f, f.check(b.lib)
}

type replayer struct {
	build
	files files
	sel   selection.Selection
}

// trees returns the selection trees that a call of a collective uses. If there is no device file, the call uses the
// library's own device tree. If compositions are off for the collective, it uses no device tree.
func (v replayer) trees(c coll.Collective) files {
	f := v.files
	if !v.mixes(c) {
		f.device = nil
	} else if len(f.device) == 0 {
		f.device = v.lib.Device
	}
	return f
}

func (v replayer) point(p coll.Point) error {
	alg, _ := v.sel.Select(p)
	want, err := v.want(p, alg)
	if err != nil {
		return err
	}
	got, err := v.route(v.trees(p.Collective), v.callAt(p))
	if err != nil {
		return err
	}
	if !got.equal(want) {
		return fmt.Errorf("the file reaches %v: want %v for %v", got, want, alg)
	}
	return nil
}

// want returns the functions that a call must enter so that it runs the algorithm as it was measured.
func (v replayer) want(p coll.Point, alg coll.Algorithm) (route, error) {
	call := v.callAt(p)
	shipped := v.shipped()
	if !v.mixes(p.Collective) {
		shipped.device = nil
	}
	own, err := v.route(shipped, call)
	if err != nil {
		return route{}, fmt.Errorf("the library's own tree: %w", err)
	}
	if alg.IsDefault() {
		return own, nil
	}
	e, err := v.cat.Lookup(p.Collective, alg)
	if err != nil {
		return route{}, err
	}
	var r route
	if flat, ok := handsOn(v.cat, p.Collective); ok && shipped.device != nil {
		r.composition = flat.Function
	}
	if composes(e) {
		r.composition = e.Function
	}
	switch {
	case !composes(e):
		r.flat = alg
		r.flat.Name = e.Function
	case !e.Has(mpi.Hierarchical):
		if r.flat, err = reach(v.lib.Tree, call); err != nil {
			return r, err
		}
	}
	if flat, _ := v.entry(p.Collective, r.flat.Name); !e.Has(mpi.Hierarchical) && !flat.Has(mpi.Parent) { // nothing is split
		return r, nil
	}
	return r, v.parts(&r, p, alg)
}

// parts adds to the route the algorithms that must run in each part of the call, between nodes and within
// nodes. They are those that the composition `alg` names, otherwise those of the library's own tree.
func (v replayer) parts(r *route, p coll.Point, alg coll.Algorithm) error {
	for _, s := range partsOf(p.Collective) {
		leaf, err := reach(v.lib.Tree, v.part(v.callAt(p), s.collective, s.where))
		if err != nil {
			return fmt.Errorf("the library's own tree: part: %w", err)
		}
		for name, where := range map[string]hierarchy{interPart: rootsKind, nodePart: nodeKind} {
			e, ok := partOf(v.cat, p.Collective, alg, name)
			if ok && s.collective == p.Collective && s.where == where {
				leaf = coll.Algorithm{Name: e.Function}
			}
		}
		r.parts = append(r.parts, leaf)
	}
	return nil
}

// variations returns the benchmark's call, and calls that differ from it in a single property.
func variations(call signature) []signature {
	all := []signature{call}
	add := func(change func(*signature)) {
		c := call
		change(&c)
		all = append(all, c)
	}
	add(func(c *signature) { c.InPlace = true })
	add(func(c *signature) { c.BuiltinOp = false })
	add(func(c *signature) { c.BuiltinOp, c.Commutative = false, false })
	add(func(c *signature) { c.BlockRegular = false })
	add(func(c *signature) { c.Count = 1 })
	add(func(c *signature) { c.NodeConsecutive = false })
	add(func(c *signature) { c.Hierarchy, c.NodeConsecutive = nodeKind, false })
	add(func(c *signature) { c.Hierarchy, c.NodeConsecutive = rootsKind, false })
	return all
}

// call checks that the call reaches only algorithms and compositions that are correct for it.
func (v replayer) call(call signature) error {
	f := v.trees(call.Collective)
	composition, err := reachDevice(f.device, call)
	if err != nil {
		return err
	}
	alg, err := reach(f.flat, call)
	if err != nil {
		return err
	}
	for _, function := range []string{composition, alg.Name} {
		e, _ := v.entry(call.Collective, function)
		for _, r := range e.Requires {
			if !call.meets(r) {
				return fmt.Errorf("the file reaches %v, which needs %s", e.Function, r.Text())
			}
		}
	}
	return nil
}

func (c signature) meets(r mpi.Requirement) bool {
	switch r {
	case mpi.PowerOfTwo:
		return c.Ranks == coll.FloorPowerOfTwo(c.Ranks)
	case mpi.Parent, mpi.Hierarchical: // one node is right for compositions, too
		return c.Hierarchy == parentKind
	case mpi.OneNode:
		return c.Hierarchy == parentKind && c.Nodes == 1
	case mpi.NodeConsecutive:
		return c.NodeConsecutive
	case mpi.CountPowerOfTwo:
		return c.Count >= int64(coll.FloorPowerOfTwo(c.Ranks))
	case mpi.Commutative:
		return c.Commutative || c.Collective == coll.Scan // MPICH's own tree does not ask there
	case mpi.BuiltinOp:
		return c.BuiltinOp
	case mpi.InPlace:
		return c.InPlace
	case mpi.NotInPlace:
		return !c.InPlace
	}
	return true
}
