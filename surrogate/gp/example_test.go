package gp_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"tutti/surrogate/gp"
)

func ExampleFit() {
	var x [][]float64
	var y []float64
	for i := range 12 {
		v := float64(i) / 2
		x = append(x, []float64{v})
		y = append(y, math.Sin(v))
	}
	g, err := gp.Fit(x, y, gp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	mean, variance, err := g.Predict([][]float64{{1.25}, {20}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("near the rows %.2f ± %.2f; far away the deviation is above 0.5: %v\n",
		mean[0], math.Sqrt(variance[0]), math.Sqrt(variance[1]) > 0.5)
	// Output: near the rows 0.95 ± 0.01; far away the deviation is above 0.5: true
}

// A batch is picked by variance, each pick counting for the next, before any is observed.
func ExamplePool_Condition() {
	p := gp.Params{Length: []float64{1}, Signal: 1, Noise: 0.01}
	g, err := gp.With(gp.Matern52, p, [][]float64{{0}}, []float64{0})
	if err != nil {
		fmt.Println(err)
		return
	}
	candidates := [][]float64{{0}, {1}, {2}, {3}, {4}, {5}, {6}}
	pool, err := g.NewPool(candidates)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		i := floats.MaxIdx(pool.Variance())
		fmt.Println("pick", candidates[i][0])
		if err := pool.Condition(i); err != nil {
			fmt.Println(err)
			return
		}
	}
	pool.Reset()
	// Output:
	// pick 6
	// pick 3
	// pick 5
}
