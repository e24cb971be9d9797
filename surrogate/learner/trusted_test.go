package learner_test

import (
	"math"
	"testing"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// noisy are repeats that differ by so many decades.
func noisy(ms []coll.Measurement, decades float64) []preprocess.Replicate {
	var out []preprocess.Replicate
	for _, m := range ms {
		again := m
		again.Seconds *= math.Pow(10, decades)
		out = append(out, preprocess.Replicate{First: m, Again: again})
	}
	return out
}

// Where repeats agree every measurement stands for its prediction. Where they do not, only
// those do that are far from what is believed: a surprise.
func TestStanding(t *testing.T) {
	ms := few(t, 20)
	opt := learner.Options{Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess}
	quiet := fit(t, ms, opt)
	if got := quiet.TrustedMeasurements(ms); len(got) != len(ms) {
		t.Errorf("%d of %d measurements stand on a quiet machine", len(got), len(ms))
	}
	d := learner.Data{Measurements: ms, Replicates: noisy(ms, 0.1)}
	l := fitData(t, d, opt)
	if got, want := math.Sqrt(l.Noise().Of(ms[0])), 0.1/math.Sqrt(2*0.455); math.Abs(got-want) > 0.01 {
		t.Errorf("deviation %g, want %g", got, want)
	}
	if got := l.TrustedMeasurements(ms); len(got) > len(ms)/10 {
		t.Errorf("%d of %d measurements stand on a noisy machine", len(got), len(ms))
	}
	surprise := ms[7]
	surprise.Seconds *= 1000
	if _, stands := l.TrustedMeasurements([]coll.Measurement{surprise})[surprise.Candidate]; !stands {
		t.Error("a measurement a thousand times as long as believed does not stand")
	}
	forests := fitData(t, d, learner.Options{Scaling: preprocess.AlgorithmLog10})
	if got := forests.TrustedMeasurements(ms); len(got) != len(ms) {
		t.Errorf("%d of %d measurements stand for forests, which take no noise into account", len(got), len(ms))
	}
}
