package libtutti_test

import (
	"fmt"

	"tutti/coll"
	"tutti/mpi/libtutti"
	"tutti/selection"
)

// The example exports a broadcast of eight ranks for which an algorithm of libtutti is faster than the MPI
// library's own choice.
func Example() {
	rows := []selection.Row{{
		Point: coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 2, MsgBytes: 1 << 20},
		Options: []selection.Option{
			{Algorithm: coll.Default, Seconds: 2e-3},
			{Algorithm: coll.Algorithm{Name: "scatter_allgather_ring"}, Seconds: 1e-3},
		},
	}}
	b, err := libtutti.Library.Open(libtutti.Library.Releases()[0], "")
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
	fmt.Println(x.Setup.Settings, err)
	fmt.Printf("%s", x.Files[0].Content)
	// Output:
	// [{TUTTI_TABLE /tuned/tutti.table}] <nil>
	// tutti-table 1
	// bcast ranks 8-8 ppn 2-2 bytes 1048576-1048576 scatter_allgather_ring
	// end 014d85fbefe06885
}

func ExampleTable_Select() {
	t, err := libtutti.Parse(libtutti.Table{Rules: []libtutti.Rule{{
		Scope:     libtutti.Scope{Collective: coll.Allgather, Ranks: libtutti.Range{Low: 2, High: 16}, PPN: libtutti.Range{Low: 1, High: 4}, Bytes: libtutti.Range{High: 1024}},
		Algorithm: coll.Algorithm{Name: "bruck"},
	}}}.Bytes())
	fmt.Println(t.Select(coll.Allgather, 8, 2, 100), t.Select(coll.Allgather, 8, 2, 2000), err)
	// Output: bruck library_default <nil>
}
