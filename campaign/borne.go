package campaign

import (
	"slices"

	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// borne adds what became of the choices of the round before where both a choice and a rival of
// it are measured by now, one of them since: how likely the choice was a mistake beside the rival,
// and how likely it is by now. Of a pair of which one is measured alone little is found yet.
func (r *run) borne(before, now *models) (metrics.Borne, error) {
	b := metrics.Borne{Rule: r.spec.Borne}
	if n := len(r.result.Evaluations); n > 0 {
		e := r.result.Evaluations[n-1]
		b.Expected, b.Found = e.MistakesExpected, e.MistakesFound
	}
	if before == nil {
		return b, nil
	}
	at, choices, rivals, err := r.settled(before, now.options.times())
	if err != nil {
		return b, err
	}
	scale := r.lastScale().Root()
	expected, err := before.gaussian.RisksBeside(at, choices, rivals, before.options.times(), scale, r.spec.Metrics)
	if err != nil {
		return b, err
	}
	found, err := now.gaussian.RisksBeside(at, choices, rivals, now.options.times(), scale, r.spec.Metrics)
	if err != nil {
		return b, err
	}
	for i := range at {
		b = b.Add(expected[i].Mistake, found[i].Mistake)
	}
	return b, nil
}

// settled are the choices of before, and rivals of theirs, that both have times by now, one of
// them since.
func (r *run) settled(before *models, times learner.Measured) (at []coll.Point, choices, rivals []coll.Algorithm, err error) {
	fresh := map[coll.Candidate]bool{}
	var points []coll.Point
	for _, m := range r.ledger.Measurements()[before.seen:] {
		fresh[m.Candidate] = true
		if !slices.Contains(points, m.Point) {
			points = append(points, m.Point)
		}
	}
	choose, err := r.chosen(before, points)
	if err != nil {
		return nil, nil, nil, err
	}
	points, chosen := before.judged(points, choose, before.options.open)
	for i, p := range points {
		choice := coll.Candidate{Point: p, Algorithm: chosen[i]}
		if _, known := times[choice]; !known {
			continue
		}
		for _, alg := range before.options.open(p) {
			rival := coll.Candidate{Point: p, Algorithm: alg}
			_, known := times[rival]
			_, believed := slices.BinarySearchFunc(before.gaussian.Algorithms(), alg, coll.CompareAlgorithms)
			if known && believed && rival != choice && (fresh[choice] || fresh[rival]) {
				at, choices, rivals = append(at, p), append(choices, chosen[i]), append(rivals, alg)
			}
		}
	}
	return at, choices, rivals, nil
}
