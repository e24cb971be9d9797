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
	pool, err := g.NewPool([][]float64{{1.25}, {20}})
	if err != nil {
		fmt.Println(err)
		return
	}
	mean, variance := pool.Mean(), pool.Variance()
	fmt.Printf("near the rows %.2f ± %.2f; far away the deviation is above 0.5: %v\n",
		mean[0], math.Sqrt(variance[0]), math.Sqrt(variance[1]) > 0.5)
	// Output: near the rows 0.95 ± 0.01; far away the deviation is above 0.5: true
}

// A batch is picked by variance, each pick counting for the next, before any is observed.
func ExamplePool_Condition() {
	g, err := gp.Fit([][]float64{{0}, {0.5}, {1}}, []float64{0, 0.4, 0.6}, gp.Options{})
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
	// pick 4
	// pick 3
}

// Task 1 was not observed at the last row; task 0, which was, tells of it there.
func ExampleFitMulti() {
	var obs gp.Observations
	observe := func(x float64, tasks ...int) {
		for _, task := range tasks {
			obs.At, obs.Task = append(obs.At, len(obs.X)), append(obs.Task, task)
			obs.Y = append(obs.Y, x*x/100+0.2*float64(task))
		}
		obs.X = append(obs.X, []float64{x})
	}
	for x := range 6 {
		observe(float64(x), 0, 1)
	}
	observe(20, 0)
	m, err := gp.FitMulti(obs, gp.MultiOptions{Length: []float64{5}, Steps: 0.5, Noise: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := [][]float64{{20}}
	means := m.Means(rows, 2)
	posterior, err := m.Posterior(rows, []gp.Entry{{Row: 0, Task: 0}, {Row: 0, Task: 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("task 1 is slower by %.2f ± %.2f\n", means[1][0]-means[0][0], math.Sqrt(posterior.Difference(0, 1)))
	// Output: task 1 is slower by 0.16 ± 0.14
}
