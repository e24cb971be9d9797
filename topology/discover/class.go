package discover

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

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

// PairClasses returns a class for each measured pair of nodes, such as n1:n2. If names are given, it returns
// only these classes. The error matches ErrPair if a named pair was not measured.
func PairClasses(pairs []Measurement, names []string) ([]Class, error) {
	var out []Class
	left := slices.Clone(names)
	seen := map[string]bool{}
	for _, p := range pairs {
		name, back := p.A.Host+":"+p.B.Host, p.B.Host+":"+p.A.Host
		if p.Stage != Between || seen[name] || seen[back] || !fitsPlan(name) {
			continue
		}
		seen[name] = true
		if named := len(left); len(names) > 0 {
			if left = slices.DeleteFunc(left, func(s string) bool { return s == name || s == back }); len(left) == named {
				continue
			}
		}
		out = append(out, Class{name, []Measurement{p}})
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("%w: %s: want two measured nodes as n1:n2", ErrPair, left[0])
	}
	return out, nil
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
