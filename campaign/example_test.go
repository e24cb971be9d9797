package campaign_test

import (
	"context"
	"fmt"

	"tutti/activelearn"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/journal"
	"tutti/preprocess"
	"tutti/selection"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

// Example tunes a simulated machine by measuring only some of its candidates.
func Example() {
	grid := coll.Grid{Nodes: []int{2, 4, 8}, PPN: []int{1, 4}, Sizes: []int64{8, 64, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20}}
	points, err := grid.Points(coll.Bcast)
	if err != nil {
		fmt.Println(err)
		return
	}
	truth := testutil.SyntheticMeasurements(points)
	machine, err := replay.New(truth, replay.Options{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	problem := campaign.Problem{
		Problem: journal.Problem{Library: "mpich", Collective: coll.Bcast},
		Space:   machine.Space(), Runner: machine, Truth: truth,
	}
	spec := campaign.Spec{
		Seed: 1, Strategy: "regret", CriteriaFrom: activelearn.Predicted, Folds: 5, Attempts: 1,
		Batch:    campaign.Batch{Candidates: 8},
		Criteria: activelearn.Criteria{Slowdown: 1.03, Mistakes: 0.04, Patience: 2},
		Learner:  learner.Options{Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess, Forest: forest.Options{Trees: 30}},
	}
	res, err := campaign.Run(context.Background(), spec, problem, nil, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := campaign.Train(spec, problem, res)
	if err != nil {
		fmt.Println(err)
		return
	}
	final, err := model.Conclude(selection.Rejected{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Stop, len(res.Ledger.Measurements()) < machine.Space().Size())
	small := coll.Point{Collective: coll.Bcast, Nodes: 8, PPN: 4, MsgBytes: 8}
	large := coll.Point{Collective: coll.Bcast, Nodes: 8, PPN: 4, MsgBytes: 1 << 20}
	fmt.Println(final.Selection.Choose(small), final.Selection.Choose(large))
	// Output:
	// converged true
	// tree ring
}
