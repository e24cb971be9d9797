package preprocess_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tutti/coll"
	"tutti/preprocess"
)

// TestNoiseWithin checks that the noise of a measurement is the variance between jobs plus the variance
// that its samples show.
func TestNoiseWithin(t *testing.T) {
	var unknown preprocess.Noise
	m := coll.Measurement{Seconds: 1e-6}
	if got := unknown.Of(m); got != preprocess.MeasurementNoise {
		t.Errorf("noise %g without an interval, want that between jobs", got)
	}
	m.Low, m.High = 1e-6, math.Pow(10, 0.392)*1e-6 // two tenths of a decade in each direction
	want := preprocess.MeasurementNoise + 0.01
	if got := unknown.Of(m); math.Abs(got-want) > 1e-9 {
		t.Errorf("noise %g, want %g", got, want)
	}
}

// replicates returns n replicates, half of them at a small message size and half at a large one. The logarithms of
// their times deviate by `small` and by `large` decades.
func replicates(n int, small, large float64) []preprocess.Replicate {
	rng := rand.New(rand.NewPCG(1, 2))
	var out []preprocess.Replicate
	for i := range n {
		size, sigma := int64(8), small
		if i%2 == 1 {
			size, sigma = 1<<20, large
		}
		at := func() coll.Measurement {
			return coll.Measurement{Candidate: coll.Candidate{Point: coll.Point{MsgBytes: size}}, Seconds: math.Pow(10, sigma*rng.NormFloat64()-5)}
		}
		out = append(out, preprocess.Replicate{First: at(), Again: at()})
	}
	return out
}

// TestNoiseIsLearned checks that the noise is learned for each message size. It must not fall below
// MeasurementNoise, and a single outlier among the replicates must not determine it.
func TestNoiseIsLearned(t *testing.T) {
	small, large := coll.Point{MsgBytes: 8}, coll.Point{MsgBytes: 1 << 20}
	noise := preprocess.NoiseOf(replicates(400, 0.05, 0.01))
	if got := math.Sqrt(noise.Between(small)); got < 0.035 || got > 0.06 {
		t.Errorf("deviation %g at 8 bytes, want 0.05", got)
	}
	if got := math.Sqrt(noise.Between(large)); got < 0.0086 || got > 0.015 {
		t.Errorf("deviation %g at 1 MiB, want 0.01", got)
	}
	if got := preprocess.NoiseOf(replicates(100, 0.001, 0.001)).Between(small); got != preprocess.MeasurementNoise {
		t.Errorf("noise %g of a quiet machine, want %g", got, preprocess.MeasurementNoise)
	}
	if got, want := noise.WithJob(0.01).Between(large), preprocess.MeasurementNoise+0.01; math.Abs(got-want) > 1e-15 {
		t.Errorf("variance %g at 1 MiB where that of jobs is 0.01, want %g", got, want)
	}
	if got, want := noise.WithJob(1e-5).Between(small), noise.Between(small); got != want {
		t.Errorf("variance %g at 8 bytes where jobs do less than repeats show, want %g", got, want)
	}
	quiet := replicates(20, 0.01, 0.01)
	quiet[0].Again.Seconds *= 1000
	if got := math.Sqrt(preprocess.NoiseOf(quiet).Between(small)); got > 0.02 {
		t.Errorf("deviation %g with one repeat a thousand times as long", got)
	}
}

// TestDisturbed checks when the first measurement of a candidate counts as disturbed: if the second one is faster by
// more than the noise explains. Larger noise explains a larger difference.
func TestDisturbed(t *testing.T) {
	at := func(seconds float64) coll.Measurement {
		return coll.Measurement{Candidate: coll.Candidate{Point: coll.Point{MsgBytes: 8}}, Seconds: seconds}
	}
	quiet, noisy := preprocess.Noise{}, preprocess.NoiseOf(replicates(400, 0.05, 0.05))
	for _, tc := range []struct {
		first, again float64
		quiet, noisy bool
	}{
		{1.05, 1, false, false},
		{1.3, 1, true, false}, // four deviations are 12 %; with a noise of 12 % they are 92 %
		{3, 1, true, true},
		{1, 3, false, false},
	} {
		r := preprocess.Replicate{First: at(tc.first), Again: at(tc.again)}
		if got := quiet.Disturbed(r); got != tc.quiet {
			t.Errorf("%g after %g on a quiet machine: disturbed %v", tc.again, tc.first, got)
		}
		if got := noisy.Disturbed(r); got != tc.noisy {
			t.Errorf("%g after %g on a noisy machine: disturbed %v", tc.again, tc.first, got)
		}
	}
}
