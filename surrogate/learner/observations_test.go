package learner_test

import (
	"math"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

func TestLengthScalesMatchColumns(t *testing.T) {
	rows := preprocess.SurrogateRows([]coll.Point{line(0)})
	if got := len(learner.LengthScales()); got != len(rows[0]) {
		t.Errorf("%d length scales for %d columns", got, len(rows[0]))
	}
}

// The variance of a measurement's samples becomes extra noise.
func TestObservationsHaveExtraNoise(t *testing.T) {
	m := coll.Measurement{Seconds: 1e-6, Low: 1e-6, High: math.Pow(10, 0.392) * 1e-6}
	o := learner.Observations([]coll.Measurement{m}, map[coll.Algorithm]int{{}: 0}, preprocess.Noise{})
	if math.Abs(o.Extra[0]-0.01) > 1e-9 {
		t.Errorf("extra noise %g, want 0.01", o.Extra[0])
	}
}

func TestObservations(t *testing.T) {
	a, b := coll.Algorithm{Name: "a"}, coll.Algorithm{Name: "b"}
	p, q := coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8}, coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 1, MsgBytes: 8}
	m := func(p coll.Point, a coll.Algorithm, seconds float64) coll.Measurement {
		return coll.Measurement{Candidate: coll.Candidate{Point: p, Algorithm: a}, Seconds: seconds}
	}
	o := learner.Observations([]coll.Measurement{m(q, b, 0.1), m(p, b, 1), m(q, a, 10)}, map[coll.Algorithm]int{a: 0, b: 1}, preprocess.Noise{})
	if want := []int{0, 1, 0}; !slices.Equal(o.At, want) {
		t.Errorf("rows %v, want %v", o.At, want)
	}
	if want := []int{1, 1, 0}; !slices.Equal(o.Task, want) {
		t.Errorf("tasks %v, want %v", o.Task, want)
	}
	if want := []float64{-1, 0, 1}; !nearly(o.Y, want) || len(o.X) != 2 {
		t.Errorf("targets %v at %d rows, want %v at 2", o.Y, len(o.X), want)
	}
	if o.Source != nil {
		t.Errorf("sources %v, want none", o.Source)
	}
	with := learner.Observations([]coll.Measurement{m(q, b, 0.1)}, map[coll.Algorithm]int{b: 0}, preprocess.Noise{},
		[]coll.Measurement{m(p, b, 1), m(q, a, 10)}, []coll.Measurement{m(q, b, 100)})
	if want := []int{0, 1, 2}; !slices.Equal(with.Source, want) || !slices.Equal(with.At, []int{0, 1, 0}) || !nearly(with.Y, []float64{-1, 0, 2}) {
		t.Errorf("with earlier ones: sources %v, want %v; %+v", with.Source, want, with)
	}
}

// Jobs are numbered in the order of their first measurement, separately for each campaign. A
// measurement without a job has the number 0.
func TestObservationsOfJobs(t *testing.T) {
	a := coll.Algorithm{Name: "a"}
	m := func(job string) coll.Measurement {
		return coll.Measurement{Candidate: coll.Candidate{Algorithm: a}, Seconds: 1, Job: job}
	}
	o := learner.Observations([]coll.Measurement{m("x"), m(""), m("y"), m("x")}, map[coll.Algorithm]int{a: 0}, preprocess.Noise{},
		[]coll.Measurement{m("x"), m("y")}, []coll.Measurement{m("x")})
	if want := []int{1, 0, 2, 1, 3, 4, 5}; !slices.Equal(o.Job, want) {
		t.Errorf("jobs %v, want %v", o.Job, want)
	}
}

func nearly(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
}
