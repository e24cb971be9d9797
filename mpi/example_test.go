package mpi_test

import (
	"fmt"

	"tutti/coll"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

func ExampleCatalogue_Check() {
	_, cat, err := libraries.Release("mpich", "4.0.2")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, nodes := range []int{4, 6} {
		fmt.Println(cat.Check(coll.Candidate{
			Point:     coll.Point{Collective: coll.Allgather, Nodes: nodes, PPN: 1, MsgBytes: 8},
			Algorithm: coll.Algorithm{Name: "recursive_doubling"},
		}))
	}
	// Output:
	// <nil>
	// allgather 6x1 8B recursive_doubling: cannot run there: needs a number of ranks that is a power of two
}

func ExampleCatalogue_Algorithms() {
	_, cat, err := libraries.Release("mpich", "4.0.2")
	if err != nil {
		fmt.Println(err)
		return
	}
	point := coll.Point{Collective: coll.Allreduce, Nodes: 4, PPN: 2, MsgBytes: 8}
	for _, a := range cat.Algorithms(point.Collective) {
		fmt.Println(a, cat.Check(coll.Candidate{Point: point, Algorithm: a}) == nil)
	}
	// Output:
	// smp true
	// recursive_doubling true
	// reduce_scatter_allgather false
	// alpha(inter=recursive_doubling) true
	// alpha(inter=reduce_scatter_allgather) false
}

func ExampleForce() {
	lib, cat, err := libraries.Release("mpich", "4.0.2")
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := mpi.Force(lib, cat, coll.Candidate{
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
