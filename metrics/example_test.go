package metrics_test

import (
	"fmt"

	"gonum.org/v1/gonum/stat"

	"tutti/metrics"
)

// The example computes the mean of a few slowdowns, and a confidence interval for the mean of another
// sample of points.
func ExampleBootstrap() {
	slowdowns := []float64{1, 1, 1.02, 1.3, 1, 1.1, 1, 1.05, 1, 1}
	mean := func(v []float64) float64 { return stat.Mean(v, nil) }
	interval, err := metrics.Bootstrap(slowdowns, mean, 2000, 0.95, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f, from %.2f to %.2f\n", mean(slowdowns), interval.Low, interval.High)
	// Output: 1.047, from 1.00 to 1.11
}

func ExampleR2() {
	r2, err := metrics.R2([]float64{1, 2, 3, 4}, []float64{1.1, 1.9, 3.2, 3.8})
	fmt.Printf("%.2f %v\n", r2, err)
	// Output: 0.98 <nil>
}
