package topology

import (
	"cmp"
	"math"
	"slices"
)

// drift is how far the times of one level may lie apart between two jobs, as a
// logarithm: 10 %.
var drift = math.Log(1.1)

// scale is the levels of several trees put in one order.
type scale struct {
	seconds []float64         // of each level, ascending
	of      []map[float64]int // for each tree: the level of a time
}

// rung is one or more times that stand for one level.
type rung struct {
	sum   float64 // of the logarithms
	times []stamp
}

type stamp struct {
	tree    int
	seconds float64
}

func (r rung) mean() float64 { return r.sum / float64(len(r.times)) }

// newScale finds which levels of different trees are one: those nearest to each other
// are taken for one first, never two of the same tree, and none that lie farther apart
// than drift or than half the smallest step between two levels of one tree.
func newScale(trees []Tree) scale {
	var rungs []rung
	tolerance := drift
	for i := range trees {
		times := trees[i].times()
		for k, s := range times {
			rungs = append(rungs, rung{sum: math.Log(s), times: []stamp{{tree: i, seconds: s}}})
			if k > 0 {
				tolerance = min(tolerance, math.Log(s/times[k-1])/2)
			}
		}
	}
	slices.SortStableFunc(rungs, func(a, b rung) int { return cmp.Compare(a.sum, b.sum) })
	for {
		at := nearest(rungs, tolerance)
		if at < 0 {
			break
		}
		a, b := rungs[at], rungs[at+1]
		rungs[at] = rung{sum: a.sum + b.sum, times: append(a.times, b.times...)}
		rungs = slices.Delete(rungs, at+1, at+2)
	}
	return numbered(rungs, len(trees))
}

// nearest returns the first of the two neighbours that lie nearest to each other and
// may be one level, or -1.
func nearest(rungs []rung, tolerance float64) int {
	at := -1
	for i := 0; i+1 < len(rungs); i++ {
		step := rungs[i+1].mean() - rungs[i].mean()
		if step <= tolerance && !share(rungs[i], rungs[i+1]) {
			at, tolerance = i, step
		}
	}
	return at
}

func share(a, b rung) bool {
	return slices.ContainsFunc(a.times, func(s stamp) bool {
		return slices.ContainsFunc(b.times, func(o stamp) bool { return o.tree == s.tree })
	})
}

func numbered(rungs []rung, trees int) scale {
	s := scale{of: make([]map[float64]int, trees)}
	for i := range s.of {
		s.of[i] = map[float64]int{}
	}
	for level, r := range rungs {
		s.seconds = append(s.seconds, math.Exp(r.mean()))
		for _, t := range r.times {
			s.of[t.tree][t.seconds] = level
		}
	}
	return s
}

// times returns the times of the clear switches, ascending, each once.
func (t *Tree) times() []float64 {
	var out []float64
	for v := range t.All() {
		if v.clear() {
			out = append(out, v.Seconds)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// clear reports whether v is a switch whose children are surely apart.
func (v *Vertex) clear() bool { return v.Kind == Switch && v.Confidence > 0 && v.Seconds > 0 }
