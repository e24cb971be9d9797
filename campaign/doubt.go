package campaign

import (
	"tutti/activelearn"
	"tutti/coll"
)

const (
	// A measurement slower than all others let expect by so many deviations is made again, before
	// the campaign stops. Until then it counts like any other.
	incredibleFrom = 4.0
	// doubtShare is the part of the machine time that such second measurements cost at most.
	doubtShare = 0.1
)

// doubt returns what was measured since it was last asked and is incredible by what is believed:
// its job may have been disturbed. It is to be measured again in a round.
func (r *run) doubt(round int) ([]coll.Candidate, error) {
	if !activelearn.UsesPosterior(r.spec.Strategy) {
		return nil, nil
	}
	b, err := r.believe()
	if err != nil {
		return nil, err
	}
	ms, budget := r.ledger.Measurements(), r.forRepeats(doubtShare, true)
	exceeds, err := b.LOOResiduals(r.looked, len(ms))
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
