package verify

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"tutti/coll"
	"tutti/selection"
)

// Problem is one collective whose selections are verified.
type Problem struct {
	Collective coll.Collective
	Grid       []coll.Point                    // points that were tuned
	Choose     func(coll.Point) coll.Algorithm // returns what the file selects at any point
	OffGrid    bool                            // points between those of the grid can be measured, too

	// Weight returns the share of a grid point in the calls of the library; all points of all problems together have
	// 1. If it is nil for one problem, all grid points count the same.
	Weight func(coll.Point) float64
	// Risk returns how much slower than the default the selection is expected to be at a grid point, in logarithms.
	// It ranks points; it says nothing about them. It may be nil.
	Risk func(coll.Point) float64
}

// chooser chooses the test points of one collective that are not in a sample of the grid. Its random numbers depend only on the seed and the point, so
// the same selection always leads to the same test points.
type chooser struct {
	Problem
	rules  Rules
	bySize [][]coll.Point // the grid points of each layout, sizes ascending
	chosen map[coll.Point]bool
	points []TestPoint
}

// extraPoints returns the test points of a collective that belong to no sample of the grid: points between those of
// the grid, and some grid points at which the file selects the library's default. The same seed leads to the same
// points.
func extraPoints(p Problem, rules Rules) []TestPoint {
	x := &chooser{Problem: p, rules: rules, chosen: map[coll.Point]bool{}, bySize: groupsOfSizes(p.Grid)}
	x.addControls()
	x.addBetween()
	return x.points
}

func (r Rules) rngOf(p coll.Point) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(p.String()))
	return rand.New(rand.NewPCG(r.Seed, h.Sum64()))
}

// shuffled returns the points in random order, without duplicates.
func (x *chooser) shuffled(points []coll.Point) []coll.Point {
	key := map[coll.Point]uint64{}
	for _, p := range points {
		key[p] = x.rules.rngOf(p).Uint64()
	}
	out := slices.Clone(points)
	slices.SortFunc(out, func(a, b coll.Point) int { return cmp.Or(cmp.Compare(key[a], key[b]), coll.ComparePoints(a, b)) })
	return slices.Compact(out)
}

// groupsOfSizes returns groups of grid points that differ only in size, in ascending order of size.
func groupsOfSizes(grid []coll.Point) [][]coll.Point {
	sorted := slices.Clone(grid)
	slices.SortFunc(sorted, coll.ComparePoints) // sizes last
	var groups [][]coll.Point
	for i, p := range sorted {
		if i == 0 || p.WithSize(0) != sorted[i-1].WithSize(0) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], p)
	}
	return groups
}

func (x *chooser) add(p coll.Point, why PointKind) {
	if !x.chosen[p] {
		x.chosen[p] = true
		x.points = append(x.points, TestPoint{Point: p, Choice: x.Choose(p), Kind: why})
	}
}

func (x *chooser) addControls() {
	left := slices.DeleteFunc(slices.Clone(x.Grid), func(p coll.Point) bool { return !x.Choose(p).IsDefault() })
	for _, p := range x.shuffled(left)[:min(x.rules.Controls, len(left))] {
		x.add(p, Control)
	}
}

// addBetween adds points that are not on the grid. At most half of them have a size near the one at which
// the selected algorithm changes.
func (x *chooser) addBetween() {
	if !x.OffGrid {
		return
	}
	taken := 0
	for _, kind := range []struct {
		why    PointKind
		points []coll.Point
		most   int
	}{
		{Switch, x.switchPoints(), (x.rules.Between + 1) / 2},
		{Between, slices.Concat(x.betweenSizes(), x.betweenLayouts()), x.rules.Between},
	} {
		for _, p := range x.shuffled(kind.points) {
			if taken < kind.most && !x.chosen[p] {
				x.add(p, kind.why)
				taken++
			}
		}
	}
}

// switchPoints returns points near each size at which the selection changes between two sizes of the grid:
// just below this size, at it, and just above it.
func (x *chooser) switchPoints() []coll.Point {
	var out []coll.Point
	for _, group := range x.bySize {
		for i := 1; i < len(group); i++ {
			alg := x.Choose(group[i-1])
			if x.Choose(group[i]) == alg {
				continue
			}
			e := group[i].Collective.ElementBytes()
			below, above := group[i-1].MsgBytes/e, (group[i].MsgBytes+e-1)/e // in elements
			at := group[i]
			for above-below > 1 {
				middle := below + (above-below)/2
				if at.MsgBytes = middle * e; x.Choose(at) == alg {
					below = middle
				} else {
					above = middle
				}
			}
			for _, count := range []int64{below, above, above + 1} {
				if at.MsgBytes = count * e; at.MsgBytes > group[i-1].MsgBytes && at.MsgBytes < group[i].MsgBytes {
					out = append(out, at)
				}
			}
		}
	}
	return out
}

// betweenSizes returns a point with a random size between each two neighbouring sizes of the grid. The size
// is rarely a power of two.
func (x *chooser) betweenSizes() []coll.Point {
	var out []coll.Point
	for _, group := range x.bySize {
		for i := 1; i < len(group); i++ {
			e := group[i].Collective.ElementBytes()
			low, high := group[i-1].MsgBytes/e, group[i].MsgBytes/e
			if high-low < 2 {
				continue
			}
			p := group[i]
			p.MsgBytes = (low + 1 + x.rules.rngOf(p).Int64N(high-low-1)) * e
			if !x.Choose(p).IsDefault() {
				out = append(out, p)
			}
		}
	}
	return out
}

// betweenLayouts returns points whose number of nodes lies between two neighbouring numbers of the grid.
// Their sizes are random sizes of the grid.
func (x *chooser) betweenLayouts() []coll.Point {
	groups := slices.Clone(x.bySize)
	slices.SortFunc(groups, func(a, b []coll.Point) int {
		return cmp.Or(cmp.Compare(a[0].PPN, b[0].PPN), cmp.Compare(a[0].Nodes, b[0].Nodes))
	})
	var out []coll.Point
	for i := 1; i < len(groups); i++ {
		a, b := groups[i-1][0], groups[i][0]
		middle := int(math.Round(math.Sqrt(float64(a.Nodes) * float64(b.Nodes))))
		if a.PPN != b.PPN || middle <= a.Nodes || middle >= b.Nodes {
			continue
		}
		for _, p := range x.shuffled(groups[i])[:min(2, len(groups[i]))] {
			if p.Nodes = middle; !x.Choose(p).IsDefault() {
				out = append(out, p)
			}
		}
	}
	return out
}

// neighbours returns the grid points next to a point in each direction: size, number of nodes, and number
// of processes per node.
func neighbours(grid []coll.Point, at coll.Point) []coll.Point {
	var out []coll.Point
	closest := func(keep func(coll.Point) bool) {
		best := coll.Point{}
		for _, p := range grid {
			if p != at && keep(p) && (best == coll.Point{} || selection.CompareNearness(at, p, best) < 0) {
				best = p
			}
		}
		if best != (coll.Point{}) && !slices.Contains(out, best) {
			out = append(out, best)
		}
	}
	closest(func(p coll.Point) bool { return p.MsgBytes < at.MsgBytes && p.PPN == at.PPN })
	closest(func(p coll.Point) bool { return p.MsgBytes > at.MsgBytes && p.PPN == at.PPN })
	closest(func(p coll.Point) bool { return p.Nodes < at.Nodes && p.PPN == at.PPN })
	closest(func(p coll.Point) bool { return p.Nodes > at.Nodes && p.PPN == at.PPN })
	closest(func(p coll.Point) bool { return p.PPN < at.PPN })
	closest(func(p coll.Point) bool { return p.PPN > at.PPN })
	return out
}
