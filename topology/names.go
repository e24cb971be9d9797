package topology

import (
	"slices"
	"strings"
)

// Names finds nodes by what somebody else calls them: n1 and n1.cluster.site are one,
// n1.a and n1.b are not.
type Names struct {
	exact map[string]bool
	short map[string]string // the one name with a domain behind it; empty for several
}

// NamesOf returns the names of nodes, to be found.
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

// Find returns the name of a node that is called host; false when there is none, or when
// it could be several.
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

// Called returns a copy of the tree whose nodes have the names that hosts call them by,
// where they do.
func (t *Tree) Called(hosts []string) Tree {
	known := NamesOf(t.Nodes())
	name := map[string]string{}
	for _, h := range hosts {
		if own, ok := known.Find(h); ok {
			name[own] = h
		}
	}
	return Tree{Root: t.Root.called(name), Gaps: slices.Clone(t.Gaps)}
}

func (v Vertex) called(name map[string]string) Vertex {
	if h, ok := name[v.Name]; ok && v.Kind == Node {
		v.Name = h
	}
	v.Children = slices.Clone(v.Children)
	for i, c := range v.Children {
		v.Children[i] = c.called(name)
	}
	return v
}
