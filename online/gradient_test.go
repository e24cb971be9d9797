package online

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestGain checks the expected gain from timing an algorithm once more. It must agree with the average gain
// over random draws of the new time.
func TestGain(t *testing.T) {
	tests := []struct{ mean, sd, best, noise float64 }{
		{0, 0.7, 1, 0.0025}, {0.5, 0.4, 1, 0.01}, {-0.3, 0.3, 1.2, 0.01}, {0, 0.05, 1, 0.0025},
	}
	for _, tc := range tests {
		j := &Joint{mean: []float64{tc.mean}, cov: [][]float64{{tc.sd * tc.sd}}}
		now := j.Expected(0)
		rng := rand.New(rand.NewPCG(1, 2))
		const n = 40_000
		sum := 0.0
		for range n {
			after := &Joint{mean: []float64{tc.mean}, cov: [][]float64{{tc.sd * tc.sd}}}
			truth := tc.mean + tc.sd*rng.NormFloat64()
			after.Observe(0, truth+math.Sqrt(tc.noise)*rng.NormFloat64(), tc.noise)
			sum += min(now, tc.best) - min(after.Expected(0), tc.best)
		}
		if got, want := j.gain(0, 1, tc.best, tc.noise), sum/n; math.Abs(got-want) > 0.01*now {
			t.Errorf("%+v: gain %g, drawn %g", tc, got, want)
		}
	}
}

// TestObserve checks that Observe gives the conditional normal distribution that textbooks state. It uses
// two entries with the correlation 0.8.
func TestObserve(t *testing.T) {
	j := &Joint{mean: []float64{0, 1}, cov: [][]float64{{1, 0.8}, {0.8, 1}}}
	j.Observe(0, 2, 1)
	for name, v := range map[string][2]float64{
		"mean": {j.mean[0], 1}, "the other's mean": {j.mean[1], 1.8},
		"variance": {j.cov[0][0], 0.5}, "covariance": {j.cov[0][1], 0.4}, "the other's variance": {j.cov[1][1], 0.68},
	} {
		if math.Abs(v[0]-v[1]) > 1e-12 {
			t.Errorf("%s %g, want %g", name, v[0], v[1])
		}
	}
}
