package topology

import (
	"cmp"
	"math"
	"slices"
)

// drift is the natural logarithm of a ratio. Between two jobs, the time of one level may differ by at most
// this ratio, which is 10 %.
var drift = math.Log(1.1)

type scale struct {
	seconds []float64         // mean time of each level, ascending
	of      []map[float64]int // for each tree: level by switch time
}

type timeGroup struct {
	sum   float64 // sum of the logarithms of the times
	times []treeTime
}

type treeTime struct {
	tree    int
	seconds float64
}

func (r timeGroup) mean() float64 { return r.sum / float64(len(r.times)) }

// newScale groups the switch times of all trees into levels. It repeatedly joins the two groups of times
// that are nearest to each other. Two times of the same tree never get the same level. Two groups are not
// joined if they differ by more than drift, or by more than half the smallest step between two levels of
// one tree.
func newScale(trees []Tree) scale {
	var groups []timeGroup
	tolerance := drift
	for i := range trees {
		times := trees[i].times()
		for k, s := range times {
			groups = append(groups, timeGroup{sum: math.Log(s), times: []treeTime{{tree: i, seconds: s}}})
			if k > 0 {
				tolerance = min(tolerance, math.Log(s/times[k-1])/2)
			}
		}
	}
	slices.SortStableFunc(groups, func(a, b timeGroup) int { return cmp.Compare(a.sum, b.sum) })
	for {
		at := nearest(groups, tolerance)
		if at < 0 {
			break
		}
		a, b := groups[at], groups[at+1]
		groups[at] = timeGroup{sum: a.sum + b.sum, times: append(a.times, b.times...)}
		groups = slices.Delete(groups, at+1, at+2)
	}
	return scaleOf(groups, len(trees))
}

// nearest finds the two successive groups that are nearest to each other and may be joined. It returns the
// index of the first one, or -1 if no groups may be joined.
func nearest(groups []timeGroup, tolerance float64) int {
	at := -1
	for i := 0; i+1 < len(groups); i++ {
		step := groups[i+1].mean() - groups[i].mean()
		if step <= tolerance && !shareTree(groups[i], groups[i+1]) {
			at, tolerance = i, step
		}
	}
	return at
}

func shareTree(a, b timeGroup) bool {
	return slices.ContainsFunc(a.times, func(s treeTime) bool {
		return slices.ContainsFunc(b.times, func(o treeTime) bool { return o.tree == s.tree })
	})
}

func scaleOf(groups []timeGroup, trees int) scale {
	s := scale{of: make([]map[float64]int, trees)}
	for i := range s.of {
		s.of[i] = map[float64]int{}
	}
	for level, r := range groups {
		s.seconds = append(s.seconds, math.Exp(r.mean()))
		for _, t := range r.times {
			s.of[t.tree][t.seconds] = level
		}
	}
	return s
}

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

func (v *Vertex) clear() bool { return v.Kind == Switch && v.Confidence > 0 && v.Seconds > 0 }
