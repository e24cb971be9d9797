package schedule

import (
	"errors"
	"fmt"

	"tutti/topology"
)

// ErrPlacement is matched by errors about ranks that are nowhere in the tree.
var ErrPlacement = errors.New("ranks are not placed in the tree")

// place is a switch or node with the ranks on it and what lies below it.
type place struct {
	ranks []int // of a node, ascending
	below []*place
}

// placed puts ranks, given the node of each, into the switches and nodes of a tree.
func placed(t *topology.Tree, nodes []string) (*place, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("%w: no ranks", ErrPlacement)
	}
	on := map[string][]int{}
	for rank, node := range nodes {
		on[node] = append(on[node], rank)
	}
	root := place{}
	root.fill(&t.Root, on)
	for rank, node := range nodes {
		if on[node] != nil {
			return nil, fmt.Errorf("%w: rank %d: no node %q", ErrPlacement, rank, node)
		}
	}
	return &root, nil
}

// fill takes the ranks of the nodes in v and below it.
func (p *place) fill(v *topology.Vertex, on map[string][]int) {
	if v.Kind == topology.Node {
		p.ranks = on[v.Name]
		delete(on, v.Name)
		return
	}
	for i := range v.Children {
		child := &place{}
		child.fill(&v.Children[i], on)
		p.below = append(p.below, child)
	}
}

// depthFirst returns the ranks in the order of a walk through the tree.
func (p *place) depthFirst() []int {
	out := append([]int(nil), p.ranks...)
	for _, child := range p.below {
		out = append(out, child.depthFirst()...)
	}
	return out
}
