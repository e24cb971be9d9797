package forcing_test

import (
	"fmt"

	"tutti/coll"
	"tutti/coll/catalogue"
	"tutti/forcing"
)

func ExampleOf() {
	cat, err := catalogue.For(catalogue.MPICH, "4.0.2")
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := forcing.Of(cat, coll.Candidate{
		Point:     coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 2, MsgBytes: 1024},
		Algorithm: coll.Algorithm{Name: "scatter_ring_allgather"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range f.Env {
		fmt.Println(v.Name + "=" + v.Value)
	}
	// Output:
	// MPIR_CVAR_COLLECTIVE_FALLBACK=error
	// MPIR_CVAR_BCAST_DEVICE_COLLECTIVE=0
	// MPIR_CVAR_BCAST_INTRA_ALGORITHM=scatter_ring_allgather
}
