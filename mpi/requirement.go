package mpi

import (
	"fmt"
	"maps"
	"slices"

	"tutti/coll"
)

// Requirement is a condition that an algorithm imposes on a call. If a call violates it, the library
// aborts, silently runs another algorithm, or computes wrong results.
type Requirement string

// All requirements.
const (
	PowerOfTwo      Requirement = "pow2"             // communicator size is a power of two
	Even            Requirement = "even"             // communicator size is even
	TwoRanks        Requirement = "size2"            // communicator size is two
	Parent          Requirement = "parent"           // a node holds two ranks or more
	Hierarchical    Requirement = "hierarchical"     // several nodes, each with two ranks or more
	OneNode         Requirement = "one_node"         // several ranks, all on one node
	NodeConsecutive Requirement = "node_consecutive" // ranks are consecutive on the nodes
	CountPowerOfTwo Requirement = "count_ge_pof2"    // count reaches the largest power of two up to the size
	CountSize       Requirement = "count_ge_size"    // count reaches the communicator size
	Commutative     Requirement = "commutative"      // commutative operation
	BuiltinOp       Requirement = "builtin_op"       // predefined operation
	InPlace         Requirement = "inplace"          // MPI_IN_PLACE only
	NotInPlace      Requirement = "not_inplace"      // never MPI_IN_PLACE
	SameTypes       Requirement = "same_types"       // all types of the call have the same layout
)

// requirementTexts has all requirements, each as what an algorithm needs.
var requirementTexts = map[Requirement]string{
	PowerOfTwo:      "a number of ranks that is a power of two",
	Even:            "an even number of ranks",
	TwoRanks:        "two ranks",
	Parent:          "a node with two ranks or more",
	Hierarchical:    "several nodes with two ranks or more each",
	OneNode:         "two ranks or more, all on one node",
	NodeConsecutive: "consecutive ranks on each node",
	CountPowerOfTwo: "as many elements as the largest power of two up to the number of ranks, or more",
	CountSize:       "as many elements as ranks, or more",
	Commutative:     "a commutative operation",
	BuiltinOp:       "a predefined operation",
	InPlace:         "MPI_IN_PLACE",
	NotInPlace:      "a call without MPI_IN_PLACE",
	SameTypes:       "types of the same layout in the whole call",
}

// Text returns the requirement as what an algorithm needs, for example "an even number of ranks".
func (r Requirement) Text() string { return requirementTexts[r] }

func parseRequirement(s string) (Requirement, error) {
	if r := Requirement(s); r.Text() != "" {
		return r, nil
	}
	return "", fmt.Errorf("requirement %q: want one of %v", s, slices.Sorted(maps.Keys(requirementTexts)))
}

// Holds reports whether a benchmark's call at the point meets the requirement. Benchmarks compute sums of a
// predefined type, which commute. They use separate buffers, equal counts and one type. Their ranks are
// consecutive on the nodes.
func (r Requirement) Holds(p coll.Point) bool {
	n := p.Ranks()
	switch r {
	case PowerOfTwo:
		return n == coll.FloorPowerOfTwo(n)
	case Even:
		return n%2 == 0
	case TwoRanks:
		return n == 2
	case Parent:
		return p.PPN >= 2
	case Hierarchical:
		return p.Nodes >= 2 && p.PPN >= 2
	case OneNode:
		return p.Nodes == 1 && p.PPN >= 2
	case CountPowerOfTwo:
		return p.Count() >= int64(coll.FloorPowerOfTwo(n))
	case CountSize:
		return p.Count() >= int64(n)
	case InPlace:
		return false
	}
	return true
}
