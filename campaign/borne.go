package campaign

import (
	"slices"

	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// borne adds what became of the choices of the round before, where rivals of theirs were
// measured since: how likely each was a mistake beside the measured one, and how likely it is
// by now.
func (r *run) borne(before, now *models) (metrics.Borne, error) {
	var b metrics.Borne
	if n := len(r.result.Evaluations); n > 0 {
		e := r.result.Evaluations[n-1]
		b.Expected, b.Found = e.MistakesExpected, e.MistakesFound
	}
	if before == nil {
		return b, nil
	}
	fresh := r.ledger.Measurements()[before.seen:]
	var points []coll.Point
	for _, m := range fresh {
		points = append(points, m.Point)
	}
	choose, err := r.chosen(before, points)
	if err != nil {
		return b, err
	}
	var at []coll.Point
	var choices, rivals []coll.Algorithm
	for _, m := range fresh {
		here, choice := before.judged([]coll.Point{m.Point}, choose, before.options.open)
		_, known := slices.BinarySearchFunc(before.gaussian.Algorithms(), m.Algorithm, coll.CompareAlgorithms)
		if len(here) > 0 && known && choice[0] != m.Algorithm {
			at, choices, rivals = append(at, m.Point), append(choices, choice[0]), append(rivals, m.Algorithm)
		}
	}
	query := func(m *models) learner.RiskQuery {
		return learner.RiskQuery{
			Points: at, Choices: choices, Measured: m.options.times(), Scale: r.lastScale(), Metrics: r.spec.Metrics,
			Open: func(i int) []coll.Algorithm { return []coll.Algorithm{choices[i], rivals[i]} },
		}
	}
	expected, err := before.gaussian.Risks(query(before))
	if err != nil {
		return b, err
	}
	found, err := now.gaussian.Risks(query(now))
	if err != nil {
		return b, err
	}
	for i := range at {
		b = b.Add(expected[i].Mistake, found[i].Mistake)
	}
	return b, nil
}
