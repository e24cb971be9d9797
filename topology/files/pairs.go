package files

import (
	"fmt"
	"io"

	"tutti/topology"
	"tutti/topology/measured"
	"tutti/topology/suspect"
)

// readPairs finds the tree of the nodes that pairs were measured of. Members in errors
// are nodes, counted from 0 in the order of the file.
func readPairs(r io.Reader, name string) (topology.Tree, error) {
	pairs, err := suspect.Read(r, name)
	if err != nil {
		return topology.Tree{}, err
	}
	found, nodes, err := measured.Levels(pairs)
	if err != nil {
		return topology.Tree{}, fmt.Errorf("%s: %w", name, err)
	}
	return found.Tree(nodes)
}
