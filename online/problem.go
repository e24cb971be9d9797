package online

import (
	"errors"
	"fmt"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
)

// Class is what calls have in common that one decision holds for.
type Class struct {
	coll.Point
	Calls      float64          // in one run of the application
	Algorithms []coll.Algorithm // what can run here; the first is coll.Default
	Seconds    []float64        // of a call with each, undisturbed
}

// Best returns the fastest algorithm.
func (c Class) Best() int { return fastest(c.Seconds) }

// fastest returns the place of the least number.
func fastest(seconds []float64) int {
	best := 0
	for a, t := range seconds {
		if t < seconds[best] {
			best = a
		}
	}
	return best
}

// Problem is an application on a machine whose times are recorded.
type Problem struct {
	Name    string
	Classes []Class
	Left    float64 // share of the application's calls of collectives without recorded times
}

// mostCallsOfRun bounds what one run is asked to make.
const mostCallsOfRun = 2_000_000

var errNoDefault = errors.New("no recorded time of " + coll.Default.String())

// NewProblem brings the calls of an application to where times were recorded: each counts
// at the nearest such point of its collective, in doublings of nodes, ppn and bytes. Points
// without a time of coll.Default, the library as shipped, are none. excluded algorithms
// are left out everywhere.
//
// It is an error when no call has a place, or there are too many.
// O(recorded points · distinct calls).
func NewProblem(name string, trace []preprocess.Calls, recorded []coll.Measurement, excluded []coll.Algorithm) (Problem, error) {
	p := Problem{Name: name}
	at := recordedAt(recorded, excluded)
	all, placed := 0.0, 0.0
	for _, collective := range coll.Collectives() {
		var points []coll.Point
		for point, ms := range at {
			if point.Collective == collective && slices.ContainsFunc(ms, isDefault) {
				points = append(points, point)
			}
		}
		slices.SortFunc(points, coll.ComparePoints)
		calls := callsOf(trace, collective)
		all += calls
		weights, _, ok := preprocess.CallWeights(points, withoutSeconds(trace))
		if !ok {
			continue
		}
		placed += calls
		for i, w := range weights {
			if w > 0 {
				p.Classes = append(p.Classes, newClass(points[i], calls*w/float64(len(points)), at[points[i]]))
			}
		}
	}
	switch {
	case len(p.Classes) == 0:
		return p, fmt.Errorf("%s: no call has a place: %w", name, errNoDefault)
	case placed > mostCallsOfRun:
		return p, fmt.Errorf("%s: %g calls: want %d at most", name, placed, mostCallsOfRun)
	}
	p.Left = 1 - placed/all
	return p, nil
}

// recordedAt returns what was recorded at each point, without excluded algorithms.
func recordedAt(recorded []coll.Measurement, excluded []coll.Algorithm) map[coll.Point][]coll.Measurement {
	at := map[coll.Point][]coll.Measurement{}
	for _, m := range recorded {
		if !slices.Contains(excluded, m.Algorithm) {
			at[m.Point] = append(at[m.Point], m)
		}
	}
	return at
}

func isDefault(m coll.Measurement) bool { return m.Algorithm.IsDefault() }

func callsOf(trace []preprocess.Calls, c coll.Collective) float64 {
	sum := 0.0
	for _, calls := range trace {
		if calls.Collective == c {
			sum += calls.Calls
		}
	}
	return sum
}

// withoutSeconds makes calls count as often as they are made.
func withoutSeconds(trace []preprocess.Calls) []preprocess.Calls {
	out := slices.Clone(trace)
	for i := range out {
		out[i].Seconds = 0
	}
	return out
}

func newClass(p coll.Point, calls float64, ms []coll.Measurement) Class {
	slices.SortStableFunc(ms, func(a, b coll.Measurement) int {
		switch {
		case isDefault(a) != isDefault(b) && isDefault(a):
			return -1
		case isDefault(a) != isDefault(b):
			return 1
		}
		return coll.CompareAlgorithms(a.Algorithm, b.Algorithm)
	})
	c := Class{Point: p, Calls: calls}
	for _, m := range ms {
		if n := len(c.Algorithms); n > 0 && c.Algorithms[n-1] == m.Algorithm {
			continue // measured again: the first counts
		}
		c.Algorithms = append(c.Algorithms, m.Algorithm)
		c.Seconds = append(c.Seconds, m.Seconds)
	}
	return c
}
