package report

import (
	"tutti/campaign"
	"tutti/coll"
	"tutti/metrics"
)

// knowledge is the times that choices are compared by: the recorded truth, or
// what was measured.
type knowledge struct {
	seconds  map[coll.Candidate]float64
	fastest  map[coll.Point]coll.Measurement // without the default, unless it is all there is
	measured map[coll.Point]int
	complete bool // all there is to know: the recorded truth, or every candidate measured
}

// knowledgeOf is the recorded truth of a problem, or else what was measured.
func knowledgeOf(p campaign.Problem, res campaign.Result) knowledge {
	k := knowledge{
		seconds:  map[coll.Candidate]float64{},
		fastest:  map[coll.Point]coll.Measurement{},
		measured: map[coll.Point]int{},
		complete: p.Truth != nil || res.Ledger.Left() == 0,
	}
	for _, m := range res.Ledger.Measurements() {
		k.measured[m.Point]++
	}
	ms := p.Truth
	if ms == nil {
		ms = res.Ledger.Measurements()
	}
	for _, m := range ms {
		k.seconds[m.Candidate] = m.Seconds
		best, ok := k.fastest[m.Point]
		if !ok || m.Seconds < best.Seconds || m.Seconds == best.Seconds && best.Algorithm.IsDefault() {
			k.fastest[m.Point] = m
		}
	}
	return k
}

// slowdown compares a choice at a point with the fastest known there.
func (k knowledge) slowdown(p coll.Point, alg coll.Algorithm) (float64, bool) {
	chosen, ok := k.seconds[coll.Candidate{Point: p, Algorithm: alg}]
	if !ok {
		return 0, false
	}
	s, err := metrics.Slowdown(chosen, k.fastest[p].Seconds)
	return s, err == nil
}

// slowdowns are those of a way of choosing at the points where they are known.
func (k knowledge) slowdowns(points []coll.Point, choose func(coll.Point) coll.Algorithm) (at []coll.Point, slowdowns []float64) {
	for _, p := range points {
		if s, ok := k.slowdown(p, choose(p)); ok {
			at, slowdowns = append(at, p), append(slowdowns, s)
		}
	}
	return at, slowdowns
}

// slower counts the points where a way of choosing is slower than the default beyond
// noise; worst is its largest time over that of the default. Both are nil where it can
// be compared nowhere.
func (k knowledge) slower(points []coll.Point, choose func(coll.Point) coll.Algorithm) (n *int, worst *float64) {
	count, most, compared := 0, 0.0, false
	for _, p := range points {
		chosen, ok := k.slowdown(p, choose(p))
		byDefault, known := k.slowdown(p, coll.Default)
		if !ok || !known {
			continue
		}
		compared = true
		ratio := chosen / byDefault
		most = max(most, ratio)
		if ratio > 1+metrics.DefaultTieTolerance {
			count++
		}
	}
	if !compared {
		return nil, nil
	}
	return &count, &most
}
