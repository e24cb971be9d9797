package topology

import (
	"slices"
	"strings"
)

// Names finds a node by a host name with or without a domain. For example, n1 and n1.cluster.site are the
// same node, but n1.a and n1.b are different nodes.
type Names struct {
	exact map[string]bool
	short map[string]string // the name with a domain; empty if several have this host name
}

// NamesOf returns a Names that finds the given nodes by their host names.
func NamesOf(nodes []string) Names {
	n := Names{exact: map[string]bool{}, short: map[string]string{}}
	for _, name := range nodes {
		n.exact[name] = true
		host, _, domain := strings.Cut(name, ".")
		if other, taken := n.short[host]; domain && taken && other != name {
			n.short[host] = ""
		} else if domain {
			n.short[host] = name
		}
	}
	return n
}

// Find returns the node that a host name stands for. It returns false if no node matches, or more than one.
func (n Names) Find(host string) (string, bool) {
	if n.exact[host] {
		return host, true
	}
	first, _, domain := strings.Cut(host, ".")
	if domain {
		return first, n.exact[first]
	}
	name := n.short[host]
	return name, name != ""
}

// WithNames returns a copy of the tree in which nodes have the names of hosts that match them. Nodes
// without a match keep their names.
func (t *Tree) WithNames(hosts []string) Tree {
	known := NamesOf(t.Nodes())
	name := map[string]string{}
	for _, h := range hosts {
		if own, ok := known.Find(h); ok {
			name[own] = h
		}
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
