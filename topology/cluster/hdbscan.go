package cluster

import (
	"fmt"
	"math"
	"slices"

	"tutti/internal/robust"
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
func HDBSCAN(m Matrix, size int, by Selection) (Labels, error) {
	if err := m.complete(); err != nil {
		return nil, err
	}
	if size < 2 || size > m.n {
		return nil, fmt.Errorf("groups of %d members: want 2 to %d", size, m.n)
	}
	c := condenser{tree: agglomerate(m.n, reachability(m, size), Single), size: size}
	c.condense(c.tree.n+len(c.tree.merges)-1, 0)
	c.choose(by)
	raw := make([]int, m.n)
	for i := range raw {
		raw[i] = Noise
	}
	c.label(0, Noise, raw)
	return numbered(raw), nil
}

// reachability returns the mutual reachability distances: of two members the greatest
// of their distance and how far each has its size-th neighbour, itself counted.
func reachability(m Matrix, size int) []float64 {
	reach := make([]float64, m.n)
	for i := range reach {
		reach[i] = robust.Kth(slices.Clone(m.row(i)), size-1)
	}
	d := slices.Clone(m.d)
	for i := range m.n {
		for j := range m.n {
			if i != j {
				d[i*m.n+j] = max(d[i*m.n+j], reach[i], reach[j])
			}
		}
	}
	return d
}

// condenser makes the hierarchy of groups that do not fall below a size.
type condenser struct {
	tree Dendrogram
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
func (d Dendrogram) members(group int) []int {
	var out []int
	for stack := []int{group}; len(stack) > 0; {
		g := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if g < d.n {
			out = append(out, g)
		} else {
			m := d.merges[g-d.n]
			stack = append(stack, m.b, m.a)
		}
	}
	return out
}

// condense follows a group of the dendrogram down until it splits in two large ones or
// is gone.
func (c *condenser) condense(group int, born float64) int {
	at := len(c.all)
	c.all = append(c.all, condensed{born: born})
	for group >= c.tree.n {
		m := c.tree.merges[group-c.tree.n]
		density := math.Inf(1)
		if m.height > 0 {
			density = 1 / m.height
		}
		a, b := c.tree.members(m.a), c.tree.members(m.b)
		switch lasted := density - born; {
		case len(a) >= c.size && len(b) >= c.size:
			c.all[at].stability += float64(len(a)+len(b)) * lasted
			left, right := c.condense(m.a, density), c.condense(m.b, density)
			c.all[at].children = []int{left, right}
			return at
		case len(a) < c.size && len(b) < c.size:
			c.fall(at, a, lasted)
			c.fall(at, b, lasted)
			return at
		case len(a) < c.size:
			c.fall(at, a, lasted)
			group = m.b
		default:
			c.fall(at, b, lasted)
			group = m.a
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
	if around == Noise && g.chosen {
		around = at
	}
	for _, i := range g.fallen {
		raw[i] = around
	}
	for _, child := range g.children {
		c.label(child, around, raw)
	}
}
