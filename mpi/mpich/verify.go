package mpich

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/mpi"
	"tutti/mpi/mpich/csel"
	"tutti/selection"
)

// Verify reads files back and replays them; device is nil when there is no file
// for the device. At every row the call must enter what the plans ask for, or all
// that it enters in the library as shipped where they ask for the default; and no
// variation of the call (in place, another operation, uneven counts, one element,
// scattered ranks, a part of a composition) may reach an algorithm that cannot
// serve it.
func Verify(tree, device []byte, plans []Plan, rows []selection.Row, lib csel.Library, cat *mpi.Catalogue) error {
	v := verifier{lib: lib, cat: cat, plans: plans}
	var err error
	if v.files.tree, err = csel.Parse(tree); err != nil {
		return fmt.Errorf("mpich: %w", err)
	}
	if device != nil {
		if v.files.device, err = csel.Parse(device); err != nil {
			return fmt.Errorf("mpich: the device's file: %w", err)
		}
	}
	if err := (File{Tree: v.files.tree, Device: v.files.device}).check(lib); err != nil {
		return err
	}
	for _, r := range rows {
		if err := v.point(r.Point); err != nil {
			return fmt.Errorf("mpich: %v: %w", r.Point, err)
		}
		for _, call := range variations(CallAt(r.Point)) {
			if err := v.call(call); err != nil {
				return fmt.Errorf("mpich: %v: call %+v: %w", r.Point, call, err)
			}
		}
	}
	return nil
}

type verifier struct {
	files files
	lib   csel.Library
	cat   *mpi.Catalogue
	plans []Plan
}

// trees are the files that a call of a collective sees: without one for the
// device it has its own tree, unless it is told to leave the collective alone.
func (v verifier) trees(c coll.Collective) files {
	f := v.files
	if !mixes(v.lib, v.cat, c) {
		f.device = nil
	} else if len(f.device) == 0 {
		f.device = v.lib.Device
	}
	return f
}

func (v verifier) point(p coll.Point) error {
	alg := coll.Default
	if i := slices.IndexFunc(v.plans, func(t Plan) bool { return t.Collective == p.Collective }); i >= 0 {
		alg, _ = v.plans[i].Select(p)
	}
	want, err := v.want(p, alg)
	if err != nil {
		return err
	}
	got, err := routeOf(v.trees(p.Collective), CallAt(p), v.cat)
	if err != nil {
		return err
	}
	if !got.equal(want) {
		return fmt.Errorf("the file reaches %v: want %v for %v", got, want, alg)
	}
	return nil
}

// want returns what a call enters that runs the algorithm as it was measured.
func (v verifier) want(p coll.Point, alg coll.Algorithm) (route, error) {
	call := CallAt(p)
	shipped := files{tree: v.lib.Tree, device: v.lib.Device}
	if !mixes(v.lib, v.cat, p.Collective) {
		shipped.device = nil
	}
	own, err := routeOf(shipped, call, v.cat)
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
		if r.flat, err = coll.NewAlgorithm(e.Function, alg.Params()...); err != nil {
			return r, err
		}
	case !e.Has(mpi.Hierarchical):
		if r.flat, err = reach(v.lib.Tree, call); err != nil {
			return r, err
		}
	}
	if !e.Has(mpi.Hierarchical) && !v.parent(p.Collective, r.flat.Name) {
		return r, nil
	}
	return r, v.parts(&r, p, alg)
}

// parent reports whether a leaf is an algorithm that splits a communicator.
func (v verifier) parent(c coll.Collective, leaf string) bool {
	return slices.ContainsFunc(v.cat.Entries(c), func(e mpi.Entry) bool { return e.Function == leaf && e.Has(mpi.Parent) })
}

// parts fills in what the parts of an algorithm are to enter.
func (v verifier) parts(r *route, p coll.Point, alg coll.Algorithm) error {
	for _, s := range partsOf(p.Collective) {
		leaf, err := reach(v.lib.Tree, part(CallAt(p), s.collective, s.where))
		if err != nil {
			return fmt.Errorf("the library's own tree: part: %w", err)
		}
		for name, where := range map[string]Hierarchy{interPart: NodeRoots, nodePart: Node} {
			e, ok := partOf(v.cat, p.Collective, alg, name)
			if ok && s.collective == p.Collective && s.where == where {
				leaf = coll.Algorithm{Name: e.Function}
			}
		}
		r.parts = append(r.parts, leaf)
	}
	return nil
}

// variations returns calls that differ from a benchmark's in one way each.
func variations(call Call) []Call {
	all := []Call{call}
	add := func(change func(*Call)) {
		c := call
		change(&c)
		all = append(all, c)
	}
	add(func(c *Call) { c.InPlace = true })
	add(func(c *Call) { c.BuiltinOp = false })
	add(func(c *Call) { c.BuiltinOp, c.Commutative = false, false })
	add(func(c *Call) { c.BlockRegular = false })
	add(func(c *Call) { c.Count = 1 })
	add(func(c *Call) { c.NodeConsecutive = false })
	add(func(c *Call) { c.Hierarchy, c.NodeConsecutive = Node, false })
	add(func(c *Call) { c.Hierarchy, c.NodeConsecutive = NodeRoots, false })
	return all
}

// call checks that the call reaches algorithms and a composition that may serve it.
func (v verifier) call(call Call) error {
	f := v.trees(call.Collective)
	var reached []string
	if len(f.device) > 0 {
		leaf, ok, err := reachDevice(f.device, call)
		if err != nil {
			return err
		}
		if ok {
			reached = append(reached, leaf)
		}
	}
	alg, err := reach(f.tree, call)
	if err != nil {
		return err
	}
	for _, e := range v.cat.Entries(call.Collective) {
		if !slices.Contains(append(reached, alg.Name), e.Function) {
			continue
		}
		for _, r := range e.Requires {
			if !call.meets(r) {
				return fmt.Errorf("the file reaches %v, which needs %s", e.Function, r)
			}
		}
	}
	return nil
}

// meets reports whether a call meets a requirement.
func (c Call) meets(r mpi.Requirement) bool {
	switch r {
	case mpi.PowerOfTwo:
		return c.Processes == mpi.FloorPowerOfTwo(c.Processes)
	case mpi.Parent, mpi.Hierarchical: // one node is right for compositions, too
		return c.Hierarchy == Parent
	case mpi.OneNode:
		return c.Hierarchy == Parent && c.Nodes == 1
	case mpi.NodeConsecutive:
		return c.NodeConsecutive
	case mpi.CountPowerOfTwo:
		return c.Count >= int64(mpi.FloorPowerOfTwo(c.Processes))
	case mpi.Commutative:
		return c.Commutative || c.Collective == coll.Scan // MPICH's own tree does not ask there
	case mpi.BuiltinOp:
		return c.BuiltinOp
	case mpi.BlockRegular:
		return c.BlockRegular
	case mpi.InPlace:
		return c.InPlace
	case mpi.NotInPlace:
		return !c.InPlace
	}
	return true
}

// check reports what MPICH would abort on when it loads a tree, or later; own is
// the library's tree in its place.
func check(tree, own csel.Object, lib csel.Library) error {
	for _, m := range own {
		if _, ok := tree.Get(m.Key); !ok {
			return fmt.Errorf("mpich: %s is missing: MPICH aborts when it is called", m.Key)
		}
	}
	kind, names := csel.LeafKey, lib.Leaves
	if strings.HasPrefix(anyLeaf(own), csel.CompositionKey) {
		kind, names = csel.CompositionKey, lib.Compositions
	}
	for _, m := range tree {
		name, ok := strings.CutPrefix(m.Key, csel.CollectiveKey)
		if !ok {
			return fmt.Errorf("mpich: %s: want %s at the top of the tree", m.Key, csel.CollectiveKey)
		}
		c := checker{lib, kind, names, name}
		if err := c.branch(m.Value); err != nil {
			return fmt.Errorf("mpich: %s: %w", m.Key, err)
		}
	}
	return nil
}

func anyLeaf(o csel.Object) string {
	for len(o) > 0 && !csel.IsLeaf(o[0].Key) {
		o = o[0].Value
	}
	if len(o) == 0 {
		return ""
	}
	return o[0].Key
}

// checker goes through the branch of one collective.
type checker struct {
	lib        csel.Library
	kind       string   // what leaves begin with
	names      []string // of leaves
	collective string
}

func (c checker) branch(o csel.Object) error {
	if len(o) == 0 {
		return fmt.Errorf("a branch ends without %s", c.kind)
	}
	if csel.IsLeaf(o[0].Key) {
		return c.leaf(o)
	}
	for i, m := range o {
		cond, err := parseCondition(m.Key)
		if err != nil {
			return err
		}
		last := i == len(o)-1
		switch {
		case !cond.known(c.lib):
			return fmt.Errorf("%s: %s has no such condition", m.Key, c.lib.Source)
		case cond.value == "any" && !last:
			return fmt.Errorf("%s: want it as the last alternative", m.Key)
		case cond.ranged() && last:
			return fmt.Errorf("%s: want another alternative after it", m.Key)
		}
		if err := c.branch(m.Value); err != nil {
			return fmt.Errorf("%s: %w", m.Key, err)
		}
	}
	return nil
}

var leafOf = regexp.MustCompile(`^(?:MPIR_([A-Za-z_]+?)_(?:intra|inter|allcomm)_|MPIDI_([A-Za-z_]+?)_intra_composition_)`)

func (c checker) leaf(o csel.Object) error {
	name, ok := strings.CutPrefix(o[0].Key, c.kind)
	parts := leafOf.FindStringSubmatch(name)
	switch {
	case !ok:
		return fmt.Errorf("%s: want %s here", o[0].Key, c.kind)
	case len(o) > 1:
		return fmt.Errorf("%s: %s beside a leaf: want nothing", name, o[1].Key)
	case !slices.Contains(c.names, name):
		return fmt.Errorf("%s: %s has no such algorithm", name, c.lib.Source)
	case parts == nil || strings.ToLower(parts[1]+parts[2]) != c.collective:
		return fmt.Errorf("%s: not an algorithm of %s", name, c.collective)
	}
	return nil
}
