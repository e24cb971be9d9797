package activelearn

import (
	"math"
	"slices"

	"tutti/benchrunner"
	"tutti/coll"
)

// launchKey is equal for candidates of one batch that share a launch.
type launchKey struct {
	point     coll.Point
	algorithm coll.Algorithm
}

func launchOf(m benchrunner.LaunchModel, c coll.Candidate) launchKey {
	k := launchKey{c.Point, c.Algorithm}
	switch m {
	case benchrunner.LaunchOSU:
		k.point.MsgBytes = 0
	case benchrunner.LaunchNative:
		k.point.MsgBytes, k.algorithm = 0, coll.Algorithm{}
	}
	return k
}

// prices are what measurements have been seen to cost: a launch, and so many
// executions of the collective, which benchmarks make depend on the size.
type prices struct {
	launch     float64   // seconds
	sizes      []float64 // log2 of bytes + 1, ascending
	executions []float64 // for each of sizes
}

// leastPrice keeps what costs nothing from being worth infinitely much.
const leastPrice = 1e-9 // seconds

// pricesOf learns from measurements; paid are those that paid for a launch, the
// cheapest of which is taken to have paid for nothing else. The executions at a
// size are the median of what the rest of the cost is in times measured.
func pricesOf(ms []coll.Measurement, paid map[coll.Candidate]bool) prices {
	p := prices{launch: math.Inf(1)}
	for _, m := range ms {
		if paid[m.Candidate] {
			p.launch = min(p.launch, m.CostSeconds)
		}
	}
	if math.IsInf(p.launch, 1) {
		p.launch = 0
	}
	of := map[int64][]float64{}
	var sizes []int64
	for _, m := range ms {
		cost := m.CostSeconds
		if paid[m.Candidate] {
			cost -= p.launch
		}
		if of[m.MsgBytes] == nil {
			sizes = append(sizes, m.MsgBytes)
		}
		of[m.MsgBytes] = append(of[m.MsgBytes], max(0, cost)/m.Seconds)
	}
	slices.Sort(sizes)
	for _, size := range sizes {
		slices.Sort(of[size])
		p.sizes = append(p.sizes, math.Log2(float64(size)+1))
		p.executions = append(p.executions, of[size][len(of[size])/2])
	}
	return p
}

// run is the price of executions that take t seconds each, those of the nearest
// size that was measured.
func (p prices) run(bytes int64, t float64) float64 {
	x, nearest := math.Log2(float64(bytes)+1), 0
	for i, s := range p.sizes {
		if math.Abs(s-x) < math.Abs(p.sizes[nearest]-x) {
			nearest = i
		}
	}
	return p.executions[nearest] * t
}
