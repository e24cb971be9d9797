package discover

import (
	"cmp"
	"math"
	"slices"
)

// Linkage defines the distance between two groups, given the distances between their members.
type Linkage int

// The linkages differ in what counts as the distance between two groups.
const (
	Single   Linkage = iota // distance of the nearest two members
	Complete                // distance of the farthest two members
	Average                 // mean distance of all pairs of members
	Ward                    // increase of the squared distances within groups when both are joined
)

// Dendrogram is the result of hierarchical clustering. It lists the merges of n members in the order of
// their heights.
type Dendrogram struct {
	N      int // number of members
	Merges []Merge
}

// Merge says that groups A and B were joined at the distance Height. Groups 0 to N-1 consist of single
// members. Merge number t creates group N+t.
type Merge struct {
	A, B   int
	Height float64
}

// Agglomerate clusters the members of a matrix. It starts with one group for each member, and joins the two
// nearest groups until one group is left. It takes O(n²) time and memory.
//
// Source: the nearest-neighbour chain, Murtagh, The Computer Journal 26 (1983), with the distances of Lance and
// Williams, The Computer Journal 9 (1967). For Single: the minimum spanning tree, Prim, Bell System Technical
// Journal 36 (1957). Ties are resolved as in scipy.
func Agglomerate(m Matrix, by Linkage) Dendrogram {
	n := m.n
	if by == Single {
		return numberMerges(n, spanningTree(m))
	}
	c := chain{n: n, d: slices.Clone(m.d), size: slices.Repeat([]int{1}, n), active: allMembers(n)}
	var tip []int // the chain: each group is the nearest one of its predecessor
	for len(c.active) > 1 {
		if len(tip) == 0 {
			tip = append(tip, c.active[0])
		}
		last := tip[len(tip)-1]
		previous := -1
		if len(tip) > 1 {
			previous = tip[len(tip)-2]
		}
		next := c.nearest(last, previous)
		if next == previous {
			c.join(max(previous, last), min(previous, last), by)
			tip = tip[:len(tip)-2]
			continue
		}
		tip = append(tip, next)
	}
	return numberMerges(n, c.merges)
}

// spanningTree returns the edges of the minimum spanning tree, built by Prim's algorithm from member 0.
func spanningTree(m Matrix) []Merge {
	n := m.n
	edges := make([]Merge, 0, n-1)
	in := make([]bool, n)
	near := slices.Repeat([]float64{math.Inf(1)}, n)
	last := 0
	for len(edges) < n-1 {
		in[last] = true
		next := -1
		for i, x := range m.Row(last) {
			if in[i] {
				continue
			}
			near[i] = min(near[i], x)
			if next < 0 || near[i] < near[next] {
				next = i
			}
		}
		edges = append(edges, Merge{A: last, B: next, Height: near[next]})
		last = next
	}
	return edges
}

// chain is the state of the nearest-neighbour chain algorithm. In its arrays, each group is at the
// index of one of its members.
type chain struct {
	n      int
	d      []float64
	size   []int
	active []int
	merges []Merge
}

// nearest returns the active group that is nearest to g. If several groups are equally near, it returns the
// group `preferred` if this is one of them.
func (c *chain) nearest(g, preferred int) int {
	row := c.d[g*c.n : (g+1)*c.n]
	best, at := math.Inf(1), -1
	if preferred >= 0 {
		best, at = row[preferred], preferred
	}
	for _, o := range c.active {
		if o != g && row[o] < best {
			best, at = row[o], o
		}
	}
	return at
}

func (c *chain) join(a, b int, by Linkage) {
	n := c.n
	height := c.d[a*n+b]
	c.merges = append(c.merges, Merge{A: a, B: b, Height: height})
	at, _ := slices.BinarySearch(c.active, b)
	c.active = slices.Delete(c.active, at, at+1)
	for _, o := range c.active {
		if o == a {
			continue
		}
		x := c.unionDistance(a, b, o, by)
		c.d[a*n+o], c.d[o*n+a] = x, x
	}
	c.size[a] += c.size[b]
}

func (c *chain) unionDistance(a, b, o int, by Linkage) float64 {
	between, toA, toB := c.d[a*c.n+b], c.d[a*c.n+o], c.d[b*c.n+o]
	na, nb, no := float64(c.size[a]), float64(c.size[b]), float64(c.size[o])
	switch by {
	case Complete:
		return max(toA, toB)
	case Average:
		return (na*toA + nb*toB) / (na + nb)
	default:
		return math.Sqrt(((na+no)*toA*toA + (nb+no)*toB*toB - no*between*between) / (na + nb + no))
	}
}

func numberMerges(n int, merges []Merge) Dendrogram {
	slices.SortStableFunc(merges, func(a, b Merge) int { return cmp.Compare(a.Height, b.Height) })
	group := unionFind(allMembers(n))
	name := allMembers(n)
	for t := range merges {
		a, b := group.find(merges[t].A), group.find(merges[t].B)
		merges[t].A, merges[t].B = name[a], name[b]
		name[group.join(a, b)] = n + t
	}
	return Dendrogram{N: n, Merges: merges}
}

// unionFind has a representative of the set of each member. At first each member is a set of its own; see allMembers.
type unionFind []int

func (s unionFind) find(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

// join merges two sets of members, which are given by their representatives. It returns the representative of the
// union.
func (s unionFind) join(a, b int) int {
	s[b] = a
	return a
}

// Cut undoes the last merges, so that k groups remain, and returns the group of each member; 1 ≤ k ≤ n.
func (d Dendrogram) Cut(k int) Labels {
	return d.divide(func(merge int) bool { return merge >= d.N-k })
}

// divide undoes merges, beginning with the last one, as long as `undone` returns true for them. It returns the
// groups that remain.
func (d Dendrogram) divide(undone func(merge int) bool) Labels {
	raw := make([]int, d.N)
	var label func(group, name int)
	label = func(group, name int) {
		switch merge := group - d.N; {
		case merge < 0:
			raw[group] = name
		case name == group && undone(merge):
			label(d.Merges[merge].A, d.Merges[merge].A)
			label(d.Merges[merge].B, d.Merges[merge].B)
		default:
			label(d.Merges[merge].A, name)
			label(d.Merges[merge].B, name)
		}
	}
	top := d.N + len(d.Merges) - 1
	label(top, top)
	return NewLabels(raw)
}
