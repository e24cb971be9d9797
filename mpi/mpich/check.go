package mpich

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

func (f files) check(lib libraryTree) error {
	if err := check(f.flat, lib.Tree, lib); err != nil || len(f.device) == 0 {
		return err
	}
	return check(f.device, lib.Device, lib)
}

// check returns an error for a tree with which MPICH would abort. The parameter `own` is the library's tree
// that the new tree replaces.
func check(tree, own treeObject, lib libraryTree) error {
	for _, m := range own {
		if _, ok := tree.Get(m.Key); !ok {
			return fmt.Errorf("mpich: %s is missing: MPICH aborts when it is called", m.Key)
		}
	}
	kind, names := leafKey, lib.Leaves
	if strings.HasPrefix(anyLeaf(own), compositionKey) {
		kind, names = compositionKey, lib.Compositions
	}
	for _, m := range tree {
		name, ok := strings.CutPrefix(m.Key, collectiveKey)
		if !ok {
			return fmt.Errorf("mpich: %s: want %s at the top of the tree", m.Key, collectiveKey)
		}
		c := checker{lib, kind, names, name}
		if err := c.branch(m.Value); err != nil {
			return fmt.Errorf("mpich: %s: %w", m.Key, err)
		}
	}
	return nil
}

func anyLeaf(o treeObject) string {
	for len(o) > 0 && !isLeaf(o[0].Key) {
		o = o[0].Value
	}
	if len(o) == 0 {
		return ""
	}
	return o[0].Key
}

type checker struct {
	lib        libraryTree
	kind       string   // what leaves begin with
	names      []string // of leaves
	collective string
}

func (c checker) branch(o treeObject) error {
	if len(o) == 0 {
		return fmt.Errorf("a branch ends without %s", c.kind)
	}
	if isLeaf(o[0].Key) {
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

func (c checker) leaf(o treeObject) error {
	name, ok := strings.CutPrefix(o[0].Key, c.kind)
	parts := leafOf.FindStringSubmatch(name)
	switch {
	case !ok:
		return fmt.Errorf("%s: want %s here", o[0].Key, c.kind)
	case len(o) > 1:
		return fmt.Errorf("%s: %s next to a leaf: want nothing", name, o[1].Key)
	case !slices.Contains(c.names, name):
		return fmt.Errorf("%s: %s has no such algorithm", name, c.lib.Source)
	case parts == nil || strings.ToLower(parts[1]+parts[2]) != c.collective:
		return fmt.Errorf("%s: not an algorithm of %s", name, c.collective)
	}
	return nil
}
