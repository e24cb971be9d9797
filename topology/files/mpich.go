package files

import (
	"bufio"
	"fmt"
	"io"

	"tutti/topology"
)

// Coordinate says where a process is in the network, in the numbers that MPICH uses.
type Coordinate struct {
	Group  int // child of the root that contains the switch
	Switch int // switch of the node, numbered across the machine
	Port   int // port of the switch
}

const header = "# rank: group id, switch id, port number"

// WriteMPICH writes the coordinates of all ranks. The parameter `nodes` holds the node of each rank. Ports
// are numbered in the order of a switch's children. WriteMPICH returns an error if a node is unknown or the
// tree does not pass Check.
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

// placer collects the coordinates of all nodes.
type placer struct {
	at       map[string]Coordinate
	switches int // number of switches with nodes so far
}

// coordinates returns the coordinates of each node. Switches directly below the root are
// groups, numbered from 1. All other nodes are in group 0.
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

// below adds the coordinates of all nodes below v.
func (p *placer) below(v topology.Vertex, group int) {
	p.place(v, group)
	for _, c := range v.Children {
		if c.Kind == topology.Switch {
			p.below(c, group)
		}
	}
}

// place adds the coordinates of the nodes directly below a switch.
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
