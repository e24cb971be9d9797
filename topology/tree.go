package topology

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// ErrTree is the error for an invalid tree. errors.Is finds it.
var ErrTree = errors.New("not a tree of a machine")

// Kind says what a vertex stands for, such as a switch, a node or a core.
type Kind string

// The kinds of vertices, from the outermost to the innermost. A Group was found by measurements inside a
// node, and it is unknown what hardware it is.
const (
	Switch Kind = "switch"
	Node   Kind = "node"
	Group  Kind = "group"
	Socket Kind = "socket"
	NUMA   Kind = "numa"
	Die    Kind = "die"
	Cache  Kind = "cache"
	Core   Kind = "core"
	Thread Kind = "thread"
)

var kinds = []Kind{Switch, Node, Group, Socket, NUMA, Die, Cache, Core, Thread}

// Vertex is a switch, a node or a part of a node. It includes everything below it.
type Vertex struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"` // unique among switches and among nodes; may be empty for a root that is not a real switch

	// Seconds is the round-trip time of an empty message between two members below different children. It
	// is 0 if the time is unknown.
	Seconds float64 `json:"seconds,omitempty"`
	// Confidence says how certain it is that exactly these children belong together, from 0 to 1. It is 1
	// for declared switches, and 0 if no clear group was found.
	Confidence float64 `json:"confidence,omitempty"`

	Children []Vertex `json:"children,omitempty"`
}

// Tree describes the known part of a machine.
type Tree struct {
	Root Vertex
	Gaps []string // sentences about unknown or inconsistent parts
}

// All yields every vertex with its parent, in depth-first order. The parent of the root is nil.
func (t *Tree) All() iter.Seq2[*Vertex, *Vertex] {
	return func(yield func(v, parent *Vertex) bool) { walk(&t.Root, nil, yield) }
}

func walk(v, parent *Vertex, yield func(v, parent *Vertex) bool) bool {
	if !yield(v, parent) {
		return false
	}
	for i := range v.Children {
		if !walk(&v.Children[i], v, yield) {
			return false
		}
	}
	return true
}

// Nodes returns the names of the nodes, in depth-first order.
func (t *Tree) Nodes() []string {
	var out []string
	for v := range t.All() {
		if v.Kind == Node {
			out = append(out, v.Name)
		}
	}
	return out
}

// Switches returns the names of the nodes directly below each switch. It omits switches that have no nodes
// directly below them.
func (t *Tree) Switches() [][]string {
	var out [][]string
	for v := range t.All() {
		if names := v.DirectNodes(); v.Kind == Switch && len(names) > 0 {
			out = append(out, names)
		}
	}
	return out
}

// DirectNodes returns the names of the nodes that are children of v, without those below other switches.
func (v *Vertex) DirectNodes() []string {
	var out []string
	for _, c := range v.Children {
		if c.Kind == Node {
			out = append(out, c.Name)
		}
	}
	return out
}

// Height returns the number of switches on the longest path from v down to a node, without v. It is 0 for a
// switch that has only nodes below it, and -1 for a vertex of another kind.
func (v *Vertex) Height() int {
	if v.Kind != Switch {
		return -1
	}
	return v.nested(Switch)
}

// Check returns an error if the tree is invalid. The error matches ErrTree. Two switches or two nodes must
// not have the same name; see Names. Only switches may be above nodes. Every vertex except the root must have a name,
// and every switch must have children. Kinds must be known, and times and confidences must be in their
// ranges.
func (t *Tree) Check() error {
	seen := map[string]*Vertex{}
	for v, parent := range t.All() {
		if err := v.check(parent); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrTree, v, err)
		}
		if v.Kind != Switch && v.Kind != Node {
			continue
		}
		name := v.String()
		if v.Kind == Node {
			name = Fold(name)
		}
		if first := seen[name]; first != nil {
			as := ""
			if first.Name != v.Name {
				as = ", also as " + first.Name
			}
			return fmt.Errorf("%w: %s is there twice%s", ErrTree, v, as)
		}
		seen[name] = v
	}
	return nil
}

func (v *Vertex) check(parent *Vertex) error {
	switch {
	case v.Kind == "" && v.Name == "" && parent == nil:
		return errors.New("has no switches and no nodes below it")
	case !slices.Contains(kinds, v.Kind):
		return fmt.Errorf("kind %q: want one of %q", v.Kind, kinds)
	case v.Kind == Switch && len(v.Children) == 0:
		return errors.New("has nothing below it")
	case !(v.Seconds >= 0) || math.IsInf(v.Seconds, 0):
		return fmt.Errorf("takes %g seconds: want 0 or more", v.Seconds)
	case !(v.Confidence >= 0 && v.Confidence <= 1):
		return fmt.Errorf("confidence %g: want 0 to 1", v.Confidence)
	case parent != nil:
		return v.checkBelow(parent)
	}
	return nil
}

func (v *Vertex) checkBelow(parent *Vertex) error {
	switch {
	case v.Name == "":
		return errors.New("has no name")
	case v.outer() && parent.Kind != Switch:
		return fmt.Errorf("lies below %s: want a switch", parent)
	case !v.outer() && parent.Kind == Switch:
		return errors.New("lies below a switch: want a node between them")
	}
	return nil
}

func (v *Vertex) outer() bool { return v.Kind == Switch || v.Kind == Node }

// String returns the kind and the name of the vertex.
func (v *Vertex) String() string {
	if v.Name == "" {
		return "the root"
	}
	return string(v.Kind) + " " + v.Name
}
