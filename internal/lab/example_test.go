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
	grid := coll.Grid{Nodes: []int{2, 4, 8, 16, 32}, PPN: []int{1, 8}, MsgBytes: []int64{64, 4096, 262144, 16777216}}
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
		Sets: []lab.Set{set}, Strategies: []string{"random", "uncertainty"},
		Seeds: lab.Seeds(1, 1), Launches: []benchrunner.LaunchCost{{Model: benchrunner.LaunchCandidate}},
	}
	outcomes, err := lab.Compare(context.Background(), design, lab.DefaultOptions(), nil)
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

// ExampleNewVersus compares the machine times until the criteria hold.
func ExampleNewVersus() {
	outcomes := []lab.Outcome{
		{Data: "A_bcast", Collective: "bcast", Strategy: "regret", Launch: "none", Seed: 1, Converged: true, MachineShare: 0.02},
		{Data: "A_bcast", Collective: "bcast", Strategy: "random", Launch: "none", Seed: 1, Converged: true, MachineShare: 0.2},
	}
	v, err := lab.NewVersus("regret", outcomes)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f of what random takes\n", v.Means[0].Ratio["random"])
	// Output: 0.1 of what random takes
}
