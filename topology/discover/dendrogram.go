package discover

import (
	"cmp"
	"math"
	"slices"
)

// Linkage is how far apart two groups are, given the distances of their members.
type Linkage int

// The linkages.
const (
	Single   Linkage = iota // the nearest two members
	Complete                // the farthest two
	Average                 // the mean of all pairs
	Ward                    // by how much joining them raises the squared distances within groups
)

// Dendrogram is the order in which groups of n members were joined, the nearest first.
type Dendrogram struct {
	N      int // members
	Merges []Merge
}

// Merge joins groups A and B at distance Height. Members are groups 0 to N-1, and merge t
// makes group N+t.
type Merge struct {
	A, B   int
	Height float64
}

// Agglomerate joins the two nearest of n groups until one is left, starting with one
// group for each member. d holds the distances between members, n·n, and is overwritten.
// O(n²) time and memory.
//
// Source: the chain of nearest neighbours, Murtagh, The Computer Journal 26 (1983), with
// the distances of Lance and Williams, The Computer Journal 9 (1967); the shortest tree,
// Prim, Bell System Technical Journal 36 (1957), for Single. Ties fall as in scipy.
func Agglomerate(n int, d []float64, by Linkage) Dendrogram {
	if by == Single {
		return named(n, shortest(n, d))
	}
	c := chain{n: n, d: d, size: make([]int, n), active: make([]int, n)}
	for i := range n {
		c.size[i], c.active[i] = 1, i
	}
	var tip []int // each but the first is the nearest to the one before
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
	return named(n, c.merges)
}

// shortest returns the shortest tree, grown from member 0. The members that distances up
// to some height join come in one after another, so an edge may stand between a member
// and the one before it.
func shortest(n int, d []float64) []Merge {
	edges := make([]Merge, 0, n-1)
	in := make([]bool, n)
	near := make([]float64, n)
	for i := range near {
		near[i] = math.Inf(1)
	}
	last := 0
	for len(edges) < n-1 {
		in[last] = true
		next := -1
		for i, x := range d[last*n : (last+1)*n] {
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

// chain joins groups, each known by one of its members.
type chain struct {
	n      int
	d      []float64
	size   []int
	active []int
	merges []Merge
}

// nearest returns the active group nearest to g, and the preferred one among equals.
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

// join puts b into a.
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
		x := c.together(a, b, o, by)
		c.d[a*n+o], c.d[o*n+a] = x, x
	}
	c.size[a] += c.size[b]
}

// together returns how far the union of groups a and b is from group o.
func (c *chain) together(a, b, o int, by Linkage) float64 {
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

// named sorts merges by height and names groups by the merges that made them.
func named(n int, merges []Merge) Dendrogram {
	slices.SortStableFunc(merges, func(a, b Merge) int { return cmp.Compare(a.Height, b.Height) })
	group := newSets(n)
	name := make([]int, n)
	for i := range name {
		name[i] = i
	}
	for t := range merges {
		a, b := group.find(merges[t].A), group.find(merges[t].B)
		merges[t].A, merges[t].B = name[a], name[b]
		name[group.join(a, b)] = n + t
	}
	return Dendrogram{N: n, Merges: merges}
}

// sets is a partition that groups are joined in.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func (s sets) find(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

// join makes one of two sets and returns what it is known by.
func (s sets) join(a, b int) int {
	s[b] = a
	return a
}

// Cut returns the division into k groups, 1 ≤ k ≤ n.
func (d Dendrogram) Cut(k int) Labels {
	group := newSets(d.N)
	first := make([]int, d.N, 2*d.N)
	for i := range first {
		first[i] = i
	}
	for t, m := range d.Merges {
		if t < d.N-k {
			group.join(group.find(first[m.A]), group.find(first[m.B]))
		}
		first = append(first, first[m.A])
	}
	raw := make([]int, d.N)
	for i := range raw {
		raw[i] = group.find(i)
	}
	return NewLabels(raw)
}
