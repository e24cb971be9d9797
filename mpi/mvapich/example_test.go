package mvapich_test

import (
	"fmt"

	"tutti/coll"
	"tutti/mpi"
	"tutti/mpi/mvapich"
	"tutti/selection"
)

// A broadcast of eight ranks that is faster with another algorithm.
func Example() {
	rows := []selection.Row{{
		Point: coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 2, MsgBytes: 1 << 20},
		Options: []selection.Option{
			{Algorithm: coll.Default, Seconds: 2e-3},
			{Algorithm: coll.Algorithm{Name: "knomial"}, Seconds: 1e-3},
		},
	}}
	b, err := mvapich.Library.Open(mvapich.Library.Releases()[0], "")
	if err != nil {
		fmt.Println(err)
		return
	}
	sel, err := b.Fit(rows, mpi.FitOptions{MaxLoss: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := b.Export(sel, "/tuned")
	fmt.Println(x.Names(), err)
	fmt.Println(x.Setup.For(coll.Layout{Nodes: 4, PPN: 2}))
	// Output:
	// [mvapich2.env] <nil>
	// [{MV2_INTER_BCAST_TUNING 8}]
}
