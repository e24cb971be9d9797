package gp_test

import (
	"fmt"
	"math"

	"tutti/surrogate/gp"
)

// This example selects a batch. Each step selects the entry with the greatest variance. This entry then
// counts as observed in the following steps.
func ExamplePosterior_Condition() {
	obs := gp.Observations{X: [][]float64{{0}, {0.5}, {1}}, At: []int{0, 1, 2}, Task: []int{0, 0, 0}, Y: []float64{0, 0.4, 0.6}}
	params, err := gp.Learn(obs, gp.Options{Length: []float64{1}, Noise: 1e-4})
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := gp.New(params, obs)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := [][]float64{{0}, {1}, {2}, {3}, {4}, {5}, {6}}
	var candidates []gp.Entry
	for i := range rows {
		candidates = append(candidates, gp.Entry{Row: i})
	}
	posterior, err := g.Posterior(rows, candidates)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		pick := 0
		for i := range candidates {
			if posterior.Variance(i) > posterior.Variance(pick) {
				pick = i
			}
		}
		fmt.Println("pick", rows[pick][0])
		posterior.Condition(pick)
	}
	// Output:
	// pick 6
	// pick 4
	// pick 3
}

// Task 1 has no observation at the last row. It is predicted from the observation of task 0 at this row.
func ExampleGP_Means() {
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
	params, err := gp.Learn(obs, gp.Options{Length: []float64{5}, Steps: 0.5, Noise: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := gp.New(params, obs)
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
