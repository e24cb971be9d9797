package campaign

import (
	"fmt"
	"math"
	"slices"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/journal"
)

// Search says how the space of a problem may grow: by further values of the parameters of fast
// algorithms.
type Search struct {
	Ranges func(coll.Algorithm) []coll.Range // of the parameters that it takes
	Check  func(coll.Candidate) error        // nil where a candidate can run
}

const (
	// Values next to a value are tried where it is the best of its algorithm and within so much
	// of the fastest. Listed values are about four times apart. So one of them is at most twice
	// or half the best value v, and at most a fourth slower where a time is a·v + b/v + c: a
	// startup for each segment, and a segment that fills the pipe.
	growWithin = 1.25
	// A new algorithm is first measured at so many points.
	growPoints = 3
)

// grow adds to the space what the log says it had after a round, else values next to those that
// are fast by then. It reports whether there were any: then the criteria must hold again.
func (r *run) grow(round int) (bool, error) {
	if logged, known := r.past.Round(round); known && len(logged.Grow) > 0 {
		return true, r.enlarge(logged.Grow)
	}
	_, next := r.past.Round(round + 1)
	if next || r.problem.Search == nil || r.stopped() != "" || !r.mayGrow() {
		return false, nil
	}
	first, err := r.nextValues()
	if err != nil || len(first) == 0 {
		return false, err
	}
	if err := r.recorder.append(journal.Record{Kind: journal.KindGrow, Round: round, Grow: first}); err != nil {
		return false, err
	}
	return true, r.enlarge(first)
}

// mayGrow reports whether no limit ends the problem after this round.
func (r *run) mayGrow() bool {
	limit := r.limitReached()
	return limit == "" || limit == activelearn.SpaceExhausted
}

// enlarge adds the algorithms of candidates to the space. The next round measures the candidates.
func (r *run) enlarge(first []coll.Candidate) error {
	if err := enlarge(&r.result, r.problem, first); err != nil {
		return err
	}
	r.trials.retry = append(r.trials.retry, first...)
	r.rule.SpaceGrew()
	return nil
}

// enlarge adds the algorithms of candidates to the space of a result's ledger, and marks the
// candidates as pending.
func enlarge(res *Result, p Problem, first []coll.Candidate) error {
	if p.Search == nil {
		return fmt.Errorf("%s: %w: its space does not grow", p.Problem, ErrLog)
	}
	res.Ledger.Grow(res.Ledger.Space().With(coll.AlgorithmsOf(first), p.Search.Check))
	for _, c := range first {
		if err := res.Ledger.Pend(c); err != nil {
			return fmt.Errorf("%s: %w: %w", p.Problem, ErrLog, err)
		}
	}
	return nil
}

// nextValues returns the first candidates of algorithms that have values of parameters next to
// those that are fast.
func (r *run) nextValues() ([]coll.Candidate, error) {
	l, err := r.models.Fit()
	if err != nil {
		return nil, err
	}
	a := activelearn.NewAlternatives(l, r.result.Ledger)
	competitive, err := r.competitive(a)
	if err != nil {
		return nil, err
	}
	known := r.result.Ledger.Space().Algorithms()
	at := map[coll.Algorithm][]coll.Point{}
	for _, alg := range known {
		for _, of := range r.problem.Search.Ranges(alg) {
			for _, next := range of.Beside(alg, known) {
				at[next] = append(at[next], r.comparable(a, alg, next, competitive[alg])...)
			}
		}
	}
	var first []coll.Candidate
	for next, points := range at {
		for _, p := range spreadOut(points) {
			first = append(first, coll.Candidate{Point: p, Algorithm: next})
		}
	}
	slices.SortFunc(first, coll.CompareCandidates)
	return first, nil
}

// competitive returns the points that matter at which an algorithm is within growWithin of the
// fastest, and no other value of its parameters is faster.
func (r *run) competitive(a activelearn.Alternatives) (map[coll.Algorithm][]coll.Point, error) {
	rows, err := a.Rows(r.rule.MergePoints(r.result.Rounds))
	if err != nil {
		return nil, err
	}
	out := map[coll.Algorithm][]coll.Point{}
	for _, row := range rows {
		if r.problem.Weights != nil && r.problem.weight(row.Point) == 0 {
			continue
		}
		fastest, best := math.Inf(1), map[string]int{}
		for k, option := range row.Options {
			fastest = min(fastest, option.Seconds)
			if b, known := best[option.Algorithm.Name]; !known || option.Seconds < row.Options[b].Seconds {
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

// comparable returns the points at which next can run: those at which alg was measured where
// there are any, so that the two can be compared.
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

// spreadOut returns growPoints of some points: the first, the last and those between.
func spreadOut(points []coll.Point) []coll.Point {
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
