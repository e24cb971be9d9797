package settings_test

import (
	"fmt"

	"tutti/coll"
	"tutti/mpi/settings"
	"tutti/selection"
)

// The example exports a broadcast of eight ranks, for which an algorithm is faster than the library's own
// choice.
func Example() {
	rows := []selection.Row{{
		Point: coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 2, MsgBytes: 1 << 20},
		Options: []selection.Option{
			{Algorithm: coll.Default, Seconds: 2e-3},
			{Algorithm: coll.Algorithm{Name: "ring"}, Seconds: 1e-3},
		},
	}}
	intel := settings.Libraries()[0]
	b, err := intel.Open(intel.Releases()[0], "")
	if err != nil {
		fmt.Println(err)
		return
	}
	sel, err := b.Merge(rows, 0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := b.Export(sel, "/tuned")
	fmt.Println(x.Names(), err)
	fmt.Println(x.Setup.For(coll.Layout{Nodes: 4, PPN: 2}))
	// Output:
	// [intel.env intel.csh] <nil>
	// [{I_MPI_ADJUST_BCAST 3:1048576-1048576@8-8}]
}
