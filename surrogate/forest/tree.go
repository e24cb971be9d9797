package forest

import "math"

// packed is a node of a finished tree in eight bytes: the rank of its threshold in the low 32 bits, its
// feature in the next 8, its left child in the high 24. The right child follows the left one. A leaf is its
// own left child, and its rank leafRank exceeds the rank of any row. A row therefore stays at the leaf.
type packed uint64

const (
	leafRank     = math.MaxUint32
	featureShift = 32
	childShift   = 40
)

func pack(rank uint32, feature, left int) packed {
	return packed(uint64(left)<<childShift | uint64(feature)<<featureShift | uint64(rank))
}

// tree is one finished tree.
type tree struct {
	nodes  []packed
	values []float64 // of each node: the prediction of a leaf
}

// freeze returns the compact form of a tree. Thresholds are indexes into `tables`, until the method renumber
// replaces them by ranks.
func freeze(nodes []grownNode, tables []numbering) tree {
	t := tree{nodes: make([]packed, len(nodes)), values: make([]float64, len(nodes))}
	for i := range nodes {
		n := &nodes[i]
		if n.left == 0 {
			t.nodes[i] = pack(leafRank, 0, i)
			t.values[i] = n.value
			continue
		}
		t.nodes[i] = pack(tables[n.feature].number(n.value), int(n.feature), int(n.left))
	}
	return t
}

// renumber replaces the number of each threshold by the threshold's rank, which is ranks[feature][number].
func (t tree) renumber(ranks [][]uint32) {
	for i, n := range t.nodes {
		if uint32(n) != leafRank {
			t.nodes[i] = n&^leafRank | packed(ranks[uint8(n>>featureShift)][uint32(n)])
		}
	}
}

// lanes is the number of rows that walk through a tree at the same time. Most of the time a row waits for
// memory; with eight rows these waiting times overlap.
const lanes = 8

// laneRanks holds, for one feature, the rank of each of eight rows: the number of thresholds below the
// row's value. A row goes right at a threshold whose rank is less than the row's rank.
type laneRanks = [lanes]uint32

// step returns the child of node n to which a row of rank x goes.
func step(n packed, x uint32) uint64 {
	return uint64(n>>childShift) + less(uint32(n), x)
}

// less returns 1 if a is less than b, otherwise 0, without a branch.
func less(a, b uint32) uint64 { return (uint64(a) - uint64(b)) >> 63 }

// walk returns the indices of the leaves that eight rows reach.
func (t *tree) walk(r *[maxFeatures]laneRanks) (leaves [lanes]uint64) {
	nodes := t.nodes
	var i0, i1, i2, i3, i4, i5, i6, i7 uint64
	for {
		n0, n1, n2, n3 := nodes[i0], nodes[i1], nodes[i2], nodes[i3]
		n4, n5, n6, n7 := nodes[i4], nodes[i5], nodes[i6], nodes[i7]
		if uint32(n0&n1&n2&n3&n4&n5&n6&n7) == leafRank {
			return [lanes]uint64{i0, i1, i2, i3, i4, i5, i6, i7}
		}
		i0 = step(n0, r[uint8(n0>>32)][0])
		i1 = step(n1, r[uint8(n1>>32)][1])
		i2 = step(n2, r[uint8(n2>>32)][2])
		i3 = step(n3, r[uint8(n3>>32)][3])
		i4 = step(n4, r[uint8(n4>>32)][4])
		i5 = step(n5, r[uint8(n5>>32)][5])
		i6 = step(n6, r[uint8(n6>>32)][6])
		i7 = step(n7, r[uint8(n7>>32)][7])
	}
}
