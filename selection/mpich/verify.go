package mpich

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/coll/catalogue"
	"tutti/coll/mpichtree"
	"tutti/selection"
)

// Verify reads a file back and replays it. At every row the algorithm reached
// must be the one the trees ask for, or the one that the library's own tree
// reaches where they ask for the default; and no variation of the call (in place,
// another operation, uneven counts, one element, scattered ranks) may reach an
// algorithm that cannot serve it.
func Verify(file []byte, trees []*selection.Tree, rows []selection.Row, lib mpichtree.Library, cat *catalogue.Catalogue) error {
	tree, err := mpichtree.Parse(file)
	if err != nil {
		return fmt.Errorf("mpich: %w", err)
	}
	if err := check(tree, lib); err != nil {
		return err
	}
	for _, r := range rows {
		if err := verifyPoint(tree, trees, r.Point, lib, cat); err != nil {
			return fmt.Errorf("mpich: %v: %w", r.Point, err)
		}
		for _, call := range variations(CallAt(r.Point)) {
			if err := verifyCall(tree, call, cat); err != nil {
				return fmt.Errorf("mpich: %v: call %+v: %w", r.Point, call, err)
			}
		}
	}
	return nil
}

func verifyPoint(tree mpichtree.Object, trees []*selection.Tree, p coll.Point, lib mpichtree.Library, cat *catalogue.Catalogue) error {
	alg := coll.Default
	if i := slices.IndexFunc(trees, func(t *selection.Tree) bool { return t.Collective == p.Collective }); i >= 0 {
		alg, _ = trees[i].Select(p)
	}
	call := CallAt(p)
	var want coll.Algorithm
	if alg.IsDefault() {
		own, err := reach(lib.Tree, call)
		if err != nil {
			return fmt.Errorf("the library's own tree: %w", err)
		}
		want = own
	} else {
		entry, err := cat.Lookup(p.Collective, alg)
		if err != nil {
			return err
		}
		if want, err = coll.NewAlgorithm(entry.Leaf, alg.Params()...); err != nil {
			return err
		}
	}
	got, err := reach(tree, call)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("the file reaches %v: want %v for %v", got, want, alg)
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

// verifyCall checks that the call reaches an algorithm that may serve it.
func verifyCall(tree mpichtree.Object, call Call, cat *catalogue.Catalogue) error {
	got, err := reach(tree, call)
	if err != nil {
		return err
	}
	for _, e := range cat.Entries(call.Collective) {
		if e.Leaf != got.Name {
			continue
		}
		for _, r := range e.Requires {
			if !call.meets(r) {
				return fmt.Errorf("the file reaches %v, which needs %s", got, r)
			}
		}
	}
	return nil
}

// meets reports whether a call meets a requirement.
func (c Call) meets(r catalogue.Requirement) bool {
	switch r {
	case catalogue.PowerOfTwo:
		return c.Processes == catalogue.FloorPowerOfTwo(c.Processes)
	case catalogue.Parent:
		return c.Hierarchy == Parent
	case catalogue.NodeConsecutive:
		return c.NodeConsecutive
	case catalogue.CountPowerOfTwo:
		return c.Count >= int64(catalogue.FloorPowerOfTwo(c.Processes))
	case catalogue.Commutative:
		return c.Commutative || c.Collective == coll.Scan // MPICH's own tree does not ask there
	case catalogue.BuiltinOp:
		return c.BuiltinOp
	case catalogue.BlockRegular:
		return c.BlockRegular
	case catalogue.InPlace:
		return c.InPlace
	case catalogue.NotInPlace:
		return !c.InPlace
	}
	return true
}

// check reports what MPICH would abort on when it loads the tree, or later.
func check(tree mpichtree.Object, lib mpichtree.Library) error {
	for _, m := range lib.Tree {
		if _, ok := tree.Get(m.Key); !ok {
			return fmt.Errorf("mpich: %s is missing: MPICH aborts when it is called", m.Key)
		}
	}
	for _, m := range tree {
		name, ok := strings.CutPrefix(m.Key, mpichtree.CollectiveKey)
		if !ok {
			return fmt.Errorf("mpich: %s: want %s at the top of the tree", m.Key, mpichtree.CollectiveKey)
		}
		if err := checkBranch(m.Value, name, lib); err != nil {
			return fmt.Errorf("mpich: %s: %w", m.Key, err)
		}
	}
	return nil
}

func checkBranch(o mpichtree.Object, collective string, lib mpichtree.Library) error {
	if len(o) == 0 {
		return fmt.Errorf("a branch ends without %s", mpichtree.LeafKey)
	}
	if name, ok := strings.CutPrefix(o[0].Key, mpichtree.LeafKey); ok {
		return checkLeaf(o, name, collective, lib)
	}
	for i, m := range o {
		c, err := parseCondition(m.Key)
		if err != nil {
			return err
		}
		last := i == len(o)-1
		switch {
		case !c.known(lib):
			return fmt.Errorf("%s: %s has no such condition", m.Key, lib.Source)
		case c.value == "any" && !last:
			return fmt.Errorf("%s: want it as the last alternative", m.Key)
		case c.ranged() && last:
			return fmt.Errorf("%s: want another alternative after it", m.Key)
		}
		if err := checkBranch(m.Value, collective, lib); err != nil {
			return fmt.Errorf("%s: %w", m.Key, err)
		}
	}
	return nil
}

var leafOf = regexp.MustCompile(`^MPIR_([A-Za-z_]+?)_(intra|inter|allcomm)_`)

func checkLeaf(o mpichtree.Object, name, collective string, lib mpichtree.Library) error {
	parts := leafOf.FindStringSubmatch(name)
	switch {
	case len(o) > 1:
		return fmt.Errorf("%s: %s beside a leaf: want nothing", name, o[1].Key)
	case !slices.Contains(lib.Leaves, name):
		return fmt.Errorf("%s: %s has no such algorithm", name, lib.Source)
	case parts == nil || strings.ToLower(parts[1]) != collective:
		return fmt.Errorf("%s: not an algorithm of %s", name, collective)
	}
	return nil
}
