package files

import (
	"fmt"
	"slices"
	"strings"

	"tutti/topology"
)

// assembler builds a tree from switches and the names of their children.
type assembler struct {
	file    string
	entries []entry
	at      map[string]int // index of each switch's entry
	parent  map[string]int // index of the entry above each switch or node
	gaps    []string
}

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
	t := topology.Tree{Root: tops[0], Gaps: a.gaps}
	if len(tops) > 1 {
		t.Root = topology.Vertex{Kind: topology.Switch, Children: tops, Confidence: 1}
		t.Gaps = append(t.Gaps, "no switch joins "+names(tops))
	}
	return t, t.Check()
}

// describe adds the entries of a file. It replaces switches with the same children by one switch.
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

// unite removes switches with the same children as an earlier switch. It reports whether it
// removed any; their parents may then be equal, too.
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

// connect finds the parent of every switch and node.
func (a *assembler) connect() error {
	for i, e := range a.entries {
		for _, name := range e.switches {
			if _, known := a.at[name]; !known {
				return fault(a.file, e.line, "switch %s: no line for its child %s", e.name, name)
			}
			if err := a.place(switchKey(name), i); err != nil {
				return err
			}
		}
		for _, name := range e.nodes {
			if err := a.place("node "+name, i); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *assembler) place(child string, i int) error {
	if p, twice := a.parent[child]; twice {
		return fault(a.file, a.entries[i].line, "%s lies below %s and, on line %d, below %s: want one place",
			child, a.entries[i].name, a.entries[p].line, a.entries[p].name)
	}
	a.parent[child] = i
	return nil
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

// circle describes the cycle that keeps a switch from being below the root.
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
