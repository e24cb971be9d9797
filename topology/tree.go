package topology

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// ErrTree is matched by errors about trees that no machine can have.
var ErrTree = errors.New("not a tree of a machine")

// Kind says what a vertex of a tree is.
type Kind string

// The kinds, from the outside in. A Group was found by measuring inside a node;
// what it is in the hardware is not known.
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

// Vertex is one place of a machine with all that lies below it.
type Vertex struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"` // no two switches and no two nodes share one; empty for a root that is no real switch

	// Seconds is what a round trip of an empty message takes between members of two
	// different children; 0 when that is not known.
	Seconds float64 `json:"seconds,omitempty"`
	// Confidence, from 0 to 1, says how sure it is that these children and no others
	// belong together: 1 where a file declares it, 0 where nothing clear was found.
	Confidence float64 `json:"confidence,omitempty"`

	Children []Vertex `json:"children,omitempty"`
}

// Tree is a machine, or the part of it that is known.
type Tree struct {
	Root Vertex
	Gaps []string // what the tree does not say, in words
}

// All yields every vertex with its parent, which is nil for the root: a vertex
// before its children, children in their order.
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

// Nodes returns the names of the nodes, depth first.
func (t *Tree) Nodes() []string {
	var out []string
	for v := range t.All() {
		if v.Kind == Node {
			out = append(out, v.Name)
		}
	}
	return out
}

// Switches returns, for every switch with nodes directly below it, their names.
func (t *Tree) Switches() [][]string {
	var out [][]string
	for v := range t.All() {
		if names := v.nodes(); v.Kind == Switch && len(names) > 0 {
			out = append(out, names)
		}
	}
	return out
}

// nodes returns the names of the nodes directly below.
func (v *Vertex) nodes() []string {
	var out []string
	for _, c := range v.Children {
		if c.Kind == Node {
			out = append(out, c.Name)
		}
	}
	return out
}

// Height returns how many switches lie between v and the nodes below it on the
// longest way down: 0 for a switch with nodes only, -1 for anything but a switch.
func (v *Vertex) Height() int {
	if v.Kind != Switch {
		return -1
	}
	height := 0
	for i := range v.Children {
		height = max(height, 1+v.Children[i].Height())
	}
	return height
}

// Check returns an error matching ErrTree when two switches or two nodes share a name,
// a switch lies below a node, a switch or node has no name or a switch nothing below
// it, a kind is unknown, or a number is out of its range. A root without a name joins what no
// switch joins.
func (t *Tree) Check() error {
	seen := map[string]bool{}
	for v, parent := range t.All() {
		if err := v.check(parent); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrTree, v, err)
		}
		if v.Kind != Switch && v.Kind != Node {
			continue
		}
		if seen[v.String()] {
			return fmt.Errorf("%w: %s is there twice", ErrTree, v)
		}
		seen[v.String()] = true
	}
	return nil
}

func (v *Vertex) check(parent *Vertex) error {
	switch {
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

// checkBelow checks the place of a vertex that is not the root.
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

// outer reports whether v lies outside of nodes.
func (v *Vertex) outer() bool { return v.Kind == Switch || v.Kind == Node }

// String returns the kind and the name.
func (v *Vertex) String() string {
	if v.Name == "" {
		return "the root"
	}
	return string(v.Kind) + " " + v.Name
}
