package activelearn

import (
	"slices"

	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// Between returns candidates at sizes between neighboring sizes of the space, once the latest evaluation meets
// the criteria. Such a size is returned if the selection changes between its neighbors, and if the criteria do
// not hold there: the selected algorithm is compared with the other neighbor's. Both are candidates. The
// function check returns nil for candidates that can be measured.
//
// This is the search for crossing sizes of Faraj and Yuan (ICS 2005), with the posterior's expected loss in
// place of measurements.
func (r *StopRule) Between(check func(coll.Candidate) error) ([]coll.Candidate, error) {
	if !r.meetsCriteria() {
		return nil, nil
	}
	now, err := r.models.snapshot()
	if err != nil {
		return nil, err
	}
	choose, err := r.choiceOf(now, r.points())
	if err != nil {
		return nil, err
	}
	known := func(c coll.Candidate) bool {
		_, ok := slices.BinarySearchFunc(now.gaussian.Algorithms(), c.Algorithm, coll.CompareAlgorithms)
		return ok && check(c) == nil
	}
	var pairs [][]coll.Candidate // at each size: the selected algorithm, and the other one
	query := learner.RiskQuery{Scale: r.scale(nil), Metrics: r.opt.Metrics}
	query.Open = func(i int) []coll.Algorithm { return coll.AlgorithmsOf(pairs[i]) }
	for i, high := range r.points() {
		if i == 0 || r.points()[i-1].Layout() != high.Layout() {
			continue
		}
		at, choice, other := r.points()[i-1], choose(r.points()[i-1]), choose(high)
		if r.opt.Weight != nil && r.opt.Weight(at) == 0 {
			continue
		}
		var ok bool
		if at.MsgBytes, ok = coll.Halfway(at.MsgBytes, high.MsgBytes); !ok || choice == other {
			continue
		}
		if choose(at) == other {
			choice, other = other, choice
		}
		pair := []coll.Candidate{{Point: at, Algorithm: choice}, {Point: at, Algorithm: other}}
		if known(pair[0]) && known(pair[1]) {
			pairs, query.Points, query.Choices = append(pairs, pair), append(query.Points, at), append(query.Choices, choice)
		}
	}
	risks, err := now.gaussian.Risks(query)
	if err != nil {
		return nil, err
	}
	var out []coll.Candidate
	for i, risk := range risks {
		if !r.watch.Meets(metrics.Summary{Slowdown: 1 + risk.Loss, Mistakes: risk.Mistake}) {
			out = append(out, pairs[i]...)
		}
	}
	return out, nil
}
