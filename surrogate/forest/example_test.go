package forest_test

import (
	"fmt"
	"log"

	"tutti/surrogate/forest"
)

// A forest learns a small table and predicts between its rows, with a variance for each prediction.
func ExampleFit() {
	rows := [][]float64{{1, 4}, {2, 4}, {3, 4}, {4, 4}, {1, 8}, {2, 8}, {3, 8}, {4, 8}}
	targets := []float64{0.10, 0.20, 0.40, 0.45, 0.30, 0.50, 0.90, 0.95}
	f, err := forest.Fit(rows, targets, forest.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	mean, variance, err := f.PredictVariance([][]float64{{1.2, 4}, {3.9, 8}})
	if err != nil {
		log.Fatal(err)
	}
	for i := range mean {
		fmt.Printf("%.2f, variance %.3f\n", mean[i], variance[i])
	}
	// Output:
	// 0.17, variance 0.008
	// 0.87, variance 0.030
}
