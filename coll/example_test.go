package coll_test

import (
	"fmt"

	"tutti/coll"
)

func ExampleParseAlgorithm() {
	alg, err := coll.ParseAlgorithm("chain(segsize=8192,faninout=4)")
	if err != nil {
		fmt.Println(err)
		return
	}
	size, _ := alg.Param("segsize")
	fmt.Println(alg, size)
	// Output: chain(faninout=4,segsize=8192) 8192
}

func ExampleCandidate() {
	c := coll.Candidate{
		Point:     coll.Point{Collective: coll.Bcast, Nodes: 16, PPN: 4, MsgBytes: 65536},
		Algorithm: coll.Algorithm{Name: "binomial"},
	}
	fmt.Println(c, c.Processes())
	// Output: bcast 16x4 64KiB binomial 64
}
