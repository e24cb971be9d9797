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

// Problem is one collective whose part of the file is to be proved.
type Problem struct {
	Collective coll.Collective
	Grid       []coll.Point                    // the points that were tuned
	Choose     func(coll.Point) coll.Algorithm // what the file selects at any point
	Runnable   func(coll.Point) bool           // whether the machine can measure a point off the grid; nil for none
}

// chooser chooses the spots of one collective. What it draws depends on the seed
// and the point alone, so that where the selection stays the same so do the spots.
type chooser struct {
	Problem
	rules Rules
	lanes [][]coll.Point // the grid by layout, sizes ascending
	seen  map[coll.Point]bool
	spots []Spot
}

// firstSpots returns the spots of a problem: the grid points where the file selects an
// algorithm, all or a sample that has every place (neighbouring sizes of a layout
// with one algorithm) in it, some points where it does not, and points between
// those of the grid. The same for the same seed.
func firstSpots(p Problem, rules Rules) []Spot {
	x := &chooser{Problem: p, rules: rules, seen: map[coll.Point]bool{}, lanes: lanesOf(p.Grid)}
	x.places()
	x.controls()
	x.between()
	slices.SortFunc(x.spots, func(a, b Spot) int { return coll.ComparePoints(a.Point, b.Point) })
	return x.spots
}

// draw is the randomness of a point.
func (x *chooser) draw(p coll.Point) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(p.String()))
	return rand.New(rand.NewPCG(x.rules.Seed, h.Sum64()))
}

// shuffled returns the points in random order.
func (x *chooser) shuffled(points []coll.Point) []coll.Point {
	key := map[coll.Point]uint64{}
	for _, p := range points {
		key[p] = x.draw(p).Uint64()
	}
	out := slices.Clone(points)
	slices.SortFunc(out, func(a, b coll.Point) int { return cmp.Or(cmp.Compare(key[a], key[b]), coll.ComparePoints(a, b)) })
	return slices.Compact(out)
}

func lanesOf(grid []coll.Point) [][]coll.Point {
	sorted := slices.Clone(grid)
	slices.SortFunc(sorted, coll.ComparePoints) // sizes last
	var lanes [][]coll.Point
	for i, p := range sorted {
		if i == 0 || p.Layout() != sorted[i-1].Layout() {
			lanes = append(lanes, nil)
		}
		lanes[len(lanes)-1] = append(lanes[len(lanes)-1], p)
	}
	return lanes
}

func (x *chooser) add(p coll.Point, why Why) {
	if !x.seen[p] {
		x.seen[p] = true
		x.spots = append(x.spots, Spot{Point: p, Choice: x.Choose(p), Why: why})
	}
}

// places adds the grid points where an algorithm is selected.
func (x *chooser) places() {
	var rest []coll.Point
	for _, lane := range x.lanes {
		for from := 0; from < len(lane); {
			to, alg := from+1, x.Choose(lane[from])
			for to < len(lane) && x.Choose(lane[to]) == alg {
				to++
			}
			if !alg.IsDefault() {
				place := x.shuffled(lane[from:to])
				x.add(place[0], OnGrid)
				rest = append(rest, place[1:]...)
			}
			from = to
		}
	}
	for _, p := range x.shuffled(rest) {
		if len(x.spots) >= x.rules.Points {
			return
		}
		x.add(p, OnGrid)
	}
}

// controls adds grid points that the file leaves to the library.
func (x *chooser) controls() {
	var left []coll.Point
	for _, p := range x.Grid {
		if x.Choose(p).IsDefault() {
			left = append(left, p)
		}
	}
	for _, p := range x.shuffled(left)[:min(x.rules.Controls, len(left))] {
		x.add(p, Control)
	}
}

// between adds points off the grid, those at switches first.
func (x *chooser) between() {
	if x.Runnable == nil {
		return
	}
	taken := 0
	for _, kind := range []struct {
		why    Why
		points []coll.Point
		most   int
	}{
		{Switch, x.switches(), (x.rules.Between + 1) / 2},
		{Between, slices.Concat(x.oddSizes(), x.oddLayouts()), x.rules.Between},
	} {
		for _, p := range x.shuffled(kind.points) {
			if taken < kind.most && !x.seen[p] && x.Runnable(p) {
				x.add(p, kind.why)
				taken++
			}
		}
	}
}

// switches returns the sizes just below, at and above those where the selection
// changes between two sizes of the grid.
func (x *chooser) switches() []coll.Point {
	var out []coll.Point
	for _, lane := range x.lanes {
		for i := 1; i < len(lane); i++ {
			alg := x.Choose(lane[i-1])
			if x.Choose(lane[i]) == alg {
				continue
			}
			e := lane[i].Collective.ElementBytes()
			below, above := lane[i-1].MsgBytes/e, (lane[i].MsgBytes+e-1)/e // in elements
			at := lane[i]
			for above-below > 1 {
				middle := below + (above-below)/2
				if at.MsgBytes = middle * e; x.Choose(at) == alg {
					below = middle
				} else {
					above = middle
				}
			}
			for _, count := range []int64{below, above, above + 1} {
				if at.MsgBytes = count * e; at.MsgBytes > lane[i-1].MsgBytes && at.MsgBytes < lane[i].MsgBytes {
					out = append(out, at)
				}
			}
		}
	}
	return out
}

// oddSizes returns a size at random between each two neighbours of the grid with
// one algorithm: hardly ever a power of two.
func (x *chooser) oddSizes() []coll.Point {
	var out []coll.Point
	for _, lane := range x.lanes {
		for i := 1; i < len(lane); i++ {
			e := lane[i].Collective.ElementBytes()
			low, high := lane[i-1].MsgBytes/e, lane[i].MsgBytes/e
			if high-low < 2 {
				continue
			}
			p := lane[i]
			p.MsgBytes = (low + 1 + x.draw(p).Int64N(high-low-1)) * e
			if !x.Choose(p).IsDefault() {
				out = append(out, p)
			}
		}
	}
	return out
}

// oddLayouts returns points on numbers of nodes between two neighbours of the
// grid, sizes of the grid at random.
func (x *chooser) oddLayouts() []coll.Point {
	lanes := slices.Clone(x.lanes)
	slices.SortFunc(lanes, func(a, b []coll.Point) int {
		return cmp.Or(cmp.Compare(a[0].PPN, b[0].PPN), cmp.Compare(a[0].Nodes, b[0].Nodes))
	})
	var out []coll.Point
	for i := 1; i < len(lanes); i++ {
		a, b := lanes[i-1][0], lanes[i][0]
		middle := int(math.Round(math.Sqrt(float64(a.Nodes) * float64(b.Nodes))))
		if a.PPN != b.PPN || middle <= a.Nodes || middle >= b.Nodes {
			continue
		}
		for _, p := range x.shuffled(lanes[i])[:min(2, len(lanes[i]))] {
			if p.Nodes = middle; !x.Choose(p).IsDefault() {
				out = append(out, p)
			}
		}
	}
	return out
}

// again returns the spots of a later pass: what was put back, the grid points next
// to it, and whatever else is selected differently from what was proved.
func again(p Problem, rules Rules, proved map[coll.Point]coll.Algorithm, back []coll.Point) []Spot {
	spots := map[coll.Point]Spot{}
	for _, s := range firstSpots(p, rules) {
		if alg, known := proved[s.Point]; !known || alg != s.Choice {
			spots[s.Point] = s
		}
	}
	for _, at := range back {
		if at.Collective != p.Collective {
			continue
		}
		for _, q := range append(neighbours(p.Grid, at), at) {
			spots[q] = Spot{Point: q, Choice: p.Choose(q), Why: Again}
		}
	}
	out := make([]Spot, 0, len(spots))
	for _, s := range spots {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Spot) int { return coll.ComparePoints(a.Point, b.Point) })
	return out
}

// neighbours returns the grid points next to a point: the sizes below and above on
// its own layout, or on the nearest one, and the layouts below and above at the
// nearest size.
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
