package mpich_test

import (
	"fmt"

	"tutti/coll"
	"tutti/mpi/mpich"
	"tutti/selection"
)

// Example exports a selection for broadcast, in which another algorithm is the fastest from 16 KiB on.
func Example() {
	var rows []selection.Row
	for _, size := range []int64{1 << 10, 1 << 14, 1 << 18} {
		rows = append(rows, selection.Row{
			Point: coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 1, MsgBytes: size},
			Options: []selection.Option{
				{Algorithm: coll.Default, Seconds: 1e-3},
				{Algorithm: coll.Algorithm{Name: "scatter_ring_allgather"}, Seconds: 16 / float64(size)},
			},
		})
	}
	cat := mpich.Library.Releases()[0]
	b, err := mpich.Library.Open(cat, "")
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
	fmt.Println(cat.Version, sel.Leaves(), x.Names(), err)
	fmt.Println(x.Setup.Settings[0].Name, x.Setup.Settings[0].Value)
	fmt.Println(b.Replay(x, sel, rows))
	// Output:
	// 4.0.2 2 [mpich.json mpich.ch4.json mpich.env mpich.csh] <nil>
	// MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE /tuned/mpich.json
	// <nil>
}
