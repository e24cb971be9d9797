package benchrunner

import (
	"math"
	"time"

	"tutti/coll"
)

const (
	// MinAllowance is what any start of a program may take.
	MinAllowance = 30 * time.Second

	// MaxTime bounds the times that are worked out here, whatever the sizes and counts:
	// some thousand of them together are a Duration still.
	MaxTime = 30 * 24 * time.Hour
)

// CallTimeout is a time that one call at a point does not take unless it hangs: 5 ms
// for ranks that have to take turns on a core, and the bytes that a rank handles at
// 200 MB/s, slower than Gigabit Ethernet does for one of two partners. It is at most
// MaxTime.
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

// CallsTimeout is the time of so many calls of a case with a barrier before each, at the
// pace of CallTimeout. It is at most MaxTime.
func CallsTimeout(c Case, calls int) time.Duration {
	one := CallTimeout(c.Point) + CallTimeout(coll.Point{Collective: coll.Barrier, Nodes: c.Nodes, PPN: c.PPN})
	if calls > int(MaxTime/one) {
		return MaxTime
	}
	return time.Duration(calls) * one
}
