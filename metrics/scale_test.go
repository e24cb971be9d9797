package metrics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tutti/metrics"
)

// The scale is found in batches, whatever it is.
func TestScale(t *testing.T) {
	if got := (metrics.Scale{}).Root(); got != 1 {
		t.Errorf("a scale that nothing is known of is %g, want 1", got)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, want := range []float64{0.4, 0.7, 1} {
		const runs = 400
		mean := 0.0
		for range runs {
			var s metrics.Scale
			for range 60 { // what is believed at first has faded
				batch := make([]float64, 10)
				for i := range batch {
					batch[i] = want * rng.NormFloat64()
				}
				s = s.Add(batch)
			}
			mean += s.Root() / runs
		}
		if math.Abs(mean/want-1) > 0.05 {
			t.Errorf("scale %g: %g on average", want, mean)
		}
	}
}

// A wild error counts, but as three deviations.
func TestScaleOfWildErrors(t *testing.T) {
	var s metrics.Scale
	s = s.Add([]float64{0.5, -0.7, 1.2, -0.1, 0.9, 0.3, -1.5, 0.6})
	if three, wild := s.Add([]float64{3}), s.Add([]float64{-1000}); three != wild || three.Root() < 1.1*s.Root() {
		t.Errorf("an error of 3 makes %+v of %+v, one of -1000 %+v", three, s, wild)
	}
}
