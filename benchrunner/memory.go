package benchrunner

import (
	"math"

	"tutti/coll"
)

// NodeBytes returns a lower bound of the memory in bytes that the buffers of one call need on
// a node: all data that the node's ranks send and receive, on the node that needs most. It is
// at most math.MaxInt64.
func NodeBytes(p coll.Point) int64 {
	part, ppn, ranks := float64(p.MsgBytes), float64(p.PPN), float64(p.Layout().Ranks())
	bytes := 2 * part * ppn
	switch p.Collective {
	case coll.Alltoall, coll.Alltoallv:
		bytes = 2 * part * ranks * ppn
	case coll.Allgather, coll.Allgatherv:
		bytes = part * (ranks + 1) * ppn
	case coll.Gather, coll.Scatter: // the root holds the parts of all ranks
		bytes = part * (ranks + ppn)
	case coll.Bcast:
		bytes = part * ppn
	case coll.Barrier:
		return 0
	}
	if bytes >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(bytes)
}
