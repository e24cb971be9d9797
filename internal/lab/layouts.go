package lab

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"tutti/coll"
)

// byNodesBytes is the message size of figure 5.2 of Steiner's thesis (TU Wien 2023): 10 240 bytes.
const byNodesBytes = 10240

// maxLayoutSeries is the number of algorithms in a panel: those that are fastest on average.
const maxLayoutSeries = 6

// iota52 draws figure 5.2 of Steiner's thesis for each data set: the recorded times of the algorithms by the number of
// nodes, with the processes per node that most numbers of nodes have and the size nearest to byNodesBytes.
func iota52(_ context.Context, sets []Set, _ []uint64, _ Options) (Figure, error) {
	return layoutFigure("Times by number of nodes", sets, func(s Set) layoutCut {
		ppn := mostNodes(s, func(p coll.Point) int { return p.PPN })
		return layoutCut{fmt.Sprintf("%d processes per node", ppn), func(p coll.Point) bool { return p.PPN == ppn }}
	})
}

// iota53 draws figure 5.3 of Steiner's thesis for each data set: the same processes on different numbers of nodes.
func iota53(_ context.Context, sets []Set, _ []uint64, _ Options) (Figure, error) {
	return layoutFigure("Times of the same number of processes on different nodes", sets, func(s Set) layoutCut {
		ranks := mostNodes(s, func(p coll.Point) int { return p.Nodes * p.PPN })
		return layoutCut{fmt.Sprintf("%d processes", ranks), func(p coll.Point) bool { return p.Nodes*p.PPN == ranks }}
	})
}

// layoutCut selects the layouts of a panel: one for each number of nodes.
type layoutCut struct {
	label   string
	selects func(coll.Point) bool
}

func layoutFigure(title string, sets []Set, cutOf func(Set) layoutCut) (Figure, error) {
	f := Figure{Title: title, Header: []string{"data", "layouts", "msg_bytes", "nodes", "algorithm", "seconds"}}
	for _, s := range sets {
		cut, bytes := cutOf(s), nearestSize(s, byNodesBytes)
		panel := Panel{X: "nodes (log2), " + cut.label, Y: fmt.Sprintf("%s %s, s", s.name(), coll.FormatBytes(bytes)), log: true}
		times := map[coll.Algorithm][]coll.Measurement{}
		for _, m := range s.Truth {
			if cut.selects(m.Point) && m.MsgBytes == bytes {
				times[m.Algorithm] = append(times[m.Algorithm], m)
			}
		}
		for _, algorithm := range fastest(times) {
			line := Series{Name: algorithm.String()}
			for _, m := range times[algorithm] {
				line.Add(math.Log2(float64(m.Nodes)), m.Seconds)
				f.Rows = append(f.Rows, []string{s.name(), cut.label, strconv.FormatInt(bytes, 10), strconv.Itoa(m.Nodes), algorithm.String(), number(m.Seconds)})
			}
			panel.Series = append(panel.Series, line)
		}
		f.Panels = append(f.Panels, panel)
	}
	return f, nil
}

// fastest returns the maxLayoutSeries algorithms with most layouts. Among those with equally many, it prefers the ones
// with the smallest geometric mean of times.
func fastest(times map[coll.Algorithm][]coll.Measurement) []coll.Algorithm {
	mean := map[coll.Algorithm]float64{}
	var algorithms []coll.Algorithm
	for algorithm, ms := range times {
		algorithms = append(algorithms, algorithm)
		for _, m := range ms {
			mean[algorithm] += math.Log(m.Seconds) / float64(len(ms))
		}
	}
	slices.SortFunc(algorithms, func(a, b coll.Algorithm) int {
		return cmp.Or(cmp.Compare(len(times[b]), len(times[a])), cmp.Compare(mean[a], mean[b]), cmp.Compare(a.String(), b.String()))
	})
	return algorithms[:min(maxLayoutSeries, len(algorithms))]
}

// mostNodes returns the value of `of` that most numbers of nodes have, the greatest of several.
func mostNodes(s Set, of func(coll.Point) int) int {
	nodes := map[int]map[int]bool{}
	best := 0
	for _, p := range s.Space.Points() {
		v := of(p)
		if nodes[v] == nil {
			nodes[v] = map[int]bool{}
		}
		nodes[v][p.Nodes] = true
	}
	for v, n := range nodes {
		if len(n) > len(nodes[best]) || len(n) == len(nodes[best]) && v > best {
			best = v
		}
	}
	return best
}

// nearestSize returns the recorded message size whose logarithm is nearest to that of bytes.
func nearestSize(s Set, bytes int64) int64 {
	distance := func(p coll.Point) float64 { return math.Abs(math.Log2(float64(p.MsgBytes+1) / float64(bytes+1))) }
	return slices.MinFunc(s.Space.Points(), func(a, b coll.Point) int { return cmp.Compare(distance(a), distance(b)) }).MsgBytes
}
