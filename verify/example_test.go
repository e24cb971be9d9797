package verify_test

import (
	"fmt"

	"tutti/coll"
	"tutti/verify"
)

func ExampleRejectedBy() {
	at := coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 4, MsgBytes: 64}
	entries := []verify.Entry{{Library: "mpich", Session: 1, Outcome: &verify.PassOutcome{
		Number: 1, Suspects: 3, Reverted: []verify.Finding{{TestPoint: verify.TestPoint{Point: at}, Reason: verify.Slower}},
	}}}
	rejected := verify.RejectedBy(entries, coll.Bcast)
	fmt.Println(rejected.Points, rejected.All)
	// Output:
	// [bcast 2x4 64B] false
}
