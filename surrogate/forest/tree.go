package forest

import "math"

// node is a node of a tree. A row goes right if its feature exceeds the threshold.
type node struct {
	threshold float64 // +Inf for a leaf
	feature   int32
	left      int32 // left child, which the right child follows; for a leaf the leaf itself
}

// tree is one finished tree.
type tree struct {
	nodes  []node
	values []float64 // of each node: the prediction of a leaf
	depth  int       // number of splits above the deepest leaf
}

// setLeaf makes a node a leaf that predicts a value.
func (t *tree) setLeaf(n int32, value float64) {
	t.nodes[n] = node{threshold: math.Inf(1), left: n}
	t.values[n] = value
}

// find descends a tree with rows of d features, and stores the leaf that each row reaches in `leaves`. All rows
// go down one level at a time: their steps are independent, so that the processor overlaps them.
func (t *tree) find(rows []float64, d int, leaves []int32) {
	clear(leaves)
	for range t.depth {
		for i, at := range leaves {
			n := &t.nodes[at]
			next := n.left
			if rows[i*d+int(n.feature)] > n.threshold {
				next++
			}
			leaves[i] = next
		}
	}
}
