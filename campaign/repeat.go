package campaign

import (
	"slices"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/coll"
	"tutti/surrogate/learner"
)

// repeatShare is the part of the machine time that repeats cost at most.
const repeatShare = 0.02

// repeat returns the candidate that is measured once more beside what a round asks for, if
// any: how far two jobs are apart tells how noisy the machine is. It is one of a size that was
// repeated least often, the cheapest of them, and starts nothing of its own where a start
// serves several.
func (r *run) repeat(asked ...[]coll.Candidate) []coll.Candidate {
	if !activelearn.Believes(r.spec.Strategy) {
		return nil
	}
	budget, count, twice := repeatShare*r.ledger.CostSeconds(), map[int64]int{}, map[coll.Candidate]bool{}
	for _, some := range asked {
		for _, c := range some {
			twice[c] = true
		}
	}
	for _, p := range r.ledger.Repeats() {
		if r.doubted[p.First.Candidate] == 0 {
			budget -= p.Again.CostSeconds
		}
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

const (
	// A measurement slower than all others let expect by so many deviations is not believed
	// before it was made again.
	incredibleFrom = 4.0
	// doubtShare is the part of the machine time that such second measurements cost at most.
	doubtShare = 0.1
)

// doubt returns what was measured since it was last asked and is incredible by a belief, nil for
// none: its job may have been disturbed.
func (r *run) doubt(round int, b *learner.Belief) ([]coll.Candidate, error) {
	if b == nil {
		return nil, nil
	}
	ms, budget := r.ledger.Measurements(), doubtShare*r.ledger.CostSeconds()
	for _, p := range r.ledger.Repeats() {
		if r.doubted[p.First.Candidate] > 0 {
			budget -= p.Again.CostSeconds
		}
	}
	exceeds, err := b.LeftOut(r.looked, len(ms))
	if err != nil {
		return nil, err
	}
	var out []coll.Candidate
	for i, z := range exceeds {
		if m := ms[r.looked+i]; z > incredibleFrom && m.CostSeconds <= budget {
			budget -= m.CostSeconds
			r.doubted[m.Candidate] = round
			out = append(out, m.Candidate)
		}
	}
	r.looked = len(ms)
	return out, nil
}
