package mpich

import (
	"fmt"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// The parameters of a composition (a plan of the ch4 device). Each value names the algorithm that runs in
// one part of the composition.
const (
	interPart = "inter" // among the first ranks of the nodes
	nodePart  = "node"  // within each node
)

// composes reports whether the entry is a composition, that is, a plan of the ch4 device. The device selects
// a composition before MPICH evaluates the tree of algorithms.
func composes(e mpi.Entry) bool { return strings.HasPrefix(e.Function, "MPIDI_") }

// handsOn returns the composition (plan of the ch4 device) that runs a single algorithm on the whole
// communicator. It returns false if the catalogue of the release has no such composition.
func handsOn(cat *mpi.Catalogue, c coll.Collective) (mpi.Entry, bool) {
	for _, e := range cat.Entries(c) {
		if composes(e) && len(e.Requires) == 0 {
			return e, true
		}
	}
	return mpi.Entry{}, false
}

// partOf returns the algorithm that a composition (plan of the ch4 device) runs in one of its parts,
// interPart or nodePart. It returns false if the library selects the algorithm of this part.
func partOf(cat *mpi.Catalogue, c coll.Collective, alg coll.Algorithm, part string) (mpi.Entry, bool) {
	name, ok := alg.Param(part)
	if !ok {
		return mpi.Entry{}, false
	}
	entries := cat.Entries(c)
	i := slices.IndexFunc(entries, func(e mpi.Entry) bool { return e.Name == name && canBePart(e) })
	if i < 0 {
		return mpi.Entry{}, false
	}
	return entries[i], true
}

// canBePart reports whether an algorithm can run in one part of a composition (plan of the ch4 device). The
// algorithm must not depend on nodes. It must have no parameters, because a file cannot set them for a part.
func canBePart(e mpi.Entry) bool {
	return !composes(e) && len(e.Params) == 0 && !e.Has(mpi.Parent) && !e.Has(mpi.InPlace)
}

func partNames(cat *mpi.Catalogue, c coll.Collective) []string {
	var names []string
	for _, e := range cat.Entries(c) {
		if canBePart(e) {
			names = append(names, e.Name)
		}
	}
	return names
}

// checkParts returns an error if an algorithm of the parameters cannot run in a part of a composition (a plan
// of the ch4 device).
func checkParts(cat *mpi.Catalogue, c coll.Collective, alg coll.Algorithm) error {
	for _, p := range alg.Params() {
		if _, ok := partOf(cat, c, alg, p.Name); !ok {
			return fmt.Errorf("%s %s %s %s: %s=%s: %w: want one of %s",
				cat.Library, cat.Version, c, alg, p.Name, p.Value, mpi.ErrUnknown, strings.Join(partNames(cat, c), ", "))
		}
	}
	return nil
}

// partPoint returns the point at which a part of a composition (plan of the ch4 device) runs. The part
// interPart has one rank on each node. The part nodePart has one node.
func partPoint(p coll.Point, part string) coll.Point {
	if part == interPart {
		p.PPN = 1
	} else {
		p.Nodes = 1
	}
	return p
}

// feasibleParts returns an error if the algorithm of a part (between nodes or within a node) cannot run on
// the communicator of this part.
func feasibleParts(cat *mpi.Catalogue, cand coll.Candidate) error {
	for _, part := range []string{interPart, nodePart} {
		e, ok := partOf(cat, cand.Collective, cand.Algorithm, part)
		if !ok {
			continue
		}
		for _, r := range e.Requires {
			if !r.Holds(partPoint(cand.Point, part)) {
				return fmt.Errorf("%v: %w: %s=%s needs %s", cand, mpi.ErrInfeasible, part, e.Name, r)
			}
		}
	}
	return nil
}
