package live

import (
	"cmp"
	"slices"
)

// freeNodes tracks which nodes of a nodePool are free while pack plans its schedule.
type freeNodes struct {
	sizes    []int // nodes of each group
	largest  []int // indices of groups, largest group first
	switches bool  // groups are switches: each load fits into one, or is the only load that spans several

	taken    []bool // by group
	nodes    int    // number of free nodes
	spanning bool   // whether a load currently spans switches

	lastOwner    []int // last load on each group, -1 for none
	lastSpanning int   // last load that spanned switches, -1 for none
}

func (r nodePool) freeNodes() *freeNodes {
	f := &freeNodes{sizes: r.Groups, switches: r.Groups != nil, nodes: r.Nodes, lastSpanning: -1}
	if !f.switches {
		f.sizes = slices.Repeat([]int{1}, r.Nodes)
	}
	f.taken = make([]bool, len(f.sizes))
	f.lastOwner = slices.Repeat([]int{-1}, len(f.sizes))
	for g := range f.sizes {
		f.largest = append(f.largest, g)
	}
	slices.SortStableFunc(f.largest, func(a, b int) int { return cmp.Compare(f.sizes[b], f.sizes[a]) })
	return f
}

// find returns free groups of nodes that together have the given number of nodes, or nil if there are none. If
// groups are switches, it takes the smallest switch with enough nodes, or several switches if no switch has
// enough.
func (f *freeNodes) find(nodes int) []int {
	switch {
	case nodes > f.nodes:
		return nil
	case !f.switches:
		return f.findSeveral(nodes)
	case nodes <= f.sizes[f.largest[0]]:
		return f.findOne(nodes)
	case f.spanning:
		return nil
	}
	return f.findSeveral(nodes)
}

func (f *freeNodes) findOne(nodes int) []int {
	best := -1
	for g, size := range f.sizes {
		if !f.taken[g] && size >= nodes && (best < 0 || size < f.sizes[best]) {
			best = g
		}
	}
	if best < 0 {
		return nil
	}
	return []int{best}
}

// findSeveral returns free groups that together have the given number of nodes, the largest groups first.
// At least as many nodes as requested must be free.
func (f *freeNodes) findSeveral(nodes int) []int {
	var groups []int
	for _, g := range f.largest {
		if !f.taken[g] {
			groups = append(groups, g)
			nodes -= f.sizes[g]
		}
		if nodes <= 0 {
			break
		}
	}
	return groups
}

// allocate gives groups of nodes to the load with the index `owner`. It returns the indices of the loads that must
// end before this load begins, in ascending order. These are the last load on each of the groups and, if the load
// spans several switches, the last load that did.
func (f *freeNodes) allocate(groups []int, owner int) (before []int) {
	for _, g := range groups {
		before = append(before, f.lastOwner[g])
		f.taken[g], f.lastOwner[g] = true, owner
		f.nodes -= f.sizes[g]
	}
	if f.switches && len(groups) > 1 {
		before = append(before, f.lastSpanning)
		f.spanning, f.lastSpanning = true, owner
	}
	slices.Sort(before)
	before = slices.Compact(before)
	if before[0] < 0 {
		before = before[1:]
	}
	return before
}

func (f *freeNodes) release(groups []int) {
	for _, g := range groups {
		f.taken[g] = false
		f.nodes += f.sizes[g]
	}
	if f.switches && len(groups) > 1 {
		f.spanning = false
	}
}
