package files

import (
	"bufio"
	"fmt"
	"io"

	"tutti/topology"
)

// Coordinate is where a process is.
type Coordinate struct {
	Group  int // of switches: what lies below one child of the root
	Switch int // next to the node, numbered through the machine
	Port   int // of the switch
}

const header = "# rank: group id, switch id, port number"

// WriteMPICH writes the coordinates of processes, given the node of each rank. Ports are
// numbered in the order of a switch's children. It returns an error when a node is not
// in the tree or the tree does not pass Check.
func WriteMPICH(w io.Writer, t *topology.Tree, nodes []string) error {
	if err := t.Check(); err != nil {
		return err
	}
	at := coordinates(t)
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, header)
	for rank, node := range nodes {
		c, known := at[node]
		if !known {
			return fmt.Errorf("rank %d: no node %q in the tree", rank, node)
		}
		fmt.Fprintf(b, "%d: %d %d %d\n", rank, c.Group, c.Switch, c.Port)
	}
	return b.Flush()
}

// placer notes where nodes are.
type placer struct {
	at       map[string]Coordinate
	switches int // with nodes, so far
}

// coordinates returns where the nodes are. The switches next to the root are groups,
// numbered from 1, and the nodes next to it are group 0; without such switches all is
// group 0.
func coordinates(t *topology.Tree) map[string]Coordinate {
	p := placer{at: map[string]Coordinate{}}
	p.place(t.Root, 0)
	group := 0
	for _, c := range t.Root.Children {
		if c.Kind == topology.Switch {
			group++
			p.below(c, group)
		}
	}
	return p.at
}

// below places what lies in v and below it.
func (p *placer) below(v topology.Vertex, group int) {
	p.place(v, group)
	for _, c := range v.Children {
		if c.Kind == topology.Switch {
			p.below(c, group)
		}
	}
}

// place places the nodes next to a switch.
func (p *placer) place(v topology.Vertex, group int) {
	nodes := false
	for port, c := range v.Children {
		if c.Kind == topology.Node {
			p.at[c.Name] = Coordinate{Group: group, Switch: p.switches, Port: port}
			nodes = true
		}
	}
	if nodes {
		p.switches++
	}
}
