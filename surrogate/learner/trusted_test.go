package learner_test

import (
	"math"
	"testing"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// noisyReplicates returns replicates whose two times differ by the given number of decades.
func noisyReplicates(ms []coll.Measurement, decades float64) []preprocess.Replicate {
	var out []preprocess.Replicate
	for _, m := range ms {
		again := m
		again.Seconds *= math.Pow(10, decades)
		out = append(out, preprocess.Replicate{First: m, Again: again})
	}
	return out
}

// If replicates agree, every measurement is trusted. If they differ, only measurements far from
// their predictions are trusted.
func TestTrustedMeasurements(t *testing.T) {
	ms := everyKth(t, 20)
	opt := learner.Options{Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess}
	quiet := fit(t, ms, opt)
	if got := quiet.TrustedMeasurements(ms); len(got) != len(ms) {
		t.Errorf("%d of %d measurements are trusted on a quiet machine", len(got), len(ms))
	}
	d := learner.Data{Measurements: ms, Replicates: noisyReplicates(ms, 0.1)}
	l := fitData(t, d, opt)
	if got, want := math.Sqrt(l.Noise().Of(ms[0])), 0.1/math.Sqrt(2*0.455); math.Abs(got-want) > 0.01 {
		t.Errorf("deviation %g, want %g", got, want)
	}
	if got := l.TrustedMeasurements(ms); len(got) > len(ms)/10 {
		t.Errorf("%d of %d measurements are trusted on a noisy machine", len(got), len(ms))
	}
	surprise := ms[7]
	surprise.Seconds *= 1000
	if _, stands := l.TrustedMeasurements([]coll.Measurement{surprise})[surprise.Candidate]; !stands {
		t.Error("a measurement a thousand times as long as predicted is not trusted")
	}
	forests := fitData(t, d, learner.Options{Scaling: preprocess.AlgorithmLog10})
	if got := forests.TrustedMeasurements(ms); len(got) != len(ms) {
		t.Errorf("%d of %d measurements are trusted by forests, which ignore noise", len(got), len(ms))
	}
}
