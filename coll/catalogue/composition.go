package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"tutti/coll"
)

// Parameters of a composition: the algorithm of a part of it.
const (
	Inter = "inter" // among the first processes of the nodes
	Node  = "node"  // within each node
)

// Composition reports whether the entry is a composition of MPICH's ch4 device,
// which decides before any algorithm does.
func (e Entry) Composition() bool { return strings.HasPrefix(e.Leaf, "MPIDI_") }

// IsComposition reports whether the name is one of a composition in any release.
// MPICH calls them by Greek letters, which no algorithm has for a name.
func IsComposition(alg coll.Algorithm) bool {
	return slices.Contains([]string{"alpha", "beta", "gamma", "delta"}, alg.Name)
}

// Flat returns the composition that hands a communicator on as it is, and false
// when the release has none in the table.
func (c *Catalogue) Flat(collective coll.Collective) (Entry, bool) {
	for _, e := range c.entries[collective] {
		if e.Composition() && len(e.Requires) == 0 {
			return e, true
		}
	}
	return Entry{}, false
}

// Part returns the algorithm that a composition is to run for a part, Inter or
// Node, and false when the choice is left to the library.
func (c *Catalogue) Part(collective coll.Collective, alg coll.Algorithm, part string) (Entry, bool) {
	name, ok := alg.Param(part)
	if !ok {
		return Entry{}, false
	}
	i := slices.IndexFunc(c.entries[collective], func(e Entry) bool { return e.Name == name && e.canBePart() })
	if i < 0 {
		return Entry{}, false
	}
	return c.entries[collective][i], true
}

// canBePart: a part knows nothing of nodes, and there is no way to give it
// parameters of its own.
func (e Entry) canBePart() bool {
	return !e.Composition() && len(e.Params) == 0 && !e.Has(Parent) && !e.Has(InPlace)
}

// checkParts reports a part that is no algorithm for a part.
func (c *Catalogue) checkParts(collective coll.Collective, alg coll.Algorithm) error {
	for _, p := range alg.Params() {
		if _, ok := c.Part(collective, alg, p.Name); ok {
			continue
		}
		var names []string
		for _, e := range c.entries[collective] {
			if e.canBePart() {
				names = append(names, e.Name)
			}
		}
		return fmt.Errorf("%s %s %s %s: %s=%s: %w: want one of %s",
			c.Library, c.Version, collective, alg, p.Name, p.Value, ErrUnknown, strings.Join(names, ", "))
	}
	return nil
}

// PartPoint is the point that a part of a composition runs at: one process on each
// node, or one node.
func PartPoint(p coll.Point, part string) coll.Point {
	if part == Inter {
		p.PPN = 1
	} else {
		p.Nodes = 1
	}
	return p
}

// feasibleParts reports a part that cannot run on its part of the communicator.
func (c *Catalogue) feasibleParts(cand coll.Candidate) error {
	for _, part := range []string{Inter, Node} {
		e, ok := c.Part(cand.Collective, cand.Algorithm, part)
		if !ok {
			continue
		}
		for _, r := range e.Requires {
			if !r.Holds(PartPoint(cand.Point, part)) {
				return fmt.Errorf("%v: %w: %s=%s needs %s", cand, ErrInfeasible, part, e.Name, r)
			}
		}
	}
	return nil
}
