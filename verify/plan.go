package verify

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"tutti/coll"
)

// plan chooses the test points of a pass. The cost of its points fits into a limit.
type plan struct {
	rules    Rules
	problems []Problem
	block    func([]TestPoint) float64 // expected machine time of a block at these points, seconds; nil: unknown
	limit    float64                   // seconds; 0: no limit
	points   []TestPoint
	chosen   map[coll.Point]bool
}

// maxRisky is the largest number of risky points that a pass tests.
const maxRisky = 100

// plannedBlocks is the expected number of blocks of a test point, as a multiple of Rules.MinBlocks. Most points need
// MinBlocks, and some of them more: 1.3 at 2 % noise (TestPower).
const plannedBlocks = 1.5

// extraShare is the largest share of the limit for points between those of the grid and for controls.
const extraShare = 0.2

func (x *plan) cost(points []TestPoint) float64 {
	if x.block == nil {
		return 0
	}
	return plannedBlocks * float64(x.rules.MinBlocks) * x.block(points)
}

func (x *plan) fits(points []TestPoint, share float64) bool {
	return x.limit == 0 || x.cost(points) <= share*x.limit
}

// add appends the longest beginning of `points` that fits, together with the points so far, into a share of the limit.
func (x *plan) add(points []TestPoint, share float64) {
	points = slices.DeleteFunc(slices.Clone(points), func(s TestPoint) bool { return x.chosen[s.Point] })
	low, high := 0, len(points)
	for low < high {
		middle := (low + high + 1) / 2
		if x.fits(slices.Concat(x.points, points[:middle]), share) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	x.points = append(x.points, points[:low]...)
	for _, s := range points[:low] {
		x.chosen[s.Point] = true
	}
}

// population returns the grid points at which the files select an algorithm and that `tested` does not contain. Random
// points come in the order of a random sample without replacement, in proportion to their weights.
//
// Source: Efraimidis and Spirakis, Weighted random sampling with a reservoir (2006).
func (x *plan) population(tested map[coll.Point]TestPoint) []TestPoint {
	var out []TestPoint
	key := map[coll.Point]float64{}
	for _, p := range x.problems {
		for _, at := range p.Grid {
			s := TestPoint{Point: at, Choice: p.Choose(at), Kind: Random, Weight: x.weight(p, at)}
			if _, known := tested[at]; !known && !s.Choice.IsDefault() && s.Weight > 0 {
				key[at] = -math.Log(1-x.rules.rngOf(at).Float64()) / s.Weight
				out = append(out, s)
			}
		}
	}
	slices.SortFunc(out, func(a, b TestPoint) int {
		return cmp.Or(cmp.Compare(key[a.Point], key[b.Point]), coll.ComparePoints(a.Point, b.Point))
	})
	return out
}

// weight returns the share of a grid point in the weight of all grid points.
func (x *plan) weight(p Problem, at coll.Point) float64 {
	n := 0
	for _, q := range x.problems {
		if q.Weight == nil {
			p.Weight = nil
		}
		n += len(q.Grid)
	}
	if p.Weight == nil {
		return 1 / float64(n)
	}
	return p.Weight(at)
}

// riskiest returns the points in the order of risk per second of machine time, at most maxRisky of them.
func (x *plan) riskiest(population []TestPoint) []TestPoint {
	value := map[coll.Point]float64{}
	for _, s := range population {
		i := slices.IndexFunc(x.problems, func(p Problem) bool { return p.Collective == s.Collective })
		if risk := x.problems[i].Risk; risk != nil {
			value[s.Point] = risk(s.Point)
		}
		if x.block != nil {
			value[s.Point] /= max(x.block([]TestPoint{s}), 1e-9)
		}
	}
	out := slices.DeleteFunc(slices.Clone(population), func(s TestPoint) bool { return !(value[s.Point] > 0) })
	slices.SortStableFunc(out, func(a, b TestPoint) int { return cmp.Compare(value[b.Point], value[a.Point]) })
	out = out[:min(len(out), maxRisky)]
	for i := range out {
		out[i].Kind = Risky
	}
	return out
}

// first plans the first pass: the riskiest points, a random sample of the others, controls and points between those of
// the grid. If not all fits, the random sample comes first: only with it anything can be said about untested points.
func (x *plan) first() {
	population := x.population(nil)
	risky := x.riskiest(population)
	for {
		x.points, x.chosen = nil, map[coll.Point]bool{}
		isRisky := map[coll.Point]bool{}
		for _, s := range risky {
			isRisky[s.Point] = true
		}
		random := slices.DeleteFunc(slices.Clone(population), func(s TestPoint) bool { return isRisky[s.Point] })
		random = random[:min(len(random), x.rules.Points)]
		if len(risky) == 0 || x.fits(slices.Concat(risky, random), 1-extraShare) {
			x.add(risky, 1-extraShare)
			x.add(random, 1-extraShare)
			break
		}
		risky = risky[:len(risky)/2]
	}
	x.addExtra()
	if len(x.points) == 0 {
		x.points = population[:min(1, len(population))]
	}
}

// addExtra adds controls and points between those of the grid, in turn from all collectives.
func (x *plan) addExtra() {
	var extra []TestPoint
	var lists [][]TestPoint
	for _, p := range x.problems {
		lists = append(lists, extraPoints(p, x.rules))
	}
	for i := 0; ; i++ {
		before := len(extra)
		for _, list := range lists {
			if i < len(list) {
				extra = append(extra, list[i])
			}
		}
		if len(extra) == before {
			break
		}
	}
	x.add(extra, 1)
}

// next plans a later pass: the points that were reverted and their neighbours, points whose selection changed since
// their test, points in `open`, which have no verdict, and more random points if too few are known to be right.
func (x *plan) next(st state, open []TestPoint, known sample) {
	var retest, changed []TestPoint
	tested := st.tested()
	for _, p := range x.problems {
		for _, at := range st.lastReverted() {
			if at.Collective != p.Collective {
				continue
			}
			for _, q := range append([]coll.Point{at}, neighbours(p.Grid, at)...) {
				kind := Retest
				if s, ok := tested[q]; ok && s.Kind != Retest {
					kind = s.Kind
				}
				retest = append(retest, TestPoint{Point: q, Choice: p.Choose(q), Kind: kind, Weight: tested[q].Weight})
			}
		}
	}
	for _, s := range slices.Concat(slices.SortedFunc(maps.Values(tested), compareTestPoints), open) {
		i := slices.IndexFunc(x.problems, func(p Problem) bool { return p.Collective == s.Collective })
		if i < 0 {
			continue
		}
		choice := x.problems[i].Choose(s.Point)
		if choice != s.Choice && !choice.IsDefault() || slices.ContainsFunc(open, func(o TestPoint) bool { return o.Point == s.Point }) {
			s.Choice = choice
			changed = append(changed, s)
		}
	}
	x.add(compact(retest), 1)
	x.add(compact(changed), 1)
	x.add(x.more(tested, known), 1)
}

// more returns the random points that are needed to bound the share of slower points by Rules.Share, if no further
// fault is found.
func (x *plan) more(tested map[coll.Point]TestPoint, known sample) []TestPoint {
	population := x.population(tested)
	for n := range population {
		if s := (sample{known.points + n, known.faults}); s.bound() <= x.rules.Share {
			return population[:n]
		}
	}
	return population
}

// compact removes points that were there before.
func compact(points []TestPoint) []TestPoint {
	known := map[coll.Point]bool{}
	return slices.DeleteFunc(points, func(s TestPoint) bool {
		before := known[s.Point]
		known[s.Point] = true
		return before
	})
}

// sample is a random sample of points: its size, and how many of its points are slower than the default or not decided.
type sample struct{ points, faults int }

// bound returns the upper end of the 95 % interval of the share of such points among all from which the sample was
// drawn, 1 for an empty sample. A point that is slower is taken for one that is not with probability clearError at
// most; the bound is larger by this.
//
// Source: Clopper and Pearson, The use of confidence or fiducial limits (Biometrika, 1934).
func (s sample) bound() float64 {
	if s.faults >= s.points {
		return 1
	}
	upper := distuv.Beta{Alpha: float64(s.faults + 1), Beta: float64(s.points - s.faults)}.Quantile(0.95)
	return min(1, upper/(1-clearError))
}

// Preview says what a pass will test, and what it can show.
type Preview struct {
	Points  []TestPoint
	Changed int     // grid points at which the files select an algorithm
	Others  int     // those of them that neither an earlier pass nor this one tests
	Seconds float64 // expected machine time; 0 when unknown
	Share   float64 // bound of the share of slower points among the untested ones, if no fault is found
}

// Text says what the pass can show.
func (p Preview) Text() string {
	of := map[PointKind]int{}
	for _, s := range p.Points {
		of[s.Kind]++
	}
	sampled := of[Risky] + of[Random]
	text := fmt.Sprintf("%d of %d selections will be compared", sampled, p.Changed)
	switch {
	case sampled == 0 && of[Retest] > 0:
		return fmt.Sprintf("%d points will be compared again", of[Retest])
	case p.Others == 0:
		return text
	case p.Share >= 1:
		return fmt.Sprintf("%s; nothing is said about the other %d", text, p.Others)
	default:
		return fmt.Sprintf("%s; without a fault among them, at most %s of the others are slower", text, percent(p.Share))
	}
}
