package metrics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tutti/metrics"
)

func TestSurprisesFactor(t *testing.T) {
	tests := []struct {
		name           string
		expected, seen float64
		low, high      float64 // of the 95 % quantile
	}{
		{"nothing known: an exponential's", 0, 0, 2.99, 3},
		{"as expected", 20, 20, 1.3, 1.5},
		{"twice as many", 20, 40, 2.3, 2.6},
		{"a quarter", 20, 5, 0.4, 0.6},
		{"much expected, nothing seen", 50, 0, 0.05, 0.07},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := (metrics.Surprises{Expected: tc.expected, Seen: tc.seen}).Factor(0.95); got < tc.low || got > tc.high {
				t.Errorf("Factor(0.95) = %g, want %g to %g", got, tc.low, tc.high)
			}
		})
	}
}

// Where the true factor is drawn from what is believed beforehand, the quantile is
// above it as often as it says.
func TestFactorIsCalibrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const runs = 4000
	above := 0
	for range runs {
		factor := rng.ExpFloat64()
		var s metrics.Surprises
		for range 300 {
			p := 0.05 * rng.Float64()
			seen := 0.0
			if rng.Float64() < factor*p {
				seen = 1
			}
			s = s.Add(metrics.Surprises{Expected: p, Seen: seen})
		}
		if s.Factor(0.9) >= factor {
			above++
		}
	}
	if got := float64(above) / runs; math.Abs(got-0.9) > 0.02 {
		t.Errorf("the 90 %% quantile is above the factor in %.3f of the runs", got)
	}
}
