package space_test

import (
	"fmt"

	"tutti/coll"
	"tutti/coll/catalogue"
	"tutti/space"
)

func ExampleNew() {
	cat, err := catalogue.For(catalogue.MPICH, "4.0.2")
	if err != nil {
		fmt.Println(err)
		return
	}
	points, err := space.Grid{Nodes: []int{4, 6}, PPN: []int{1}, MsgBytes: []int64{8}}.Points(coll.Allgather)
	if err != nil {
		fmt.Println(err)
		return
	}
	algorithms := []coll.Algorithm{{Name: "recursive_doubling"}, {Name: "ring"}}
	for _, c := range space.New(points, algorithms, cat.Check).Candidates() {
		fmt.Println(c)
	}
	// Output:
	// allgather 4x1 8B recursive_doubling
	// allgather 4x1 8B ring
	// allgather 6x1 8B ring
}
