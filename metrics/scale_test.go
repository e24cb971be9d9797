package metrics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tutti/metrics"
)

// The scale is found in batches, whatever it is, and its upper end is above it at least
// as often as it says.
func TestScale(t *testing.T) {
	if got := (metrics.Scale{}).At(0); got != 1 {
		t.Errorf("a scale that nothing is known of is %g, want 1", got)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, want := range []float64{0.4, 0.7, 1} {
		const runs = 400
		above, mean := 0, 0.0
		for range runs {
			var s metrics.Scale
			for range 60 { // what is believed at first has faded
				batch := make([]float64, 10)
				for i := range batch {
					batch[i] = want * rng.NormFloat64()
				}
				s = s.Add(batch)
			}
			mean += s.At(0) / runs
			if s.At(1.645) > want {
				above++
			}
		}
		if math.Abs(mean/want-1) > 0.05 {
			t.Errorf("scale %g: %g on average", want, mean)
		}
		if share := float64(above) / runs; share < 0.93 {
			t.Errorf("scale %g: the upper end is above it in %.3f of the runs, want 0.95 or more", want, share)
		}
	}
}

// A wild error counts, but as three deviations.
func TestScaleOfWildErrors(t *testing.T) {
	var s metrics.Scale
	s = s.Add([]float64{0.5, -0.7, 1.2, -0.1, 0.9, 0.3, -1.5, 0.6})
	if three, wild := s.Add([]float64{3}), s.Add([]float64{-1000}); three != wild || three.At(0) < 1.1*s.At(0) {
		t.Errorf("an error of 3 makes %+v of %+v, one of -1000 %+v", three, s, wild)
	}
}
