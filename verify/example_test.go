package verify_test

import (
	"fmt"

	"tutti/coll"
	"tutti/verify"
)

// What a verification condemned is known from its entries alone.
func ExampleCondemnedBy() {
	at := coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 4, MsgBytes: 64}
	entries := []verify.Entry{{Library: "mpich", Session: 1, Verdict: &verify.Verdict{
		Number: 1, Suspect: 3, PutBack: []verify.Finding{{Spot: verify.Spot{Point: at}, Reason: verify.Slower}},
	}}}
	condemned := verify.CondemnedBy(entries, coll.Bcast)
	fmt.Println(condemned.Points, condemned.All)
	// Output:
	// [bcast 2x4 64B] false
}
