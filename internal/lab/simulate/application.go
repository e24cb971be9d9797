package simulate

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tutti/coll"
	"tutti/online"
	"tutti/preprocess"
)

// Class describes the calls of an application at one recorded point.
type Class struct {
	online.Class           // the first algorithm is coll.Default
	Calls        float64   // number of calls in one run of the application
	Seconds      []float64 // recorded time of a call, by algorithm
}

// Best returns the index of the fastest algorithm of the class.
func (c Class) Best() int { return floats.MinIdx(c.Seconds) }

// Application contains the calls of an application and the recorded times of a machine.
type Application struct {
	Name       string
	Classes    []Class
	Unrecorded float64 // share of the calls whose collective has no recorded times
}

// maxCalls limits the calls of one simulated run of an application. More calls are an error.
const maxCalls = 2_000_000

var errNoDefault = errors.New("no recorded time of " + coll.Default.String())

// NewApplication replaces the point of each traced call by the nearest recorded point of its collective.
// The distance is in doublings of nodes, processes per node and bytes. It ignores excluded algorithms, and
// points that have no time of coll.Default, the library's own choice.
//
// It returns an error if no call has a point, or if there are more than maxCalls. It takes O(recorded
// points · distinct calls) time.
func NewApplication(name string, trace []preprocess.Calls, recorded []coll.Measurement, excluded []coll.Algorithm) (Application, error) {
	app := Application{Name: name}
	at := byPoint(recorded, excluded)
	trace = withoutSeconds(trace)
	all, recordedCalls := 0.0, 0.0
	for _, collective := range coll.BlockingCollectives() { // libtutti serves no others
		points := slices.DeleteFunc(pointsWithDefault(at), func(p coll.Point) bool { return p.Collective != collective })
		calls := preprocess.CallWeight(collective, trace)
		all += calls
		weights, _, ok := preprocess.CallWeights(points, trace)
		if !ok {
			continue
		}
		recordedCalls += calls
		for i, w := range weights {
			if w > 0 {
				app.Classes = append(app.Classes, newClass(points[i], calls*w/float64(len(points)), at[points[i]]))
			}
		}
	}
	switch {
	case len(app.Classes) == 0:
		return app, fmt.Errorf("%s: no call has a recorded point: %w", name, errNoDefault)
	case recordedCalls > maxCalls:
		return app, fmt.Errorf("%s: %g calls: want %d at most", name, recordedCalls, maxCalls)
	}
	app.Unrecorded = 1 - recordedCalls/all
	return app, nil
}

func pointsWithDefault(at map[coll.Point][]coll.Measurement) []coll.Point {
	var points []coll.Point
	for point, ms := range at {
		if slices.ContainsFunc(ms, isDefault) {
			points = append(points, point)
		}
	}
	slices.SortFunc(points, coll.ComparePoints)
	return points
}

// byPoint returns the recorded measurements of each point, without excluded algorithms.
func byPoint(recorded []coll.Measurement, excluded []coll.Algorithm) map[coll.Point][]coll.Measurement {
	at := map[coll.Point][]coll.Measurement{}
	for _, m := range recorded {
		if !slices.Contains(excluded, m.Algorithm) {
			at[m.Point] = append(at[m.Point], m)
		}
	}
	return at
}

func isDefault(m coll.Measurement) bool { return m.Algorithm.IsDefault() }

// withoutSeconds removes the times from the calls of a trace, so that only the number of calls determines
// their weight.
func withoutSeconds(trace []preprocess.Calls) []preprocess.Calls {
	out := slices.Clone(trace)
	for i := range out {
		out[i].Seconds = 0
	}
	return out
}

// newClass returns the class with the calls at a point. If an algorithm has several measurements, newClass uses the
// first one.
func newClass(p coll.Point, calls float64, ms []coll.Measurement) Class {
	slices.SortStableFunc(ms, func(a, b coll.Measurement) int {
		switch {
		case isDefault(a) && !isDefault(b):
			return -1
		case isDefault(b) && !isDefault(a):
			return 1
		}
		return coll.CompareAlgorithms(a.Algorithm, b.Algorithm)
	})
	c := Class{Class: online.Class{Point: p}, Calls: calls}
	for _, m := range ms {
		if n := len(c.Algorithms); n == 0 || c.Algorithms[n-1] != m.Algorithm {
			c.Algorithms = append(c.Algorithms, m.Algorithm)
			c.Seconds = append(c.Seconds, m.Seconds)
		}
	}
	return c
}
