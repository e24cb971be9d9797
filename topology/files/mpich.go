package files

import (
	"bufio"
	"fmt"
	"io"

	"tutti/topology"
)

// writeMPICH writes the coordinates of all ranks: group, switch and port, in the numbers that MPICH uses. The
// parameter `nodes` holds the node of each rank. Ports are numbered in the order of a switch's children.
// writeMPICH returns an error if a node is unknown.
func writeMPICH(w io.Writer, t *topology.Tree, nodes []string) error {
	at := coordinates(t)
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "# rank: group id, switch id, port number")
	for rank, node := range nodes {
		c, known := at[node]
		if !known {
			return fmt.Errorf("rank %d: no node %q in the tree", rank, node)
		}
		fmt.Fprintf(b, "%d: %d %d %d\n", rank, c.group, c.number, c.port)
	}
	return b.Flush()
}

// coordinate says where a node is in the network.
type coordinate struct {
	group  int // child of the root that contains the switch
	number int // switch of the node, numbered across the machine
	port   int // port of the switch
}

// placer collects the coordinates of all nodes.
type placer struct {
	at       map[string]coordinate
	switches int // number of switches with nodes so far
}

// coordinates returns the coordinates of each node. Switches directly below the root are
// groups, numbered from 1. All other nodes are in group 0.
func coordinates(t *topology.Tree) map[string]coordinate {
	p := placer{at: map[string]coordinate{}}
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
			p.at[c.Name] = coordinate{group, p.switches, port}
			nodes = true
		}
	}
	if nodes {
		p.switches++
	}
}
