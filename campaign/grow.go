package campaign

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/journal"
)

// Search lets the space (candidates) of a problem grow. It adds new parameter values of fast algorithms, and
// message sizes near which the selection changes.
type Search struct {
	Ranges  func(coll.Algorithm) []coll.Range // ranges of an algorithm's parameters; nil if it has none
	Between bool                              // add sizes between the sizes of the space
	Check   func(coll.Candidate) error        // returns nil if a candidate can run
}

// SearchRecorded returns a search for recorded data, which adds candidates of the space `all`. It returns nil if the
// space `grid` has all of them.
func SearchRecorded(all, grid *coll.Space) *Search {
	if all.Size() == grid.Size() {
		return nil
	}
	return &Search{Between: true, Check: func(c coll.Candidate) error {
		if !all.Has(c) {
			return errNotRecorded
		}
		return nil
	}}
}

var errNotRecorded = errors.New("not recorded")

// grow adds algorithms with new parameter values, and message sizes, to the space after a round. If the log has
// candidates that were added after this round, grow adds the same ones.
func (r *run) grow(round int) error {
	if logged, known := r.past.Learning(round); known && len(logged.Grow) > 0 {
		return r.enlarge(logged.Grow)
	}
	_, next := r.past.Learning(round + 1)
	if next || r.problem.Search == nil || r.stopped() != "" || r.spec.Limits.Reached(r.result.Ledger, time.Since(r.began)) != "" {
		return nil
	}
	first, err := r.nextValues()
	if err != nil {
		return err
	}
	if r.problem.Search.Between && activelearn.UsesPosterior(r.spec.Strategy) {
		sizes, err := r.rule.Between(r.problem.Search.Check)
		if err != nil {
			return err
		}
		first = append(first, sizes...)
	}
	if len(first) == 0 {
		return nil
	}
	if err := r.append(journal.Record{Kind: journal.KindGrow, Round: round, Grow: first}); err != nil {
		return err
	}
	return r.enlarge(first)
}

// enlarge adds the points and the algorithms of the given candidates to the space. The next round measures
// the candidates with new algorithms. If there are any, the number of successive evaluations that met the
// stopping criteria is set to 0.
func (r *run) enlarge(more []coll.Candidate) error {
	first, err := enlarge(&r.result, r.problem, more)
	if err != nil {
		return err
	}
	r.trials.retry = append(r.trials.retry, first...)
	r.rule.SpaceGrew(len(first) > 0)
	return nil
}

// enlarge adds the points and the algorithms of the given candidates to the space of a result's ledger. It
// marks the candidates with new algorithms as pending and returns them.
func enlarge(res *Result, p Problem, more []coll.Candidate) (first []coll.Candidate, err error) {
	if p.Search == nil {
		return nil, fmt.Errorf("%s: %w: its space does not grow", p.Problem, ErrLog)
	}
	known := res.Ledger.Space().Algorithms()
	res.Ledger.Grow(res.Ledger.Space().With(more, p.Search.Check))
	for _, c := range more {
		if slices.Contains(known, c.Algorithm) {
			continue
		}
		if err := res.Ledger.Pend(c); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", p.Problem, ErrLog, err)
		}
		first = append(first, c)
	}
	return first, nil
}

// nextValues returns candidates with new algorithms, which are measured before others. The new algorithms
// differ from fast algorithms in a parameter, which has a neighbouring value.
func (r *run) nextValues() ([]coll.Candidate, error) {
	if r.problem.Search.Ranges == nil {
		return nil, nil
	}
	l, err := r.models.Learner()
	if err != nil {
		return nil, err
	}
	a := activelearn.NewAlternatives(l, r.result.Ledger)
	competitive, err := r.competitive(a)
	if err != nil {
		return nil, err
	}
	algorithms := r.result.Ledger.Space().Algorithms()
	at := map[coll.Algorithm][]coll.Point{}
	for _, alg := range algorithms {
		for _, values := range r.problem.Search.Ranges(alg) {
			for _, next := range values.Neighbours(alg, algorithms) {
				at[next] = append(at[next], r.comparable(a, alg, next, competitive[alg])...)
			}
		}
	}
	var first []coll.Candidate
	for next, points := range at {
		for _, p := range evenlySpaced(points) {
			first = append(first, coll.Candidate{Point: p, Algorithm: next})
		}
	}
	slices.SortFunc(first, coll.CompareCandidates)
	return first, nil
}

// competitive returns, for each algorithm, the points of positive weight at which it takes at most growWithin
// times as long as the fastest algorithm. It leaves out points at which the same algorithm is faster with
// another parameter value.
func (r *run) competitive(a activelearn.Alternatives) (map[coll.Algorithm][]coll.Point, error) {
	rows, err := a.Rows(r.rule.MergePoints(r.result.Rounds))
	if err != nil {
		return nil, err
	}
	weight, out := r.problem.weight(), map[coll.Algorithm][]coll.Point{}
	for _, row := range rows {
		if weight.Of(row.Point) == 0 {
			continue
		}
		fastest, best := math.Inf(1), map[string]int{}
		for k, option := range row.Options {
			fastest = min(fastest, option.Seconds)
			if b, ok := best[option.Algorithm.Name]; !ok || option.Seconds < row.Options[b].Seconds {
				best[option.Algorithm.Name] = k
			}
		}
		for _, k := range best {
			if option := row.Options[k]; option.Seconds <= growWithin*fastest {
				out[option.Algorithm] = append(out[option.Algorithm], row.Point)
			}
		}
	}
	return out, nil
}

// comparable returns the points at which the algorithm `next` can run. If the algorithm `alg` was measured
// at some of these points, it returns only those, so that the two algorithms can be compared.
func (r *run) comparable(a activelearn.Alternatives, alg, next coll.Algorithm, points []coll.Point) []coll.Point {
	var all, compared []coll.Point
	for _, p := range points {
		if r.problem.Search.Check(coll.Candidate{Point: p, Algorithm: next}) != nil {
			continue
		}
		all = append(all, p)
		if a.Measured(coll.Candidate{Point: p, Algorithm: alg}) {
			compared = append(compared, p)
		}
	}
	if len(compared) > 0 {
		return compared
	}
	return all
}

// evenlySpaced returns at most growPoints points, evenly spaced from the first to the last.
func evenlySpaced(points []coll.Point) []coll.Point {
	slices.SortFunc(points, coll.ComparePoints)
	points = slices.Compact(points)
	if len(points) <= growPoints {
		return points
	}
	out := make([]coll.Point, growPoints)
	for k := range out {
		out[k] = points[k*(len(points)-1)/(growPoints-1)]
	}
	return out
}
