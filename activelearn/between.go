package activelearn

import (
	"math/rand/v2"
	"slices"

	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// Between returns candidates at message sizes between two neighboring sizes of the space. It returns none as
// long as the latest evaluation does not meet the stopping criteria. A size is added if its two neighbors have
// different selected algorithms, and the choice between these two is too uncertain at this size: its expected
// slowdown or mistakes violate the criteria. Both algorithms become candidates. The function `check` returns
// nil for candidates that can be measured.
//
// This is the search for crossing sizes of Faraj and Yuan (ICS 2005), who measure at each step. Here the
// expected loss predicted by the posterior decides whether a size is measured.
func (r *StopRule) Between(check func(coll.Candidate) error) ([]coll.Candidate, error) {
	last, ok := r.last()
	if !ok || !r.MeetsCriteria() {
		return nil, nil
	}
	return r.between(last, check)
}

func (r *Evaluator) between(last Evaluation, check func(coll.Candidate) error) ([]coll.Candidate, error) {
	now, err := r.snapshot()
	if err != nil {
		return nil, err
	}
	choose, err := r.choiceOf(now, r.points())
	if err != nil {
		return nil, err
	}
	known := func(c coll.Candidate) bool {
		return now.posterior.Knows(c.Algorithm) && check(c) == nil
	}
	var pairs [][]coll.Candidate // at each size between neighbors: the selected algorithm, and the other neighbor's
	var c choices
	for i, high := range r.points() {
		if i == 0 || r.points()[i-1].WithSize(0) != high.WithSize(0) {
			continue
		}
		low := r.points()[i-1]
		choice, other := choose(low), choose(high)
		if choice == other || r.opt.Weight.Of(low) == 0 {
			continue
		}
		at := low
		var ok bool
		if at.MsgBytes, ok = coll.Halfway(low.MsgBytes, high.MsgBytes); !ok {
			continue
		}
		if choose(at) == other {
			choice, other = other, choice
		}
		pair := []coll.Candidate{{Point: at, Algorithm: choice}, {Point: at, Algorithm: other}}
		if known(pair[0]) && known(pair[1]) {
			pairs, c.points = append(pairs, pair), append(c.points, at)
			c.open, c.own = append(c.open, coll.AlgorithmsOf(pair)), append(c.own, slices.Index(coll.AlgorithmsOf(pair), choice))
		}
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	q := learner.DrawQuery{Scores: last.Scores, Rand: rand.New(rand.NewPCG(r.opt.Seed^betweenStream, uint64(last.Round)))}
	f, err := c.forecast(now.posterior, q, now.alternatives.trusted, r.opt.Metrics, r.opt.Criteria)
	if err != nil {
		return nil, err
	}
	var out []coll.Candidate
	for i, pair := range pairs {
		n := float64(f.draws)
		if !r.opt.Criteria.Meets(metrics.Summary{Slowdown: f.expected[i] / n, Mistakes: f.mistakes[i] / n}) {
			out = append(out, pair...)
		}
	}
	return out, nil
}
