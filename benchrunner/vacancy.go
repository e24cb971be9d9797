package benchrunner

import (
	"cmp"
	"slices"
)

// vacancy is what is free of a Room while it is filled.
type vacancy struct {
	sizes    []int // of the groups
	largest  []int // their numbers, the largest first
	switches bool  // groups are switches: a start has to fit into one, or is alone above them

	taken []bool // the groups
	nodes int    // in groups that are not
	above bool   // a start spans switches

	last      []int // who had each group last, -1 for nobody
	lastAbove int   // who spanned switches last, -1 for nobody
}

func (r Room) vacancy() *vacancy {
	v := &vacancy{sizes: r.Groups, switches: r.Groups != nil, nodes: r.Nodes, lastAbove: -1}
	if !v.switches {
		v.sizes = slices.Repeat([]int{1}, r.Nodes)
	}
	v.taken = make([]bool, len(v.sizes))
	v.last = slices.Repeat([]int{-1}, len(v.sizes))
	for g := range v.sizes {
		v.largest = append(v.largest, g)
	}
	slices.SortStableFunc(v.largest, func(a, b int) int { return cmp.Compare(v.sizes[b], v.sizes[a]) })
	return v
}

// find returns the free groups that a start gets, nil when there is no room: of
// switches the smallest that holds it, or when none is large enough several.
func (v *vacancy) find(nodes int) []int {
	switch {
	case nodes > v.nodes:
		return nil
	case !v.switches:
		return v.span(nodes)
	case nodes <= v.sizes[v.largest[0]]:
		return v.within(nodes)
	case v.above:
		return nil
	}
	return v.span(nodes)
}

// within returns the smallest free group that holds so many nodes.
func (v *vacancy) within(nodes int) []int {
	best := -1
	for g, size := range v.sizes {
		if !v.taken[g] && size >= nodes && (best < 0 || size < v.sizes[best]) {
			best = g
		}
	}
	if best < 0 {
		return nil
	}
	return []int{best}
}

// span returns free groups, the largest first, that hold so many nodes together; as
// many nodes are free.
func (v *vacancy) span(nodes int) []int {
	var groups []int
	for _, g := range v.largest {
		if !v.taken[g] {
			groups = append(groups, g)
			nodes -= v.sizes[g]
		}
		if nodes <= 0 {
			break
		}
	}
	return groups
}

// take gives groups to a start and returns who had them before, ascending.
func (v *vacancy) take(groups []int, who int) (before []int) {
	for _, g := range groups {
		before = append(before, v.last[g])
		v.taken[g], v.last[g] = true, who
		v.nodes -= v.sizes[g]
	}
	if v.switches && len(groups) > 1 {
		before = append(before, v.lastAbove)
		v.above, v.lastAbove = true, who
	}
	slices.Sort(before)
	before = slices.Compact(before)
	if before[0] < 0 { // nobody
		before = before[1:]
	}
	return before
}

// give takes groups back from a start that has ended.
func (v *vacancy) give(groups []int) {
	for _, g := range groups {
		v.taken[g] = false
		v.nodes += v.sizes[g]
	}
	if v.switches && len(groups) > 1 {
		v.above = false
	}
}
