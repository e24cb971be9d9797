package discover

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"tutti/metrics"
	"tutti/topology"
)

// Class holds pairs of ranks whose lowest common ancestors have the same height in the tree.
type Class struct {
	Name  string        // switch1 for pairs below different switches, switch0 below one switch, node and group0 inside a node
	Pairs []Measurement // most typical first
}

// mostUsual is the largest number of pairs of ranks that are kept for each class of pairs. One pair would not
// be enough, because a later job may have other nodes.
const mostUsual = 100

// Classes assigns pairs of ranks to classes, by the height of their lowest common ancestor in the tree. It
// returns the classes from the fastest to the slowest. It ignores pairs with a rank that is not in the tree.
func Classes(t *topology.Tree, pairs []Measurement) []Class {
	tree := newRoutes(t)
	by := map[string][]Measurement{}
	for _, p := range pairs {
		a, b := tree.at[place(p.A, p.Stage)], tree.at[place(p.B, p.Stage)]
		if a == nil || b == nil {
			continue
		}
		meet := tree.meeting(a, b)
		if meet != nil && fitsPlan(p.A.Host) && fitsPlan(p.B.Host) {
			by[className(meet)] = append(by[className(meet)], p)
		}
	}
	usual := map[string]float64{}
	var out []Class
	for _, name := range slices.Sorted(maps.Keys(by)) {
		var times []float64
		for _, p := range by[name] {
			times = append(times, p.Small)
		}
		usual[name] = metrics.Quantile(times, 0.5)
		out = append(out, Class{name, nearest(by[name], usual[name])})
	}
	slices.SortStableFunc(out, func(a, b Class) int { return cmp.Compare(usual[a.Name], usual[b.Name]) })
	return out
}

// RankPairs returns a class for each two ranks that occur in measured pairs and run on one node, or on nodes of a
// measured pair. The name of a class has both ranks, such as n1/0:n2/3. If names are given, RankPairs returns only these
// classes; a name without the number of a rank, such as n1:n2, means the first one. Classes that can be measured at the
// same time are together. The error matches ErrPair for a name without such a pair.
func RankPairs(pairs []Measurement, names []string) ([]Class, error) {
	ranks, met := ranksIn(pairs)
	wanted := map[[2]string]bool{}
	for _, name := range names {
		wanted[pairKey(name)] = true
	}
	var out []Class
	for i, b := range ranks {
		for _, a := range ranks[:i] {
			c := Class{a.String() + ":" + b.String(), []Measurement{{A: a, B: b}}}
			key := pairKey(c.Name)
			if (len(names) == 0 || wanted[key]) && (a.Host == b.Host || met[pairKey(a.Host+":"+b.Host)]) && fitsPlan(c.Name) {
				out = append(out, c)
				delete(wanted, key)
			}
		}
	}
	for _, name := range names {
		if wanted[pairKey(name)] {
			return nil, fmt.Errorf("%w: %s: want two measured nodes as n1:n2, or ranks of them as n1/0:n2/3", ErrPair, name)
		}
	}
	return tournament(out), nil
}

// tournament sorts classes of one pair each so that consecutive pairs mostly have no node in common: first pairs inside
// nodes, one of each node at a time, then those of the rounds of a round-robin tournament of the nodes.
func tournament(classes []Class) []Class {
	nodes := map[string]int{}
	for _, c := range classes {
		for _, host := range []string{c.Pairs[0].A.Host, c.Pairs[0].B.Host} {
			if _, known := nodes[host]; !known {
				nodes[host] = len(nodes)
			}
		}
	}
	type turn struct{ round, earlier int } // earlier: pairs of the same nodes that come first
	turns, met := map[string]turn{}, map[[2]int]int{}
	for _, c := range classes {
		a, b := nodes[c.Pairs[0].A.Host], nodes[c.Pairs[0].B.Host]
		a, b = min(a, b), max(a, b)
		turns[c.Name] = turn{roundOf(a, b, len(nodes)), met[[2]int{a, b}]}
		met[[2]int{a, b}]++
	}
	slices.SortStableFunc(classes, func(x, y Class) int {
		return cmp.Or(cmp.Compare(turns[x.Name].round, turns[y.Name].round), cmp.Compare(turns[x.Name].earlier, turns[y.Name].earlier))
	})
	return classes
}

// roundOf returns the round of a round-robin tournament in which players a and b meet, a ≤ b < n. It is -1 for a = b. If
// n is even, the last player keeps its place and the others rotate.
func roundOf(a, b, n int) int {
	last := n + n%2 - 1
	switch {
	case a == b:
		return -1
	case b == last:
		return 2 * a % last
	default:
		return (a + b) % last
	}
}

// ranksIn returns the ranks of measured pairs, by node in the order in which the nodes first occur, and the pairs of nodes.
func ranksIn(pairs []Measurement) (ranks []Endpoint, met map[[2]string]bool) {
	met = map[[2]string]bool{}
	order, seen := map[string]int{}, map[string]bool{}
	for _, p := range pairs {
		for _, rank := range []Endpoint{p.A, p.B} {
			if _, known := order[rank.Host]; !known {
				order[rank.Host] = len(order)
			}
			if name := rank.String(); !seen[name] {
				seen[name] = true
				ranks = append(ranks, rank)
			}
		}
		met[pairKey(p.A.Host+":"+p.B.Host)] = true
	}
	slices.SortFunc(ranks, func(a, b Endpoint) int {
		return cmp.Or(cmp.Compare(order[a.Host], order[b.Host]), cmp.Compare(a.Rank, b.Rank))
	})
	return ranks, met
}

// pairKey returns the two ranks of a name such as n1:n2/3, as n1/0 and n2/3, in alphabetical order.
func pairKey(name string) [2]string {
	a, b, _ := strings.Cut(name, ":")
	for _, end := range []*string{&a, &b} {
		if !strings.Contains(*end, "/") {
			*end += "/0"
		}
	}
	return [2]string{min(a, b), max(a, b)}
}

// nearest returns the pairs whose times are nearest to the given time, without duplicates. It returns at
// most mostUsual pairs.
func nearest(pairs []Measurement, seconds float64) []Measurement {
	off := func(p Measurement) float64 { return math.Abs(math.Log(p.Small / seconds)) }
	sorted := slices.SortedStableFunc(slices.Values(pairs), func(a, b Measurement) int { return cmp.Compare(off(a), off(b)) })
	seen := map[[2]Endpoint]bool{}
	var out []Measurement
	for _, p := range sorted {
		if key := [2]Endpoint{p.A, p.B}; !seen[key] && len(out) < mostUsual {
			seen[key] = true
			out = append(out, p)
		}
	}
	return out
}

// Paths returns, for each rank, the names of the switches, the node and the groups above it, from the root down, without
// its core. A group is named by the names above it, so that groups of different nodes differ. The path of a rank that is
// not in the tree is nil. A rank that has no core in the tree belongs to its node.
func Paths(t *topology.Tree, ranks []Endpoint) [][]string {
	routes, out := newRoutes(t), make([][]string, len(ranks))
	for i, rank := range ranks {
		out[i] = routes.above(rank)
	}
	return out
}

// above returns the path of one rank, see Paths.
func (w routes) above(rank Endpoint) (names []string) {
	v := w.at[place(rank, Inside)]
	if v == nil {
		v = w.at[rank.Host]
	} else {
		v = w.parent[v]
	}
	for ; v != nil; v = w.parent[v] {
		names = append(names, v.Name)
	}
	slices.Reverse(names)
	for i := 1; i < len(names); i++ {
		names[i] = names[i-1] + "/" + names[i]
	}
	return names
}

// place returns the key of a rank in routes.at: its core for pairs inside a node, otherwise its host.
func place(p Endpoint, stage string) string {
	if stage == Inside {
		return p.Host + " " + p.core()
	}
	return p.Host
}

func className(v *topology.Vertex) string {
	switch v.Kind {
	case topology.Switch:
		return fmt.Sprintf("switch%d", v.Height())
	case topology.Node:
		return string(v.Kind)
	}
	return fmt.Sprintf("%s%d", v.Kind, below(v))
}

// below returns the number of vertices with children on the longest path from v down, without v itself.
func below(v *topology.Vertex) int {
	most := 0
	for i := range v.Children {
		if len(v.Children[i].Children) > 0 {
			most = max(most, 1+below(&v.Children[i]))
		}
	}
	return most
}
