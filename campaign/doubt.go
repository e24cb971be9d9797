package campaign

import (
	"tutti/coll"
	"tutti/surrogate/learner"
)

const (
	// A measurement slower than all others let expect by so many deviations is made again. Until
	// then it counts like any other.
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
	ms, budget := r.ledger.Measurements(), r.forRepeats(doubtShare, true)
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
