package lab_test

import (
	"context"
	"fmt"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/lab"
	"tutti/internal/testutil"
)

// ExampleCompare compares two strategies on a machine whose best algorithm is known.
func ExampleCompare() {
	grid := coll.Grid{Nodes: []int{2, 4, 8, 16, 32}, PPN: []int{1, 8}, Sizes: []int64{64, 4096, 262144, 16777216}}
	points, err := grid.Points(coll.Bcast)
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := lab.NewSet("synthetic", testutil.SyntheticMeasurements(points))
	if err != nil {
		fmt.Println(err)
		return
	}
	design := lab.Design{
		Sets: []lab.Set{set}, Strategies: []string{"random", "uncertainty"}, Seeds: lab.Seeds(1, 1),
	}
	launches := []benchrunner.LaunchCost{{Model: benchrunner.LaunchCandidate}}
	outcomes, err := lab.Compare(context.Background(), design, launches, lab.DefaultOptions(), nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range outcomes {
		fmt.Printf("%s converged: %v, before everything was measured: %v\n", o.Strategy, o.Converged, o.PointShare < 1)
	}
	// Output:
	// random converged: true, before everything was measured: true
	// uncertainty converged: true, before everything was measured: true
}
