package metrics_test

import (
	"fmt"
	"math"
	"testing"

	"tutti/metrics"
)

func TestAllowed(t *testing.T) {
	tests := []struct {
		name    string
		allowed metrics.Allowed
		lost    float64
		want    float64
	}{
		{"the defaults, no mistake", metrics.Allowed{}, 0.06, 2},
		{"the defaults, a mistake", metrics.Allowed{}, 0.12, 4 + 20},
		{"at the threshold it is none", metrics.Allowed{}, 0.10, 0.10 / 0.03},
		{"a threshold of its own", metrics.Allowed{Threshold: 0.05}, 0.06, 2 + 20},
		{"more slowdown is allowed", metrics.Allowed{Slowdown: 0.06}, 0.06, 1},
		{"fewer mistakes are allowed", metrics.Allowed{Mistakes: 0.01}, 0.12, 4 + 100},
		{"criteria that never hold take the defaults", metrics.Allowed{Slowdown: -1}, 0.06, 2},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.allowed.LossOf(tc.lost); math.Abs(got-tc.want) > 1e-9 {
				t.Errorf("LossOf(%g) = %g, want %g", tc.lost, got, tc.want)
			}
		})
	}
}

func ExampleAllowed_Price() {
	all := metrics.Summary{Slowdown: 1.02, Mistakes: 0.05}
	fmt.Printf("%.3f\n", metrics.Allowed{}.Price(all))
	// Output: 1.050
}
