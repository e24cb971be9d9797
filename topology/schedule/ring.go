package schedule

import "tutti/topology"

// Ring returns the ranks in the order in which a walk through the tree, depth first,
// comes by their nodes, given the node of each rank. When each rank sends to the next
// one and the last to the first, every link carries one message in either direction at
// most.
//
// It returns an error matching ErrPlacement without ranks or when a node is not in the
// tree, and another when the tree does not pass Check. O(ranks · height of the tree).
func Ring(t *topology.Tree, nodes []string) ([]int, error) {
	root, err := placed(t, nodes)
	if err != nil {
		return nil, err
	}
	return root.depthFirst(), nil
}
