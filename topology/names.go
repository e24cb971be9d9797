package topology

import (
	"slices"
	"strings"
)

// Names finds a node by a host name with or without a domain. The full name counts. A name without a domain stands for
// one with a domain only if no other node has the same short name (the part before the first dot). For example, n1 and
// n1.cluster.site are the same node, unless there is a node n1.b, too. The nodes n1.a and n1.b are different. Upper and
// lower case are equal (RFC 1123).
//
// The runtime library has the same rule; see topology_place in csource/runtime/topology.c.
type Names struct {
	exact map[string]string // nodes by folded name
	short map[string]string // by short folded name; empty if several nodes have this short name
}

// Fold returns the form of a host name by which names are compared: upper and lower case are equal.
func Fold(host string) string { return strings.ToLower(host) }

// NamesOf returns a Names that finds the given nodes by their host names.
func NamesOf(nodes []string) Names {
	n := Names{exact: map[string]string{}, short: map[string]string{}}
	for _, name := range nodes {
		folded := Fold(name)
		host, _, _ := strings.Cut(folded, ".")
		_, again := n.exact[folded]
		if _, taken := n.short[host]; taken && !again {
			n.short[host] = ""
		} else if !taken {
			n.short[host] = name
		}
		if !again {
			n.exact[folded] = name
		}
	}
	return n
}

// Find returns the node that a host name stands for. It returns false if no node matches, or more than one.
func (n Names) Find(host string) (string, bool) {
	host = Fold(host)
	if name, ok := n.exact[host]; ok {
		return name, true
	}
	first, _, domain := strings.Cut(host, ".")
	name := n.short[first]
	if domain && Fold(name) != first { // two names with different domains
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
		if other, taken := host[node]; ok && taken && Fold(other) != Fold(h) {
			host[node] = ""
		} else if ok {
			host[node] = h
		}
	}
	out := map[string]string{}
	for _, h := range hosts {
		if node, ok := n.Find(h); ok && host[node] != "" {
			out[h] = node
		}
	}
	return out
}

// WithNames returns a copy of the tree in which nodes have the names of hosts that match them. Nodes
// without a match keep their names.
func (t *Tree) WithNames(hosts []string) Tree {
	name := map[string]string{}
	match := NamesOf(t.Nodes()).Match(hosts)
	for _, h := range slices.Backward(hosts) { // the first of several spellings counts
		if own, ok := match[h]; ok {
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
