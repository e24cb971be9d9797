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
	at, names := coordinates(t), topology.NamesOf(t.Nodes()).Match(nodes)
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "# rank: group id, switch id, port number")
	for rank, node := range nodes {
		c, known := at[names[node]]
		if !known {
			return fmt.Errorf("rank %d: no node %q in the tree, or several nodes with this name", rank, node)
		}
		fmt.Fprintf(b, "%d: %d %d %d\n", rank, c.group, c.number, c.port)
	}
	return b.Flush()
}

type coordinate struct {
	group  int // child of the root that contains the switch
	number int // switch of the node, numbered across the machine
	port   int // port of the switch
}

// coordinates returns the group, switch and port of each node. Switches directly below the root are groups, numbered
// from 1. Nodes that are not below such a switch are in group 0.
func coordinates(t *topology.Tree) map[string]coordinate {
	at := map[string]coordinate{}
	group, number := 0, 0 // of the current switch; only switches with nodes have a number
	for v, parent := range t.All() {
		if v.Kind != topology.Switch {
			continue
		}
		if parent == &t.Root {
			group++
		}
		before := len(at)
		for port, c := range v.Children {
			if c.Kind == topology.Node {
				at[c.Name] = coordinate{group, number, port}
			}
		}
		if len(at) > before {
			number++
		}
	}
	return at
}
