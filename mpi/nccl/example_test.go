package nccl_test

import (
	"fmt"

	"tutti/mpi"
	"tutti/mpi/nccl"
)

// The example checks a tuner file of NCCL.
func Example() {
	lib := nccl.Libraries()[0].(mpi.RuleReader)
	f, ok := lib.ReadRules(lib.Releases()[0], "", []byte("allreduce,0,65535,tree,ll,-1,2,16\n"))
	fmt.Println(ok, f.Format, f.Findings)
	// Output:
	// true tuner file of NCCL [{1 harm channels -1: the plugin gives such calls one channel: give a number}]
}
