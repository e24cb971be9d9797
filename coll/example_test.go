package coll_test

import (
	"errors"
	"fmt"

	"tutti/coll"
)

func ExampleCandidate() {
	c := coll.Candidate{
		Point:     coll.Point{Collective: coll.Bcast, Nodes: 16, PPN: 4, MsgBytes: 65536},
		Algorithm: coll.Algorithm{Name: "binomial"},
	}
	fmt.Println(c, c.Ranks())
	// Output: bcast 16x4 64KiB binomial 64
}

func ExampleNewSpace() {
	points, err := coll.Grid{Nodes: []int{4, 6}, PPN: []int{1}, Sizes: []int64{8}}.Points(coll.Allgather)
	if err != nil {
		fmt.Println(err)
		return
	}
	// Recursive doubling needs a power of two as the number of ranks.
	canRun := func(c coll.Candidate) error {
		if n := c.Ranks(); c.Algorithm.Name == "recursive_doubling" && n&(n-1) != 0 {
			return errors.New("not a power of two")
		}
		return nil
	}
	algorithms := []coll.Algorithm{{Name: "recursive_doubling"}, {Name: "ring"}}
	for _, c := range coll.NewSpace(points, algorithms, canRun).Candidates() {
		fmt.Println(c)
	}
	// Output:
	// allgather 4x1 8B recursive_doubling
	// allgather 4x1 8B ring
	// allgather 6x1 8B ring
}
