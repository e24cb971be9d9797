package topology

import (
	"slices"
	"strings"
)

// Names finds a node by a host name with or without a domain. The full name counts. A name without a domain stands for
// one with a domain only if no other node has the same short name (the part before the first dot). For example, n1 and
// n1.cluster.site are the same node, unless there is a node n1.b, too. The nodes n1.a and n1.b are different.
//
// The runtime library has the same rule; see topology_place in csource/runtime/topology.c.
type Names struct {
	exact map[string]bool
	short map[string]string // by short name; empty if several nodes have this short name
}

// NamesOf returns a Names that finds the given nodes by their host names.
func NamesOf(nodes []string) Names {
	n := Names{exact: map[string]bool{}, short: map[string]string{}}
	for _, name := range nodes {
		host, _, _ := strings.Cut(name, ".")
		if _, taken := n.short[host]; taken && !n.exact[name] {
			n.short[host] = ""
		} else if !taken {
			n.short[host] = name
		}
		n.exact[name] = true
	}
	return n
}

// Find returns the node that a host name stands for. It returns false if no node matches, or more than one.
func (n Names) Find(host string) (string, bool) {
	if n.exact[host] {
		return host, true
	}
	first, _, domain := strings.Cut(host, ".")
	name := n.short[first]
	if domain && name != first { // two names with different domains
		return "", false
	}
	return name, name != ""
}

// Match returns the node that each host name stands for, by host name. It has no entry for a host if no node matches,
// more than one, or a node that another host matches, too.
func (n Names) Match(hosts []string) map[string]string {
	host := map[string]string{} // by node; empty if several hosts match
	for _, h := range hosts {
		node, ok := n.Find(h)
		if other, taken := host[node]; ok && taken && other != h {
			host[node] = ""
		} else if ok {
			host[node] = h
		}
	}
	out := map[string]string{}
	for node, h := range host {
		if h != "" {
			out[h] = node
		}
	}
	return out
}

// WithNames returns a copy of the tree in which nodes have the names of hosts that match them. Nodes
// without a match keep their names.
func (t *Tree) WithNames(hosts []string) Tree {
	name := map[string]string{}
	for h, own := range NamesOf(t.Nodes()).Match(hosts) {
		name[own] = h
	}
	return Tree{Root: t.Root.withNames(name), Gaps: slices.Clone(t.Gaps)}
}

func (v Vertex) withNames(name map[string]string) Vertex {
	if h, ok := name[v.Name]; ok && v.Kind == Node {
		v.Name = h
	}
	v.Children = slices.Clone(v.Children)
	for i, c := range v.Children {
		v.Children[i] = c.withNames(name)
	}
	return v
}
