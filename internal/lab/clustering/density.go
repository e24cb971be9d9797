package clustering

import (
	"math"
	"slices"

	"tutti/topology/discover"
)

// DBSCAN divides the members by density. A core is a member with at least `minPoints` members, itself included,
// within `eps` seconds. Cores that are within `eps` of each other, directly or through other cores, form a group.
// Members within `eps` of these cores also belong to it. All other members are noise. A member near cores of two
// groups belongs to the first group. If minPoints is 1, the groups are the connected components of the graph of near
// members. It takes O(n²) time.
//
// Source: Ester, Kriegel, Sander and Xu, KDD 1996.
func DBSCAN(m discover.Matrix, eps float64, minPoints int) discover.Labels {
	near := make([][]int, m.Len())
	for i := range near {
		for j, x := range m.Row(i) {
			if x <= eps {
				near[i] = append(near[i], j)
			}
		}
	}
	raw := slices.Repeat([]int{discover.NoGroup}, m.Len())
	for i := range raw {
		if raw[i] != discover.NoGroup || len(near[i]) < minPoints {
			continue
		}
		raw[i] = i
		for reach := []int{i}; len(reach) > 0; reach = reach[1:] {
			for _, j := range near[reach[0]] {
				if raw[j] != discover.NoGroup {
					continue
				}
				raw[j] = i
				if len(near[j]) >= minPoints {
					reach = append(reach, j)
				}
			}
		}
	}
	return discover.NewLabels(raw)
}

// Selection says how HDBSCAN selects groups from its hierarchy.
type Selection int

// The selections.
const (
	Mass   Selection = iota // the most stable groups, by excess of mass
	Leaves                  // the finest groups
)

// HDBSCAN divides the members by density on all scales. `size`, from 2 to n, is the smallest size
// of a group. It is also the number of neighbours, the member itself included, that determine the density at a
// member. The result never has all members in one group. It takes O(n²) time.
//
// Source: Campello, Moulavi and Sander, PAKDD 2013.
func HDBSCAN(m discover.Matrix, size int, by Selection) discover.Labels {
	c := condenser{tree: discover.Agglomerate(reachability(m, size), discover.Single), size: size}
	c.condense(c.tree.N+len(c.tree.Merges)-1, 0)
	c.choose(by)
	raw := slices.Repeat([]int{discover.NoGroup}, m.Len())
	c.label(0, discover.NoGroup, raw)
	return discover.NewLabels(raw)
}

// reachability returns the mutual reachability distance of each pair. It is the maximum of three distances: the
// distance of the two members, and the distance of each of them to its neighbour number `size`. A member is its own
// neighbour number 1.
func reachability(m discover.Matrix, size int) discover.Matrix {
	reach := make([]float64, m.Len())
	for i := range reach {
		reach[i] = slices.Sorted(slices.Values(m.Row(i)))[size-1]
	}
	out, err := discover.NewMatrix(triangle(m.Len(), func(i, j int) float64 { return max(m.At(i, j), reach[i], reach[j]) }))
	if err != nil {
		panic("clustering: " + err.Error()) // the distances of m are complete and above zero
	}
	return out
}

// condenser builds the hierarchy of groups that have at least a given size.
type condenser struct {
	tree discover.Dendrogram
	size int
	all  []condensed
}

// condensed is a group of the hierarchy. A density is the reciprocal of a distance.
type condensed struct {
	minDensity float64 // density at which it split off
	stability  float64 // sum over the members of the density at which each left, minus minDensity
	children   []int
	direct     []int // members that are in no child
	chosen     bool
}

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

// condense adds a group of the dendrogram to the hierarchy and returns its index there. The group split off at the
// density `minDensity`. The function descends the dendrogram until the group splits into two groups that are large
// enough, or becomes too small.
func (c *condenser) condense(group int, minDensity float64) int {
	at := len(c.all)
	c.all = append(c.all, condensed{minDensity: minDensity})
	for group >= c.tree.N {
		m := c.tree.Merges[group-c.tree.N]
		density := math.Inf(1)
		if m.Height > 0 {
			density = 1 / m.Height
		}
		a, b := c.members(m.A), c.members(m.B)
		switch lifetime := density - minDensity; {
		case len(a) >= c.size && len(b) >= c.size:
			c.all[at].stability += float64(len(a)+len(b)) * lifetime
			left, right := c.condense(m.A, density), c.condense(m.B, density)
			c.all[at].children = []int{left, right}
			return at
		case len(a) < c.size && len(b) < c.size:
			c.drop(at, a, lifetime)
			c.drop(at, b, lifetime)
			return at
		case len(a) < c.size:
			c.drop(at, a, lifetime)
			group = m.B
		default:
			c.drop(at, b, lifetime)
			group = m.A
		}
	}
	c.all[at].direct = append(c.all[at].direct, group)
	return at
}

// drop records members that leave group number `at` of the hierarchy and are too few to form another group.
func (c *condenser) drop(at int, members []int, lifetime float64) {
	g := &c.all[at]
	g.stability += float64(len(members)) * lifetime
	g.direct = append(g.direct, members...)
}

// choose marks the most stable groups or the finest groups, as `by` says. A marked group inside another marked
// group has no effect. The loop runs backwards, because children have higher indices than their parents.
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

// label sets the labels of the members of group number `at` of the hierarchy. Each member gets the outermost chosen
// group that contains it. `label` is the chosen group that contains group `at`, or discover.NoGroup.
func (c *condenser) label(at, label int, raw []int) {
	g := c.all[at]
	if label == discover.NoGroup && g.chosen {
		label = at
	}
	for _, i := range g.direct {
		raw[i] = label
	}
	for _, child := range g.children {
		c.label(child, label, raw)
	}
}
