package testutil

import (
	"cmp"
	"math"
	"slices"

	"tutti/coll"
)

// syntheticModel is the latency-bandwidth model of one algorithm (Hockney 1994). The algorithm sends
// steps(ranks) messages, each of which costs syntheticLatency. For each byte of the buffer it sends
// volume(ranks) bytes, each of which costs SyntheticGap.
type syntheticModel struct {
	algorithm     coll.Algorithm
	steps, volume func(ranks float64) float64
}

// A synthetic machine whose best algorithm is known at every point. The processes of a node share a network
// adapter, so the latency grows by a tenth whenever their number doubles.
const (
	syntheticLatency = 1e-6  // seconds
	SyntheticGap     = 1e-10 // seconds per byte
)

var syntheticModels = []syntheticModel{
	{ // a tree: few messages, the whole buffer at each
		algorithm: coll.Algorithm{Name: "tree"},
		steps:     math.Log2,
		volume:    math.Log2,
	},
	{ // scatter and allgather: twice the messages, two buffers in all
		algorithm: coll.Algorithm{Name: "halving"},
		steps:     func(p float64) float64 { return 2 * math.Log2(p) },
		volume:    func(p float64) float64 { return 2 * (p - 1) / p },
	},
	{ // a ring: as many messages as ranks, one buffer in all
		algorithm: coll.Algorithm{Name: "ring"},
		steps:     func(p float64) float64 { return p },
		volume:    func(p float64) float64 { return (p - 1) / p },
	},
	{ // always twice the tree, never the best
		algorithm: coll.Algorithm{Name: "linear"},
		steps:     func(p float64) float64 { return 2 * math.Log2(p) },
		volume:    func(p float64) float64 { return 2 * math.Log2(p) },
	},
}

// SyntheticAlgorithms returns the algorithms of the machine. The algorithm "tree" is the fastest for small messages,
// and "halving" or "ring" for large messages. The algorithm "linear" is never the fastest.
func SyntheticAlgorithms() []coll.Algorithm {
	out := make([]coll.Algorithm, len(syntheticModels))
	for i, m := range syntheticModels {
		out[i] = m.algorithm
	}
	return out
}

// seconds returns the time of an algorithm at a point. The point must have at least 2 processes.
func (m syntheticModel) seconds(p coll.Point) float64 {
	n := float64(p.Ranks())
	latency := syntheticLatency * (1 + 0.1*math.Log2(float64(p.PPN)))
	return latency*m.steps(n) + SyntheticGap*float64(p.MsgBytes)*m.volume(n)
}

// SyntheticBest returns the fastest algorithm at a point.
func SyntheticBest(p coll.Point) coll.Algorithm {
	return slices.MinFunc(SyntheticMeasurements([]coll.Point{p}), func(a, b coll.Measurement) int {
		return cmp.Compare(a.Seconds, b.Seconds)
	}).Algorithm
}

// SyntheticMeasurements returns a measurement of every algorithm at every point. A measurement costs the
// time of a thousand calls.
func SyntheticMeasurements(points []coll.Point) []coll.Measurement {
	var out []coll.Measurement
	for _, p := range points {
		for _, m := range syntheticModels {
			s := m.seconds(p)
			out = append(out, coll.Measurement{
				Candidate:   coll.Candidate{Point: p, Algorithm: m.algorithm},
				Seconds:     s,
				CostSeconds: 1000 * s,
			})
		}
	}
	return out
}
