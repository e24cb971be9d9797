package learner_test

import (
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/surrogate/learner"
)

// scaleTimes returns measurements with the times of one algorithm multiplied by a factor.
func scaleTimes(ms []coll.Measurement, alg coll.Algorithm, times float64) []coll.Measurement {
	out := slices.Clone(ms)
	for i := range out {
		if out[i].Algorithm == alg {
			out[i].Seconds *= times
		}
	}
	return out
}

// Two new points and a complete earlier campaign choose almost as well as a complete new campaign,
// within half a percent. That holds if nothing changed and if one algorithm was twice as slow
// earlier. The two points alone do not suffice.
func TestEarlierCampaigns(t *testing.T) {
	all := testutil.SyntheticMeasurements(dense(t))
	points := dense(t)
	now := testutil.SyntheticMeasurements([]coll.Point{points[len(points)/4], points[2*len(points)/3]})
	opt := optionsOf(learner.GaussianProcess)
	most := qualityOf(t, learner.Data{Measurements: all}, opt).Slowdown + 0.005
	if alone := qualityOf(t, learner.Data{Measurements: now}, opt).Slowdown; alone <= most {
		t.Errorf("slowdown %.3f of two points alone, want more than %.3f", alone, most)
	}
	for _, times := range []float64{1, 2} {
		d := learner.Data{Measurements: now, Earlier: [][]coll.Measurement{scaleTimes(all, testutil.SyntheticAlgorithms()[0], times)}}
		if got := qualityOf(t, d, opt).Slowdown; got > most {
			t.Errorf("slowdown %.3f of two points after a campaign in which an algorithm was %g times as slow, want %.3f at most", got, times, most)
		}
	}
}

// An algorithm with measurements in an earlier campaign alone is predicted as well.
func TestEarlierAlgorithm(t *testing.T) {
	known := testutil.SyntheticAlgorithms()[1]
	now := everyKth(t, 25)
	without := slices.DeleteFunc(slices.Clone(now), func(m coll.Measurement) bool { return m.Algorithm == known })
	l := fitData(t, learner.Data{Measurements: without, Earlier: [][]coll.Measurement{now}}, optionsOf(learner.GaussianProcess))
	if !slices.Contains(l.Algorithms(), known) {
		t.Errorf("predicts %v, want %v in addition", l.Algorithms(), known)
	}
	if _, err := l.Predict(dense(t)); err != nil {
		t.Error(err)
	}
}
