package synthetic

import (
	"fmt"
	"math"
	"strconv"

	"tutti/coll"
)

// Segments is where a pipeline can be cut.
var Segments = coll.Range{Parameter: "segsize", Low: 1 << 10, High: 1 << 20}

// startup of each segment, in seconds.
const startup = 2e-7

// Pipeline is the algorithm that passes segments of so many bytes from rank to rank.
func Pipeline(segment int64) coll.Algorithm {
	a, err := coll.NewAlgorithm("pipeline", coll.Param{Name: Segments.Parameter, Value: strconv.FormatInt(segment, 10)})
	if err != nil {
		panic(err)
	}
	return a
}

// Cut reports why an algorithm cannot run at a point: a segment must be shorter than the
// message.
func Cut(c coll.Candidate) error {
	text, ok := c.Algorithm.Param(Segments.Parameter)
	if segment, err := strconv.ParseInt(text, 10, 64); ok && (err != nil || segment >= c.MsgBytes) {
		return fmt.Errorf("%v: one segment holds the message", c)
	}
	return nil
}

// Segmented returns tree, halving and a pipeline with every power of two that Segments
// has. The best segment grows with the message and falls with the ranks, from 1 KiB to 128 KiB
// for messages of 4 KiB to 16 MiB on 4 to 64 ranks.
func Segmented(points []coll.Point) []coll.Measurement {
	var out []coll.Measurement
	for _, p := range points {
		add := func(a coll.Algorithm, seconds float64) {
			if c := (coll.Candidate{Point: p, Algorithm: a}); Cut(c) == nil {
				out = append(out, coll.Measurement{Candidate: c, Seconds: seconds, CostSeconds: 1000 * seconds})
			}
		}
		for _, m := range models[:2] {
			add(m.algorithm, m.seconds(p))
		}
		for s := Segments.Low; s <= Segments.High; s *= 2 {
			segments := math.Ceil(float64(p.MsgBytes) / float64(s))
			add(Pipeline(s), (float64(p.Ranks())-2+segments)*(startup+Gap*float64(s)))
		}
	}
	return out
}
