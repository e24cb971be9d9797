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

// Class is the pairs of ranks that meet at one height of a tree.
type Class struct {
	Name  string        // switch1 where two switches meet, switch0 for nodes of one, node and group0 inside
	Pairs []Measurement // the most usual first
}

// mostUsual is how many pairs of a class are kept: any of them is an example of it, and a
// later job has some of their nodes.
const mostUsual = 100

// Classes deals pairs to classes, the nearest ranks first. Pairs of ranks that are not in
// the tree are left out.
func Classes(t *topology.Tree, pairs []Measurement) []Class {
	way := wayUp(t)
	by := map[string][]Measurement{}
	for _, p := range pairs {
		meet := meeting(way[at(p.A, p.Stage)], way[at(p.B, p.Stage)])
		if meet != nil && plain(p.A.Host) && plain(p.B.Host) {
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

// nearest returns the pairs that are nearest to a time, each once.
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

// at is the key of a rank's place in a tree.
func at(p Endpoint, stage string) string {
	if stage == Inside {
		return p.Host + " " + p.core()
	}
	return p.Host
}

// wayUp returns, for each node and each place inside one, what lies above it, the
// outermost first.
func wayUp(t *topology.Tree) map[string][]*topology.Vertex {
	above := map[*topology.Vertex][]*topology.Vertex{}
	host := map[*topology.Vertex]string{}
	out := map[string][]*topology.Vertex{}
	for v, parent := range t.All() {
		if parent != nil {
			above[v] = append(slices.Clone(above[parent]), parent)
			host[v] = host[parent]
		}
		switch {
		case v.Kind == topology.Node:
			host[v] = v.Name
			out[v.Name] = above[v]
		case v.Kind != topology.Switch && len(v.Children) == 0:
			out[host[v]+" "+v.Name] = above[v]
		}
	}
	return out
}

// meeting returns the last place that two ways have in common, nil for none.
func meeting(a, b []*topology.Vertex) *topology.Vertex {
	var last *topology.Vertex
	for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
		last = a[i]
	}
	return last
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

// below returns how many places with children lie between v and the last ones.
func below(v *topology.Vertex) int {
	most := 0
	for i := range v.Children {
		if len(v.Children[i].Children) > 0 {
			most = max(most, 1+below(&v.Children[i]))
		}
	}
	return most
}
