package forest_test

import (
	"fmt"
	"log"

	"tutti/surrogate/forest"
)

// Learn a small table and ask between its rows, with the doubt about the answer.
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
	// 0.17, variance 0.006
	// 0.87, variance 0.015
}

// How good the forest is, without rows to spare for a test.
func ExampleForest_OutOfBag() {
	var rows [][]float64
	var targets []float64
	for a := range 12 {
		for b := range 6 {
			rows = append(rows, []float64{float64(a), float64(b)})
			targets = append(targets, float64(a*a+3*b))
		}
	}
	f, err := forest.Fit(rows, targets, forest.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	o, err := f.OutOfBag()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows, R2 %.3f\n", len(o.Rows), o.R2)
	// Output:
	// 72 rows, R2 0.996
}
