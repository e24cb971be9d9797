package metrics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"tutti/metrics"
)

func ExampleRobustDeviation() {
	fmt.Printf("%.2f\n", metrics.RobustDeviation([]float64{1, 2, 3, 4, 1e6}))
	// Output: 1.48
}

// TestQuantile checks that quantiles of unsorted numbers equal quantiles of the sorted numbers, also if
// some numbers are equal.
func TestQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 60; n++ {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(rng.IntN(20))
		}
		sorted := slices.Sorted(slices.Values(x))
		for _, q := range []float64{0, 0.25, 0.5, 0.97, 1} {
			place := q * float64(n-1)
			low, high := sorted[int(math.Floor(place))], sorted[int(math.Ceil(place))]
			want := low + (place-math.Floor(place))*(high-low)
			if got := metrics.Quantile(slices.Clone(x), q); math.Abs(got-want) > 1e-12 {
				t.Errorf("%g of %v: %g, want %g", q, sorted, got, want)
			}
		}
	}
}

// TestRobustDeviation checks an estimate for normal numbers of which a tenth are replaced by outliers. It
// must stay close to the standard deviation of the normal numbers.
func TestRobustDeviation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	x := make([]float64, 10000)
	for i := range x {
		x[i] = 5 + 0.3*rng.NormFloat64()
		if i%10 == 0 {
			x[i] = 1e9
		}
	}
	if plain := stat.StdDev(x, nil); plain < 1e6 {
		t.Fatalf("standard deviation %g: the wrong numbers do not show", plain)
	}
	if got := metrics.RobustDeviation(x); math.Abs(got-0.3) > 0.06 {
		t.Errorf("%g, want 0.3", got)
	}
}

func TestQuantileOfNoNumbers(t *testing.T) {
	if q, d := metrics.Quantile(nil, 0.5), metrics.RobustDeviation(nil); !math.IsNaN(q) || !math.IsNaN(d) {
		t.Errorf("%g and %g, want NaN", q, d)
	}
}
