package synthetic

import (
	"math"

	"tutti/coll"
)

// model is a latency-bandwidth model in the manner of Hockney (1994): Latency is
// paid by each of the steps(p) messages, Gap by each byte that volume(p) moves.
type model struct {
	algorithm     coll.Algorithm
	steps, volume func(ranks float64) float64
}

// Latency in seconds and gap in seconds per byte of the made-up machine; ppn
// adds a tenth of the latency for each doubling, as sharing an adapter does.
const (
	Latency = 1e-6
	Gap     = 1e-10
)

var models = []model{
	{ // a tree: few messages, the whole buffer at each
		algorithm: mustAlgorithm("tree"),
		steps:     math.Log2,
		volume:    math.Log2,
	},
	{ // scatter and allgather: twice the messages, two buffers in all
		algorithm: mustAlgorithm("halving"),
		steps:     func(p float64) float64 { return 2 * math.Log2(p) },
		volume:    func(p float64) float64 { return 2 * (p - 1) / p },
	},
	{ // a ring: as many messages as ranks, one buffer in all
		algorithm: mustAlgorithm("ring"),
		steps:     func(p float64) float64 { return p },
		volume:    func(p float64) float64 { return (p - 1) / p },
	},
	{ // always twice the tree, never the best
		algorithm: mustAlgorithm("linear"),
		steps:     func(p float64) float64 { return 2 * math.Log2(p) },
		volume:    func(p float64) float64 { return 2 * math.Log2(p) },
	},
}

func mustAlgorithm(name string) coll.Algorithm {
	a, err := coll.NewAlgorithm(name)
	if err != nil {
		panic(err)
	}
	return a
}

// Algorithms returns the algorithms of the machine: tree wins small messages,
// halving or ring large ones, linear none.
func Algorithms() []coll.Algorithm {
	out := make([]coll.Algorithm, len(models))
	for i, m := range models {
		out[i] = m.algorithm
	}
	return out
}

// seconds is the time of an algorithm at a point; points have 2 processes or more.
func (m model) seconds(p coll.Point) float64 {
	n := float64(p.Ranks())
	latency := Latency * (1 + 0.1*math.Log2(float64(p.PPN)))
	return latency*m.steps(n) + Gap*float64(p.MsgBytes)*m.volume(n)
}

// Best returns the fastest algorithm at a point.
func Best(p coll.Point) coll.Algorithm {
	best := models[0]
	for _, m := range models[1:] {
		if m.seconds(p) < best.seconds(p) {
			best = m
		}
	}
	return best.algorithm
}

// Measurements returns every algorithm at every point. The cost is a thousand
// calls.
func Measurements(points []coll.Point) []coll.Measurement {
	var out []coll.Measurement
	for _, p := range points {
		for _, m := range models {
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
