package openmpi_test

import (
	"fmt"

	"tutti/coll"
	"tutti/mpi"
	"tutti/mpi/openmpi"
	"tutti/selection"
)

// Example exports a barrier. On four ranks, an algorithm other than the default is the fastest.
func Example() {
	rows := []selection.Row{{
		Point: coll.Point{Collective: coll.Barrier, Nodes: 4, PPN: 1},
		Options: []selection.Option{
			{Algorithm: coll.Default, Seconds: 2e-6},
			{Algorithm: coll.Algorithm{Name: "tree"}, Seconds: 1e-6},
		},
	}}
	b, err := openmpi.Library.Open(openmpi.Library.Releases()[0], "")
	if err != nil {
		fmt.Println(err)
		return
	}
	sel, err := mpi.Merge(b, rows, mpi.MergeOptions{MaxLoss: 0.01, OpSafe: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := b.Export(sel, "/tuned")
	fmt.Println(x.Names(), err)
	fmt.Printf("%s", x.Loaded(coll.Layout{}, "OMPI_MCA_coll_tuned_dynamic_rules_filename"))
	// Output:
	// [openmpi.rules openmpi.env openmpi.csh] <nil>
	// # rules of coll/tuned: size of message, algorithm (0: the library decides), fan in/out, segment size
	// 1 # collectives
	// 6 # barrier
	// 3 # communicator sizes
	//  1 # processes
	//  1 # message sizes
	//   0 0 0 0
	//  4 # processes
	//  1 # message sizes
	//   0 6 0 0
	//  5 # processes
	//  1 # message sizes
	//   0 0 0 0
}
