package campaign

import (
	"slices"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/coll"
)

// repeatShare is the part of the machine time that repeats cost at most.
const repeatShare = 0.02

// repeat returns the candidate that is measured once more beside what a round asks for, if
// any: how far two jobs are apart tells how noisy the machine is. It is one of a size that was
// repeated least often, the cheapest of them, and starts nothing of its own where a start
// serves several.
func (r *run) repeat(asked ...[]coll.Candidate) []coll.Candidate {
	if !activelearn.UsesPosterior(r.spec.Strategy) {
		return nil
	}
	budget, count, twice := r.forRepeats(repeatShare, false), map[int64]int{}, map[coll.Candidate]bool{}
	for _, c := range slices.Concat(asked...) {
		twice[c] = true
	}
	for _, p := range r.ledger.Repeats() {
		count[p.First.MsgBytes]++
		twice[p.First.Candidate] = true
	}
	var best *coll.Measurement
	for i, m := range r.ledger.Measurements() {
		if twice[m.Candidate] || m.CostSeconds > budget || !r.started(m.Candidate, asked) {
			continue
		}
		if n := count[m.MsgBytes]; best == nil || n < count[best.MsgBytes] || n == count[best.MsgBytes] && m.CostSeconds < best.CostSeconds {
			best = &r.ledger.Measurements()[i]
		}
	}
	if best == nil {
		return nil
	}
	return []coll.Candidate{best.Candidate}
}

// started reports whether what a round asks for starts a program that can measure a
// candidate, too, where one serves several.
func (r *run) started(c coll.Candidate, asked [][]coll.Candidate) bool {
	model := r.spec.Launch
	if model != benchrunner.LaunchOSU && model != benchrunner.LaunchNative {
		return true
	}
	for _, some := range asked {
		if slices.ContainsFunc(some, func(o coll.Candidate) bool { return model.Key(o) == model.Key(c) }) {
			return true
		}
	}
	return false
}

// forRepeats is what is left of a part of the machine time after the repeats of what was doubted, or
// after all others, in seconds.
func (r *run) forRepeats(share float64, doubted bool) float64 {
	left := share * r.ledger.CostSeconds()
	for _, p := range r.ledger.Repeats() {
		if (r.doubted[p.First.Candidate] > 0) == doubted {
			left -= p.Again.CostSeconds
		}
	}
	return left
}
