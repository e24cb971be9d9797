package benchrunner_test

import (
	"math"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
)

func TestNodeBytes(t *testing.T) {
	for _, tc := range []struct {
		collective coll.Collective
		bytes      int64
		want       int64
	}{
		{coll.Alltoall, 100, 2 * 100 * 8 * 4},
		{coll.Allgather, 100, 100 * 9 * 4},
		{coll.Gather, 100, 100*8 + 100*4},
		{coll.Bcast, 100, 400},
		{coll.Allreduce, 100, 800},
		{coll.Barrier, 0, 0},
		{coll.Alltoall, 1 << 60, math.MaxInt64},
	} {
		p := coll.Point{Collective: tc.collective, Nodes: 2, PPN: 4, MsgBytes: tc.bytes}
		if got := benchrunner.NodeBytes(p); got != tc.want {
			t.Errorf("NodeBytes(%v) = %d, want %d", p, got, tc.want)
		}
	}
}
