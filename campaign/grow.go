package campaign

import (
	"fmt"
	"math"
	"slices"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/journal"
)

// Search says how the space of a problem may grow: by other values of the parameters of
// algorithms that are fast.
type Search struct {
	Ranges func(coll.Algorithm) []coll.Range // of the parameters that it takes
	Check  func(coll.Candidate) error        // nil where a candidate can run
}

const (
	// A value is looked beside where it is the best of its algorithm and within so much of
	// the fastest. Listed values are about four times apart, so that one of them is at most
	// twice or half the best v, and costs a fourth more than it at most where a time is
	// a·v + b/v + c: a startup for each segment, and a segment to fill the pipe.
	growWithin = 1.25
	// A new algorithm is first measured at so many points.
	growPoints = 3
)

// grow adds to the space what the log says it had after a round, else what is worth trying
// beside the values of parameters that are fast by then. It reports whether there was any:
// then the criteria must hold again.
func (r *run) grow(round int) (bool, error) {
	if logged, known := r.past.Round(round); known && len(logged.Grow) > 0 {
		return true, r.enlarge(logged.Grow)
	}
	_, went := r.past.Round(round + 1)
	if went || r.problem.Search == nil || r.stopped() != "" || !r.mayGrow() {
		return false, nil
	}
	first, err := r.beside()
	if err != nil || len(first) == 0 {
		return false, err
	}
	if err := r.append(journal.Record{Kind: journal.KindGrow, Round: round, Grow: first}); err != nil {
		return false, err
	}
	return true, r.enlarge(first)
}

// mayGrow reports whether no limit ends the problem after this round.
func (r *run) mayGrow() bool {
	stop := r.spent()
	return stop == "" || stop == activelearn.SpaceExhausted
}

// enlarge makes the space hold the algorithms of candidates, which the next round measures.
func (r *run) enlarge(first []coll.Candidate) error {
	if err := enlarge(&r.result, r.problem, first); err != nil {
		return err
	}
	r.retry = append(r.retry, first...)
	r.watch.Again()
	return nil
}

// enlarge makes the ledger of a result one of a space with the algorithms of candidates,
// which are asked for.
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

// beside returns what is first measured of algorithms that are worth trying beside those
// that are fast by what was learnt.
func (r *run) beside() ([]coll.Candidate, error) {
	l, err := r.current()
	if err != nil {
		return nil, err
	}
	o := newOptions(l, r.ledger)
	fast, err := r.fast(o)
	if err != nil {
		return nil, err
	}
	known := r.ledger.Space().Algorithms()
	at := map[coll.Algorithm][]coll.Point{}
	for _, alg := range known {
		for _, of := range r.problem.Search.Ranges(alg) {
			for _, next := range of.Beside(alg, known) {
				at[next] = append(at[next], r.places(o, alg, next, fast[alg])...)
			}
		}
	}
	var first []coll.Candidate
	for next, points := range at {
		for _, p := range spread(points) {
			first = append(first, coll.Candidate{Point: p, Algorithm: next})
		}
	}
	slices.SortFunc(first, coll.CompareCandidates)
	return first, nil
}

// fast returns the points that matter at which an algorithm is within growWithin of the
// fastest, and no other value of its parameters is faster.
func (r *run) fast(o options) (map[coll.Algorithm][]coll.Point, error) {
	points := r.problem.Space.Points()
	if len(points) > mergedPoints {
		points = r.samplePoints(r.result.Rounds)
	}
	rows, err := o.rows(points)
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

// places are those of some points at which next can run; only those at which alg was
// measured, where there are any, so that the two can be compared.
func (r *run) places(o options, alg, next coll.Algorithm, points []coll.Point) []coll.Point {
	var all, compared []coll.Point
	for _, p := range points {
		if r.problem.Search.Check(coll.Candidate{Point: p, Algorithm: next}) != nil {
			continue
		}
		all = append(all, p)
		if _, measured := o.measured[coll.Candidate{Point: p, Algorithm: alg}]; measured {
			compared = append(compared, p)
		}
	}
	if len(compared) > 0 {
		return compared
	}
	return all
}

// spread returns growPoints of some points: the first, the last and those between.
func spread(points []coll.Point) []coll.Point {
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
