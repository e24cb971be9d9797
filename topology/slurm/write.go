package slurm

import (
	"fmt"
	"io"
	"strings"

	"tutti/topology"
)

// item is a switch as a file of topology/tree has it.
type item struct {
	name            string
	children, nodes string // lists; one of the two is empty
}

// items returns the switches of a tree, those with children after them. Nodes beside
// switches below one parent, which Slurm does not allow, get a switch of their own,
// named after the parent. What is inside nodes is left out.
func items(t *topology.Tree) []item {
	taken := map[string]bool{}
	for v := range t.All() {
		taken[v.Name] = true
	}
	var out []item
	for v := range t.All() {
		if v.Kind != topology.Switch {
			continue
		}
		var switches, nodes []string
		for _, c := range v.Children {
			if c.Kind == topology.Node {
				nodes = append(nodes, c.Name)
			} else {
				switches = append(switches, c.Name)
			}
		}
		if len(nodes) > 0 && (len(switches) > 0 || v.Name == "") {
			own := v.Name + "-nodes"
			for taken[own] {
				own += "-nodes"
			}
			taken[own] = true
			out = append(out, item{name: strings.TrimPrefix(own, "-"), nodes: topology.HostList(nodes)})
			switches, nodes = append(switches, strings.TrimPrefix(own, "-")), nil
		}
		if v.Name != "" {
			out = append(out, item{name: v.Name, children: topology.HostList(switches), nodes: topology.HostList(nodes)})
		}
	}
	return out
}

// WriteConf writes the switches of a tree as a topology.conf of topology/tree. The tree
// must pass Check.
func WriteConf(w io.Writer, t *topology.Tree) error {
	if err := t.Check(); err != nil {
		return err
	}
	var b strings.Builder
	for _, s := range items(t) {
		if s.nodes != "" {
			fmt.Fprintf(&b, "SwitchName=%s Nodes=%s\n", s.name, s.nodes)
		} else {
			fmt.Fprintf(&b, "SwitchName=%s Switches=%s\n", s.name, s.children)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
