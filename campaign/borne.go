package campaign

import (
	"slices"

	"tutti/coll"
	"tutti/metrics"
)

// borne adds what became of the choices of the round before, where rivals of theirs were
// measured since: how likely each was a mistake beside the measured one, and how likely it is
// by now.
func (r *run) borne(before, now *models) (metrics.Borne, error) {
	var b metrics.Borne
	if n := len(r.result.Evaluations); n > 0 {
		e := r.result.Evaluations[n-1]
		b = metrics.Borne{Expected: e.MistakesExpected, Found: e.MistakesFound}
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
	scale := r.lastScale()
	was, is := before.options.times(), now.options.times()
	for _, m := range fresh {
		at, choices := before.judged([]coll.Point{m.Point}, choose, before.options.open)
		_, known := slices.BinarySearchFunc(before.gaussian.Algorithms(), m.Algorithm, coll.CompareAlgorithms)
		if len(at) == 0 || !known || choices[0] == m.Algorithm {
			continue
		}
		both := func(coll.Point) []coll.Algorithm { return []coll.Algorithm{choices[0], m.Algorithm} }
		expected, err := before.gaussian.Risks(at, choices, both, was, scale.Root(), r.spec.Metrics)
		if err != nil {
			return b, err
		}
		found, err := now.gaussian.Risks(at, choices, both, is, scale.Root(), r.spec.Metrics)
		if err != nil {
			return b, err
		}
		b = b.Add(expected[0].Mistake, found[0].Mistake)
	}
	return b, nil
}
