package suspect

import (
	"errors"
	"fmt"
	"math"

	"tutti/topology"
)

// ErrPair is matched by errors about pairs that nobody can have measured.
var ErrPair = errors.New("not a measured pair")

// Pair is one measurement of two nodes.
type Pair struct {
	A, B    string
	Seconds float64 // of the same message for all pairs
}

// Check returns an error matching ErrPair for a node with itself and a time that is not
// above 0 and finite.
func (p Pair) Check() error {
	switch {
	case p.A == p.B:
		return fmt.Errorf("%w: node %s with itself", ErrPair, p.A)
	case !(p.Seconds > 0) || math.IsInf(p.Seconds, 0):
		return fmt.Errorf("%w: nodes %s and %s: %g seconds: want a time above 0", ErrPair, p.A, p.B, p.Seconds)
	}
	return nil
}

// Place is a node, or the link from a switch up to its parent.
type Place struct {
	Kind topology.Kind `json:"kind"` // Node or Switch
	Name string        `json:"name"`
}

// String returns node n1 or link of switch leaf1.
func (p Place) String() string {
	if p.Kind == topology.Switch {
		return fmt.Sprintf("link of %s %s", p.Kind, p.Name)
	}
	return fmt.Sprintf("%s %s", p.Kind, p.Name)
}

// way is what the message of a pair passes.
type way struct {
	places []Place // the two nodes first
	height int     // of the switch where they meet
}

// ways finds what messages pass in a tree.
type ways struct {
	nodes  map[string]*topology.Vertex
	parent map[*topology.Vertex]*topology.Vertex
}

func newWays(t *topology.Tree) ways {
	w := ways{nodes: map[string]*topology.Vertex{}, parent: map[*topology.Vertex]*topology.Vertex{}}
	for v, parent := range t.All() {
		w.parent[v] = parent
		if v.Kind == topology.Node {
			w.nodes[v.Name] = v
		}
	}
	return w
}

// of checks a pair and returns its way.
func (w ways) of(p Pair) (way, error) {
	a, b := w.nodes[p.A], w.nodes[p.B]
	switch {
	case a == nil:
		return way{}, fmt.Errorf("%w: no node %q in the tree", ErrPair, p.A)
	case b == nil:
		return way{}, fmt.Errorf("%w: no node %q in the tree", ErrPair, p.B)
	}
	if err := p.Check(); err != nil {
		return way{}, err
	}
	above := map[*topology.Vertex]bool{}
	for v := w.parent[a]; v != nil; v = w.parent[v] {
		above[v] = true
	}
	out := way{places: []Place{placeOf(a), placeOf(b)}}
	meet := w.parent[b]
	for ; !above[meet]; meet = w.parent[meet] {
		out.places = append(out.places, placeOf(meet))
	}
	for v := w.parent[a]; v != meet; v = w.parent[v] {
		out.places = append(out.places, placeOf(v))
	}
	out.height = meet.Height()
	return out, nil
}

func placeOf(v *topology.Vertex) Place { return Place{Kind: v.Kind, Name: v.Name} }
