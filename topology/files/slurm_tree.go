package files

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tutti/topology"
)

type assembler struct {
	file    string
	entries []entry
	at      map[string]int // index of each switch's entry
	parent  map[string]int // index of the entry above each switch or node
	gaps    []string
}

// treeOf returns the tree of the given switches. If there are no nodes below them, the tree has no
// vertices.
func treeOf(entries []entry, file string) (topology.Tree, error) {
	t, err := assemble(entries, file)
	if err != nil {
		return topology.Tree{}, err
	}
	if t, err = finish(t); t.Root.Name == "" && len(t.Root.Children) > 1 {
		t.Gaps = append(t.Gaps, "no switch joins "+names(t.Root.Children))
	}
	return t, err
}

func finish(t topology.Tree) (topology.Tree, error) {
	if empty := prune(&t.Root); len(empty) > 0 {
		t.Gaps = append(t.Gaps, "without nodes: "+topology.HostList(empty))
	}
	if len(t.Root.Children) == 0 {
		return topology.Tree{Gaps: append(t.Gaps, "no nodes")}, nil
	}
	if only := t.Root.Children[0]; t.Root.Name == "" && len(t.Root.Children) == 1 {
		t.Root = only
	}
	return t, t.Check()
}

// prune removes the switches below v that have no nodes below them, and returns their names.
func prune(v *topology.Vertex) (empty []string) {
	var kept []topology.Vertex
	for _, c := range v.Children {
		empty = append(empty, prune(&c)...)
		if c.Kind == topology.Switch && len(c.Children) == 0 {
			empty = append(empty, c.Name)
		} else {
			kept = append(kept, c)
		}
	}
	v.Children = kept
	return empty
}

// assemble builds a tree in which some switches may have no nodes below them. If several switches have no
// parent, the root has no name.
func assemble(entries []entry, file string) (topology.Tree, error) {
	a := assembler{file: file, at: map[string]int{}, parent: map[string]int{}}
	if err := a.describe(entries); err != nil {
		return topology.Tree{}, err
	}
	if err := a.connect(); err != nil {
		return topology.Tree{}, err
	}
	var tops []topology.Vertex
	placed := map[string]bool{}
	for _, e := range a.entries {
		if _, below := a.parent[switchKey(e.name)]; !below {
			tops = append(tops, a.vertex(e, placed))
		}
	}
	for _, e := range a.entries {
		if !placed[e.name] {
			return topology.Tree{}, fault(file, e.line, "switch %s lies below itself: %s", e.name, a.circle(e))
		}
	}
	if len(tops) == 1 {
		return topology.Tree{Root: tops[0], Gaps: a.gaps}, nil
	}
	return topology.Tree{Root: topology.Vertex{Kind: topology.Switch, Children: tops, Confidence: 1}, Gaps: a.gaps}, nil
}

func (a *assembler) describe(entries []entry) error {
	seen := map[string]int{}
	for _, e := range entries {
		if line, twice := seen[e.name]; twice {
			return fault(a.file, e.line, "switch %s: is on line %d, too", e.name, line)
		}
		seen[e.name] = e.line
	}
	a.entries = slices.Clone(entries)
	for a.unite() {
	}
	for i, e := range a.entries {
		a.at[e.name] = i
	}
	return nil
}

// unite removes each switch that has the same children as an earlier switch. It reports whether it removed
// any. In this case the parents of removed switches may have become equal, too.
func (a *assembler) unite() bool {
	twin := map[string]string{}
	first := map[string]string{}
	a.entries = slices.DeleteFunc(a.entries, func(e entry) bool {
		children := strings.Join(slices.Sorted(slices.Values(e.switches)), ",")
		name, alike := first[children]
		if children == "" || !alike {
			first[children] = e.name
			return false
		}
		twin[e.name] = name
		a.gaps = append(a.gaps, fmt.Sprintf("switch %s has the children of %s: taken for one", e.name, name))
		return true
	})
	for i, e := range a.entries {
		a.entries[i].switches = slices.DeleteFunc(slices.Clone(e.switches), func(name string) bool {
			return twin[name] != "" && slices.Contains(e.switches, twin[name])
		})
		for k, name := range a.entries[i].switches {
			if twin[name] != "" {
				a.entries[i].switches[k] = twin[name]
			}
		}
	}
	return len(twin) > 0
}

func switchKey(name string) string { return "switch " + name }
func nodeKey(name string) string   { return "node " + name }

// connect finds the parent of every switch and node. A child of several switches is placed below the first
// of them.
func (a *assembler) connect() error {
	for i := range a.entries {
		e := &a.entries[i]
		for _, name := range e.switches {
			if _, known := a.at[name]; !known {
				return fault(a.file, e.line, "switch %s: no line for its child %s", e.name, name)
			}
		}
		e.switches = a.place(switchKey, e.switches, i)
		e.nodes = a.place(nodeKey, e.nodes, i)
	}
	return nil
}

// place returns those children of entry i that do not already lie below an earlier entry. The others are left
// out, and gaps of the tree name them.
func (a *assembler) place(key func(name string) string, children []string, i int) []string {
	var own []string
	elsewhere := map[int][]string{} // by the index of the earlier entry
	for _, name := range children {
		p, placed := a.parent[key(name)]
		switch {
		case !placed:
			a.parent[key(name)] = i
			own = append(own, name)
		case p != i:
			elsewhere[p] = append(elsewhere[p], name)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(elsewhere)) {
		first, second := a.entries[p].name, a.entries[i].name
		a.gaps = append(a.gaps, fmt.Sprintf("%s: below %s and %s, placed below %s", topology.HostList(elsewhere[p]), first, second, first))
	}
	return own
}

func (a *assembler) vertex(e entry, placed map[string]bool) topology.Vertex {
	placed[e.name] = true
	v := topology.Vertex{Kind: topology.Switch, Name: e.name, Confidence: 1}
	for _, name := range e.switches {
		v.Children = append(v.Children, a.vertex(a.entries[a.at[name]], placed))
	}
	for _, name := range e.nodes {
		v.Children = append(v.Children, topology.Vertex{Kind: topology.Node, Name: name})
	}
	return v
}

// circle describes the cycle of switches to which a switch belongs. Switches in a cycle are not below the root.
func (a *assembler) circle(e entry) string {
	var way []string
	seen := map[string]bool{}
	for !seen[e.name] {
		seen[e.name] = true
		way = append(way, e.name)
		e = a.entries[a.parent[switchKey(e.name)]]
	}
	return strings.Join(append(way, e.name), " below ")
}

func names(vertices []topology.Vertex) string {
	var out []string
	for _, v := range vertices {
		out = append(out, v.Name)
	}
	return topology.HostList(out)
}
