package testutil

import (
	"fmt"
	"math"
	"strconv"

	"tutti/coll"
)

// SyntheticSegments is the range of SyntheticPipeline's segment sizes in bytes.
var SyntheticSegments = coll.Range{Parameter: "segsize", Low: 1 << 10, High: 1 << 20}

// startup is the time, in seconds, that each segment adds to the time of a call.
const startup = 2e-7

// SyntheticPipeline is an algorithm that passes segments of the given number of bytes from rank to rank.
func SyntheticPipeline(segment int64) coll.Algorithm {
	a, err := coll.NewAlgorithm("pipeline", coll.Param{Name: SyntheticSegments.Parameter, Value: strconv.FormatInt(segment, 10)})
	if err != nil {
		panic(err)
	}
	return a
}

// SyntheticCut returns an error if the candidate's algorithm cannot run at its point. The segments of a
// pipeline must be shorter than the message.
func SyntheticCut(c coll.Candidate) error {
	text, ok := c.Algorithm.Param(SyntheticSegments.Parameter)
	if segment, err := strconv.ParseInt(text, 10, 64); ok && (err != nil || segment >= c.MsgBytes) {
		return fmt.Errorf("%v: one segment holds the message", c)
	}
	return nil
}

// SyntheticSegmented returns the times of tree, halving and a pipeline. The pipeline has a time for every
// segment size in SyntheticSegments that is a power of two.
//
// The best segment size grows with the message size and shrinks as ranks are added. It is 1 KiB to 128 KiB
// for messages of 4 KiB to 16 MiB on 4 to 64 ranks.
func SyntheticSegmented(points []coll.Point) []coll.Measurement {
	var out []coll.Measurement
	for _, p := range points {
		add := func(a coll.Algorithm, seconds float64) {
			if c := (coll.Candidate{Point: p, Algorithm: a}); SyntheticCut(c) == nil {
				out = append(out, coll.Measurement{Candidate: c, Seconds: seconds, CostSeconds: 1000 * seconds})
			}
		}
		for _, m := range syntheticModels[:2] {
			add(m.algorithm, m.seconds(p))
		}
		for s := SyntheticSegments.Low; s <= SyntheticSegments.High; s *= 2 {
			segments := math.Ceil(float64(p.MsgBytes) / float64(s))
			add(SyntheticPipeline(s), (float64(p.Ranks())-2+segments)*(startup+SyntheticGap*float64(s)))
		}
	}
	return out
}
