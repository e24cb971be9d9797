package benchrunner

import (
	"math"
	"time"

	"tutti/coll"
)

const (
	// LeastAllowance is what any start of a program may take.
	LeastAllowance = 30 * time.Second

	// Longest bounds the times that are worked out here, whatever the sizes and counts:
	// some thousand of them together are a Duration still.
	Longest = 30 * 24 * time.Hour
)

// Patience is a time that one call at a point does not take unless it hangs: 5 ms
// for ranks that have to take turns on a core, and the bytes that a rank handles at
// 200 MB/s, slower than Gigabit Ethernet does for one of two partners. It is at most
// Longest.
func Patience(p coll.Point) time.Duration {
	ranks := float64(p.Nodes) * float64(p.PPN)
	volume := float64(p.MsgBytes) * 2 * float64(1+math.Ilogb(max(1, ranks)))
	if p.Collective.PerRank() {
		volume = float64(p.MsgBytes) * ranks
	}
	seconds := volume / 200e6
	if seconds >= Longest.Seconds() {
		return Longest
	}
	return min(Longest, 5*time.Millisecond+time.Duration(seconds*float64(time.Second)))
}

// CallTime is the time of so many calls of a case with a barrier before each, at the
// pace of Patience. It is at most Longest.
func CallTime(c Case, calls int) time.Duration {
	one := Patience(c.Point) + Patience(coll.Point{Collective: coll.Barrier, Nodes: c.Nodes, PPN: c.PPN})
	if calls > int(Longest/one) {
		return Longest
	}
	return time.Duration(calls) * one
}
