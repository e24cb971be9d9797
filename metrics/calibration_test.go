package metrics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tutti/metrics"
)

func TestMistakeCalibration(t *testing.T) {
	var none metrics.MistakeCalibration
	// A gamma variable of shape 2 and rate 3 exceeds x with probability (1 + 3x)·e^(-3x).
	if x := none.Upper(); math.Abs((1+3*x)*math.Exp(-3*x)-0.05) > 1e-9 {
		t.Errorf("upper end %g of the prior", x)
	}
	if got := none.Mean(); math.Abs(got-2./3) > 1e-12 {
		t.Errorf("factor %g of the prior, want 2/3", got)
	}
	fewer, more := none, none
	for range 40 {
		fewer, more = fewer.Add(0.5, 0.05), more.Add(0.5, 1)
	}
	if mean, upper := fewer.Mean(), fewer.Upper(); mean > 0.3 || upper < mean {
		t.Errorf("factor %g, upper end %g where a tenth was found", mean, upper)
	}
	if got := fewer.Upper(); got < 0.1 || got > 0.6 {
		t.Errorf("upper end %g where a tenth was found, want it between 0.1 and 0.6", got)
	}
	if fewer.Expected != 8 || math.Abs(fewer.Found-0.8) > 1e-9 {
		t.Errorf("%g expected and %g found are remembered, want 8 and 0.8", fewer.Expected, fewer.Found)
	}
	if got := more.Upper(); got < 2 || got > 3.5 {
		t.Errorf("upper end %g where twice as much was found, want it between 2 and 3.5", got)
	}
	for range 40 {
		fewer = fewer.Add(0.5, 0.5)
	}
	if got := fewer.Upper(); got < 1 {
		t.Errorf("upper end %g after all expected mistakes were found, want earlier choices forgotten", got)
	}
}

// TestErrorScale checks that At estimates a separate scale for each message size. Distant sizes must not
// affect it, even if they have another scale or more errors.
func TestErrorScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	of := map[int64]float64{8: 0.3, 16: 0.3, 1 << 12: 0.6, 1 << 24: 1.2}
	const runs = 400
	mean := map[int64]float64{}
	for range runs {
		var s metrics.ErrorScale
		for i := range 1200 { // enough to forget the prior
			bytes := []int64{8, 16, 8, 1 << 12, 16, 1 << 24}[i%6]
			s.Add(bytes, of[bytes]*rng.NormFloat64()) // hardly ever 3
		}
		for bytes := range of {
			mean[bytes] += s.At(bytes) / runs
		}
	}
	for bytes, want := range of {
		if math.Abs(mean[bytes]/want-1) > 0.05 {
			t.Errorf("%d B: scale %g on average, want %g", bytes, mean[bytes], want)
		}
	}
}

// TestErrorScaleOfNearbySizes checks that the scale without errors is 1. An error must affect its own size
// most, and distant sizes least.
func TestErrorScaleOfNearbySizes(t *testing.T) {
	var s metrics.ErrorScale
	if got := s.At(64); got != 1 {
		t.Errorf("the scale without errors is %g, want 1", got)
	}
	s.Add(1<<20, 3)
	// One error is three standard deviations, and five errors are one standard deviation. The mean square
	// is (9 + 5) / 6.
	if got, want := s.At(1<<20), math.Sqrt(14.0/6); math.Abs(got-want) > 1e-12 {
		t.Errorf("%g where one error is 3, want %g", got, want)
	}
	last := s.At(1 << 20)
	for octave := 19; octave >= 0; octave-- {
		if here := s.At(1 << octave); !(here < last || here-1 < 1e-9) {
			t.Errorf("%g at %d B, %g at twice as much: want less farther away", here, 1<<octave, last)
		} else {
			last = here
		}
	}
	// The two sizes are 19 octaves apart. The weight of an error falls with a width of 3 octaves.
	d := (math.Log2(1<<20+1) - 1) / 3
	w := math.Exp(-d * d / 2)
	if want := math.Sqrt(1 + w/(5+w)*8); math.Abs(last-want) > 1e-12 || want-1 > 1e-8 {
		t.Errorf("%.12f at a byte, want %.12f", last, want)
	}
}

// TestErrorScaleForgets checks that recent errors have more weight than old ones.
func TestErrorScaleForgets(t *testing.T) {
	var s, first metrics.ErrorScale
	for range 300 {
		s.Add(64, 2)
	}
	for range 300 {
		s.Add(64, 0.5)
		first.Add(64, 0.5)
	}
	if a, b := s.At(64), first.At(64); math.Abs(a/b-1) > 0.05 {
		t.Errorf("%g after other errors, %g without", a, b)
	}
}

// TestErrorScaleOfOutliers checks that an error of more than three standard deviations counts as three.
func TestErrorScaleOfOutliers(t *testing.T) {
	after := func(last float64) float64 {
		var s metrics.ErrorScale
		for _, z := range []float64{0.5, -0.7, 1.2, -0.1, 0.9, 0.3, -1.5, 0.6, last} {
			s.Add(1024, z)
		}
		return s.At(1024)
	}
	if three, wild := after(3), after(-1000); three != wild || three < 1.1*after(0.5) {
		t.Errorf("an error of 3 makes %g, one of -1000 %g, one of 0.5 %g", three, wild, after(0.5))
	}
}
