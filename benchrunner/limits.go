package benchrunner

import (
	"cmp"
	"math"
	"time"

	"tutti/coll"
)

const (
	// MinAllowance is the shortest time limit of a launch.
	MinAllowance = 30 * time.Second

	// MaxTime is the longest time that CallTimeout and CallsTimeout return. It is so short that the sum of
	// thousands of such times fits into a time.Duration.
	MaxTime = 30 * 24 * time.Hour
)

// CallTimeout returns a time limit for one call at a point. A call that takes longer counts as hanging. The
// limit is 5 ms plus the transfer time of the bytes that a rank handles, at most MaxTime. The 5 ms allow for
// ranks that share a core. The assumed rate of 200 MB/s is a sixth of the bandwidth of 10-Gigabit Ethernet.
func CallTimeout(p coll.Point) time.Duration {
	ranks := float64(p.Nodes) * float64(p.PPN)
	volume := float64(p.MsgBytes) * 2 * float64(1+math.Ilogb(max(1, ranks)))
	if p.Collective.PerRank() {
		volume = float64(p.MsgBytes) * ranks
	}
	seconds := volume / 200e6
	if seconds >= MaxTime.Seconds() {
		return MaxTime
	}
	return min(MaxTime, 5*time.Millisecond+time.Duration(seconds*float64(time.Second)))
}

// CallsTimeout returns a time limit for several calls of a case, each after a barrier. It is at most MaxTime.
func CallsTimeout(c Case, calls int) time.Duration {
	one := CallTimeout(c.Point) + CallTimeout(coll.Point{Collective: coll.Barrier, Nodes: c.Nodes, PPN: c.PPN})
	if calls > int(MaxTime/one) {
		return MaxTime
	}
	return time.Duration(calls) * one
}

// Least returns the smaller of two numbers of which 0 means unknown or unlimited.
func Least[T cmp.Ordered](a, b T) T {
	var unknown T
	if a == unknown || b == unknown {
		return max(a, b)
	}
	return min(a, b)
}

// NodeBytes returns a lower bound of the memory in bytes that the buffers of one call need on a node. It
// counts all data that the ranks of one node send and receive, for the node with the most data. It is at
// most math.MaxInt64.
func NodeBytes(p coll.Point) int64 {
	part, ppn, ranks := float64(p.MsgBytes), float64(p.PPN), float64(p.Layout().Ranks())
	bytes := 2 * part * ppn
	switch c := p.Collective.Blocking(); {
	case c == coll.Alltoall || c == coll.Alltoallv:
		bytes = 2 * part * ranks * ppn
	case c == coll.Allgather || c == coll.Allgatherv:
		bytes = part * (ranks + 1) * ppn
	case c.PerRank(): // a root holds the parts of all ranks
		bytes = part * (ranks + ppn)
	case c == coll.Bcast:
		bytes = part * ppn
	case !c.Sized():
		return 0
	}
	if bytes >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(bytes)
}
