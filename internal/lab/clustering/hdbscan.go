package clustering

import (
	"fmt"
	"math"
	"slices"

	"tutti/metrics"
	"tutti/topology/cluster"
)

// Selection is how HDBSCAN takes groups from its hierarchy.
type Selection int

// The selections.
const (
	Mass   Selection = iota // those that last longest, by excess of mass
	Leaves                  // the finest
)

// HDBSCAN divides the members by density at every scale at once. size is the least
// size of a group and, itself included, the number of neighbours that the density at a
// member is taken over. All members are one group never. O(n²).
//
// It returns an error matching ErrMatrix when a pair is missing, and another when size
// is not in 2 to n.
//
// Source: Campello, Moulavi and Sander, PAKDD 2013.
func HDBSCAN(m cluster.Matrix, size int, by Selection) (cluster.Labels, error) {
	if err := m.CheckComplete(); err != nil {
		return nil, err
	}
	if size < 2 || size > m.Len() {
		return nil, fmt.Errorf("groups of %d members: want 2 to %d", size, m.Len())
	}
	c := condenser{tree: cluster.Agglomerate(m.Len(), reachability(m, size), cluster.Single), size: size}
	c.condense(c.tree.N+len(c.tree.Merges)-1, 0)
	c.choose(by)
	raw := make([]int, m.Len())
	for i := range raw {
		raw[i] = cluster.Noise
	}
	c.label(0, cluster.Noise, raw)
	return cluster.NewLabels(raw), nil
}

// reachability returns the mutual reachability distances: of two members the greatest
// of their distance and how far each has its size-th neighbour, itself counted.
func reachability(m cluster.Matrix, size int) []float64 {
	reach := make([]float64, m.Len())
	for i := range reach {
		reach[i] = metrics.KthSmallest(slices.Clone(m.Row(i)), size-1)
	}
	d := values(m)
	for i := range m.Len() {
		for j := range m.Len() {
			if i != j {
				d[i*m.Len()+j] = max(d[i*m.Len()+j], reach[i], reach[j])
			}
		}
	}
	return d
}

// condenser makes the hierarchy of groups that do not fall below a size.
type condenser struct {
	tree cluster.Dendrogram
	size int
	all  []condensed
}

// condensed is a group of the hierarchy. Density is one over distance.
type condensed struct {
	born      float64 // density at which it split off
	stability float64 // members times the density that each lasted beyond that
	children  []int
	fallen    []int // members that left it for no other group
	chosen    bool
}

// members returns those that a group of the dendrogram holds.
func (c *condenser) members(group int) []int {
	var out []int
	for stack := []int{group}; len(stack) > 0; {
		g := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if g < c.tree.N {
			out = append(out, g)
		} else {
			m := c.tree.Merges[g-c.tree.N]
			stack = append(stack, m.B, m.A)
		}
	}
	return out
}

// condense follows a group of the dendrogram down until it splits in two large ones or
// is gone.
func (c *condenser) condense(group int, born float64) int {
	at := len(c.all)
	c.all = append(c.all, condensed{born: born})
	for group >= c.tree.N {
		m := c.tree.Merges[group-c.tree.N]
		density := math.Inf(1)
		if m.Height > 0 {
			density = 1 / m.Height
		}
		a, b := c.members(m.A), c.members(m.B)
		switch lasted := density - born; {
		case len(a) >= c.size && len(b) >= c.size:
			c.all[at].stability += float64(len(a)+len(b)) * lasted
			left, right := c.condense(m.A, density), c.condense(m.B, density)
			c.all[at].children = []int{left, right}
			return at
		case len(a) < c.size && len(b) < c.size:
			c.fall(at, a, lasted)
			c.fall(at, b, lasted)
			return at
		case len(a) < c.size:
			c.fall(at, a, lasted)
			group = m.B
		default:
			c.fall(at, b, lasted)
			group = m.A
		}
	}
	c.all[at].fallen = append(c.all[at].fallen, group)
	return at
}

func (c *condenser) fall(at int, members []int, lasted float64) {
	g := &c.all[at]
	g.stability += float64(len(members)) * lasted
	g.fallen = append(g.fallen, members...)
}

// choose marks groups so that each member is in one chosen group at most, in the
// outermost one that is chosen. Children come behind their parents.
func (c *condenser) choose(by Selection) {
	for at := len(c.all) - 1; at > 0; at-- {
		g := &c.all[at]
		if len(g.children) == 0 {
			g.chosen = true
			continue
		}
		below := 0.0
		for _, child := range g.children {
			below += c.all[child].stability
		}
		if by == Leaves {
			continue
		}
		if below > g.stability {
			g.stability = below
		} else {
			g.chosen = true
		}
	}
}

// label gives the members of a group its number, or that of a chosen group around it.
func (c *condenser) label(at, around int, raw []int) {
	g := c.all[at]
	if around == cluster.Noise && g.chosen {
		around = at
	}
	for _, i := range g.fallen {
		raw[i] = around
	}
	for _, child := range g.children {
		c.label(child, around, raw)
	}
}
