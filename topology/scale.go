package topology

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// drift says how much the time of one level may differ between two jobs: by 10 %. It is the natural logarithm of this
// ratio.
var drift = math.Log(1.1)

type scale struct {
	seconds []float64         // mean time of each level, ascending
	of      []map[float64]int // for each tree: level by switch time
}

// newScale assigns the switch times of all trees to levels, in ascending order. A time begins a new level if it
// exceeds the mean of the current level's times by too much. The limit is `drift` or half the smallest step between
// two levels of one tree, whichever is smaller. Two times of the same tree never get the same level.
func newScale(trees []Tree) scale {
	type treeTime struct {
		tree         int
		seconds, log float64
	}
	s := scale{of: make([]map[float64]int, len(trees))}
	var all []treeTime
	tolerance := drift
	for i := range trees {
		s.of[i] = map[float64]int{}
		times := trees[i].times()
		for k, seconds := range times {
			all = append(all, treeTime{i, seconds, math.Log(seconds)})
			if k > 0 {
				tolerance = min(tolerance, math.Log(seconds/times[k-1])/2)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b treeTime) int { return cmp.Compare(a.seconds, b.seconds) })
	var logs []float64 // of the current level
	var seen map[int]bool
	for _, t := range all {
		if len(logs) == 0 || seen[t.tree] || t.log-stat.Mean(logs, nil) > tolerance {
			logs, seen = nil, map[int]bool{}
			s.seconds = append(s.seconds, 0)
		}
		logs, seen[t.tree] = append(logs, t.log), true
		level := len(s.seconds) - 1
		s.seconds[level] = math.Exp(stat.Mean(logs, nil))
		s.of[t.tree][t.seconds] = level
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
