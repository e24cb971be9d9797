package activelearn

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tutti/coll"
)

// audit is a comparison by measurement at one point: between the selected algorithm and its rivals, the
// algorithms that may be significantly faster. There is one audit for each message size, because predictions at
// points of one size tend to be wrong together.
type audit struct {
	point        coll.Point
	choice       coll.Algorithm
	rivals       []coll.Algorithm
	extrapolated bool // nothing as large has been measured
}

// planAudits returns an audit for each message size that still needs one. A size in `audited` needs none: its last
// audit found no mistake. Another needs none if nothing remains to be compared at its sampled points.
//
// For each size, one of the points with something to compare is drawn at random. Its probability is
// proportional to its weight, and inversely proportional to the square root of the time of the candidates to
// measure. This allocation gives the best estimate of a proportion for a given cost (Cochran, Sampling
// Techniques 1977, section 5.5). The first size uses a random number between 0 and 1, and each further size
// adds the golden ratio to it, modulo 1. The audited points of different sizes thus lie in different parts of
// the grid.
//
// Predictions for messages that are larger than all measured ones are extrapolated, and may be wrong by orders of
// magnitude. So the largest size needs an audit until something of this size is measured, even if no rival seems
// faster. The algorithm with the second lowest time is its rival then.
func planAudits(l *Ledger, seed uint64, round int, f *forecast, audited []int64) (out []audit) {
	bySize, rates := map[int64][]audit{}, map[int64][]float64{}
	extrapolated := f.extrapolated()
	for i, p := range f.points {
		a := f.audit(i)
		if a.extrapolated = p.MsgBytes == extrapolated; a.extrapolated && len(a.rivals) == 0 {
			a.rivals = f.second(i)
		}
		seconds := 0.0
		for _, c := range a.candidates() {
			if l.IsFree(c) {
				seconds += math.Pow(10, f.logs[i][slices.Index(f.open[i], c.Algorithm)]/float64(f.draws))
			}
		}
		if seconds > 0 && len(a.rivals) > 0 && f.metrics.Weight(i) > 0 && !slices.Contains(audited, p.MsgBytes) {
			bySize[p.MsgBytes] = append(bySize[p.MsgBytes], a)
			rates[p.MsgBytes] = append(rates[p.MsgBytes], f.metrics.Weight(i)/math.Sqrt(seconds))
		}
	}
	start := rand.New(rand.NewPCG(seed^auditStream, uint64(round))).Float64()
	for k, bytes := range slices.Sorted(maps.Keys(bySize)) {
		_, position := math.Modf(start + float64(k)*(math.Phi-1))
		passed := floats.CumSum(make([]float64, len(rates[bytes])), rates[bytes])
		at, _ := slices.BinarySearch(passed, position*passed[len(passed)-1])
		out = append(out, bySize[bytes][at])
	}
	return out
}

// extrapolated returns the largest message size with a weight if it is larger than all measured ones, otherwise -1.
func (f *forecast) extrapolated() int64 {
	bytes := int64(-1)
	for i, p := range f.points {
		if f.metrics.Weight(i) > 0 {
			bytes = max(bytes, p.MsgBytes)
		}
	}
	if bytes <= f.largestMeasured {
		return -1
	}
	return bytes
}

// second returns the algorithm with the lowest mean of the drawn times at the i-th point, apart from the choice. It
// returns none if there is no other.
func (f *forecast) second(i int) []coll.Algorithm {
	best := -1
	for k, sum := range f.logs[i] {
		if k != f.own[i] && (best < 0 || sum < f.logs[i][best]) {
			best = k
		}
	}
	if best < 0 {
		return nil
	}
	return []coll.Algorithm{f.open[i][best]}
}

// affordable returns the cheapest of the audits, in the order of their message sizes, which together cost at most the
// share auditShare of the machine time so far. An audit that costs more does not hold up the stop: what it may find at
// its point is bounded by the guard. Only an audit of an extrapolated size is kept at any price.
func (r *StopRule) affordable(audits []audit, f *forecast) []audit {
	prices := r.ledger.prices(r.models.Data().Earlier, r.opt.Launching)
	cost := make(map[int64]float64, len(audits)) // by message size
	for _, a := range audits {
		if !a.extrapolated {
			cost[a.point.MsgBytes] = r.auditCost(a, f, prices)
		}
	}
	byCost := slices.SortedStableFunc(slices.Values(audits), func(a, b audit) int {
		return cmp.Compare(cost[a.point.MsgBytes], cost[b.point.MsgBytes])
	})
	budget, kept := auditShare*r.ledger.CostSeconds(), byCost[:0]
	for _, a := range byCost {
		if budget -= cost[a.point.MsgBytes]; budget < 0 {
			break
		}
		kept = append(kept, a)
	}
	slices.SortFunc(kept, func(a, b audit) int { return cmp.Compare(a.point.MsgBytes, b.point.MsgBytes) })
	return kept
}

// auditCost returns the predicted machine time of an audit in seconds, launches included.
func (r *StopRule) auditCost(a audit, f *forecast, p prices) (seconds float64) {
	i, launches := slices.Index(f.points, a.point), map[any]bool{}
	for _, c := range a.candidates() {
		if r.ledger.IsFree(c) {
			seconds += p.run(c.MsgBytes, math.Pow(10, f.logs[i][slices.Index(f.open[i], c.Algorithm)]/float64(f.draws)))
			launches[Options{SharedLaunch: r.opt.SharedLaunch}.launch(c)] = true
		}
	}
	return seconds + p.launch*float64(len(launches))
}

// audit returns the audit of the i-th point: the algorithm selected there and the rivals that may be faster.
func (f *forecast) audit(i int) audit {
	a := audit{point: f.points[i], choice: f.open[i][f.own[i]]}
	for k, alg := range f.open[i] {
		if f.rivals[i][k] {
			a.rivals = append(a.rivals, alg)
		}
	}
	return a
}

// candidates returns the chosen algorithm and its rivals, as candidates at the audited point.
func (a audit) candidates() []coll.Candidate {
	out := []coll.Candidate{{Point: a.point, Algorithm: a.choice}}
	for _, alg := range a.rivals {
		out = append(out, coll.Candidate{Point: a.point, Algorithm: alg})
	}
	return out
}

// resultsOf returns the message sizes of the audits that found no mistake, and the number of audits that found one. A
// size is in neither if the chosen algorithm could not be measured.
func resultsOf(audits []audit, l *Ledger, threshold float64) (passed []int64, mistakes int) {
	for _, a := range audits {
		seconds := func(alg coll.Algorithm) float64 {
			c := coll.Candidate{Point: a.point, Algorithm: alg}
			if !l.IsDone(c) {
				return math.Inf(1)
			}
			return l.Measured(c).Seconds
		}
		own := seconds(a.choice)
		mistake := !math.IsInf(own, 1) && slices.ContainsFunc(a.rivals, func(alg coll.Algorithm) bool { return own > (1+threshold)*seconds(alg) })
		switch {
		case mistake:
			mistakes++
		case !math.IsInf(own, 1):
			passed = append(passed, a.point.MsgBytes)
		}
	}
	return passed, mistakes
}
