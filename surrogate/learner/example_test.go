package learner_test

import (
	"fmt"
	"slices"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// exampleGrid returns points of a broadcast on 16 nodes, with message sizes that double from 8 bytes.
func exampleGrid() []coll.Point {
	g := coll.Grid{Nodes: []int{16}, PPN: []int{1}}
	for size := int64(8); size <= 1<<24; size *= 2 {
		g.Sizes = append(g.Sizes, size)
	}
	points, err := g.Points(coll.Bcast)
	if err != nil {
		panic(err) // the grid is right
	}
	return points
}

// Cross-validation estimates the quality of choices at unmeasured points.
func ExampleCrossValidate() {
	held, err := learner.CrossValidate(learner.Data{Measurements: slices.Values(testutil.SyntheticMeasurements(exampleGrid()))}, 5, 1, learner.Options{
		Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	sum, err := metrics.Summarize(held.Slowdowns, metrics.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d points, slowdown below 1.03: %v\n", sum.Points, sum.Slowdown < 1.03)
	// Output: 22 points, slowdown below 1.03: true
}

// The uncertainty of a choice grows with the distance from the measurements.
func ExampleLearner_Uncertainties() {
	points := exampleGrid()
	l, err := learner.Fit(learner.Data{Measurements: slices.Values(testutil.SyntheticMeasurements(points[:6]))}, learner.Options{
		Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	uncertainties, err := l.Uncertainties([]coll.Point{points[2], points[20]}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	near, far := uncertainties[0], uncertainties[1]
	fmt.Println(near.Choice, "or", near.Rival, "at", near.Point)
	fmt.Println("less certain far away:", far.PMistake > near.PMistake)
	// Output:
	// tree or halving at bcast 16x1 32B
	// less certain far away: true
}
