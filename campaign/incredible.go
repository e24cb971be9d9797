package campaign

import "tutti/surrogate/learner"

const (
	// A measurement slower than all others let expect by so many deviations counts only when it was
	// made again.
	incredibleFrom = 4.0
	// incredibleShare is the part of the machine time that such second measurements cost at most.
	incredibleShare = 0.1
)

// takeBack takes back what was measured since it was last asked and is incredible by a belief: its job
// may have been disturbed. The next round measures it again. It reports whether there was any.
func (r *run) takeBack(b *learner.Belief) (bool, error) {
	ms, budget, before := r.ledger.Measurements(), r.forRepeats(incredibleShare, true), len(r.again)
	exceeds, err := b.LeftOut(r.looked, len(ms))
	if err != nil {
		return false, err
	}
	for i, z := range exceeds {
		m := ms[r.looked+i]
		if z <= incredibleFrom || m.CostSeconds > budget || r.takenBack[m.Candidate] {
			continue
		}
		budget -= m.CostSeconds
		r.takenBack[m.Candidate] = true
		r.again = append(r.again, m)
		if err := r.ledger.TakeBack(m.Candidate); err != nil {
			return false, err
		}
	}
	r.looked = len(r.ledger.Measurements())
	return len(r.again) > before, nil
}
