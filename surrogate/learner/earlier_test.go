package learner_test

import (
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/test/synthetic"
	"tutti/surrogate/learner"
)

// slower returns measurements in which one algorithm takes so many times as long.
func slower(ms []coll.Measurement, alg coll.Algorithm, times float64) []coll.Measurement {
	out := slices.Clone(ms)
	for i := range out {
		if out[i].Algorithm == alg {
			out[i].Seconds *= times
		}
	}
	return out
}

// A complete earlier campaign and two new points choose almost as well as everything
// does, be it that nothing changed or that one algorithm was twice as slow.
func TestEarlierCampaigns(t *testing.T) {
	all := synthetic.Measurements(dense(t))
	points := dense(t)
	now := synthetic.Measurements([]coll.Point{points[len(points)/4], points[2*len(points)/3]})
	for _, model := range []learner.Model{learner.GaussianProcess, learner.Stack} {
		opt := modelled(model)
		alone := compared(t, now, opt).Slowdown
		for _, times := range []float64{1, 2} {
			opt.Earlier = [][]coll.Measurement{slower(all, synthetic.Algorithms()[0], times)}
			got := compared(t, now, opt).Slowdown
			t.Logf("%s: slowdown %.3f of two points, %.3f with an earlier campaign %g times as slow in one algorithm", model, alone, got, times)
			if got > 1.02 || got > alone {
				t.Errorf("%s: slowdown %.3f with an earlier campaign, %.3f without: want 1.02 at most", model, got, alone)
			}
		}
	}
}

// An algorithm that only an earlier campaign measured is predicted all the same.
func TestEarlierAlgorithm(t *testing.T) {
	known := synthetic.Algorithms()[1]
	now := few(t, 25)
	without := slices.DeleteFunc(slices.Clone(now), func(m coll.Measurement) bool { return m.Algorithm == known })
	for _, model := range []learner.Model{learner.GaussianProcess, learner.Stack} {
		opt := modelled(model)
		opt.Earlier = [][]coll.Measurement{now}
		l := fit(t, without, opt)
		if !slices.Contains(l.Algorithms(), known) {
			t.Errorf("%s predicts %v, want %v, too", model, l.Algorithms(), known)
		}
		if _, err := l.Predict(dense(t)); err != nil {
			t.Errorf("%s: %v", model, err)
		}
	}
}
