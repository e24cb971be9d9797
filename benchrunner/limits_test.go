package benchrunner_test

import (
	"math"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

func TestCallTimeout(t *testing.T) {
	small := benchrunner.CallTimeout(coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8})
	large := benchrunner.CallTimeout(coll.Point{Collective: coll.Alltoall, Nodes: 16, PPN: 4, MsgBytes: 1 << 20})
	if small < time.Millisecond || small > 100*time.Millisecond || large < 100*time.Millisecond || large > 10*time.Second {
		t.Errorf("CallTimeout: %v for 8 bytes, %v for a large alltoall", small, large)
	}
}

// TestTimeoutsOfLargeSizes checks that timeouts grow with sizes and calls and never exceed
// the maximum.
func TestTimeoutsOfLargeSizes(t *testing.T) {
	for _, collective := range []coll.Collective{coll.Bcast, coll.Alltoall} {
		last := time.Duration(0)
		for size := int64(1); size > 0; size *= 4 {
			for _, nodes := range []int{2, 1 << 20, math.MaxInt} {
				p := coll.Point{Collective: collective, Nodes: nodes, PPN: nodes, MsgBytes: size}
				if d := benchrunner.CallTimeout(p); d <= 0 || d > benchrunner.MaxTime {
					t.Errorf("CallTimeout of %s with %d bytes on %d nodes = %v", collective, size, nodes, d)
				}
			}
			c := benchrunner.Case{Candidate: coll.Candidate{Point: coll.Point{Collective: collective, Nodes: 1024, PPN: 64, MsgBytes: size}}}
			d := benchrunner.CallsTimeout(c, 10000)
			if d < last || d > benchrunner.MaxTime {
				t.Errorf("10000 calls of %s with %d bytes take %v, fewer bytes %v", collective, size, d, last)
			}
			last = d
			if d := benchrunner.CallsTimeout(c, math.MaxInt); d != benchrunner.MaxTime {
				t.Errorf("any number of calls takes %v", d)
			}
		}
		if last != benchrunner.MaxTime {
			t.Errorf("the largest %s takes %v, want %v", collective, last, benchrunner.MaxTime)
		}
	}
}

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

func TestLeast(t *testing.T) {
	for _, tc := range []struct{ a, b, want int }{{0, 0, 0}, {0, 3, 3}, {3, 0, 3}, {2, 3, 2}} {
		if got := benchrunner.Least(tc.a, tc.b); got != tc.want {
			t.Errorf("Least(%d, %d) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestParseCount(t *testing.T) {
	for text, want := range map[string]int{"16": 16, "": 0, "N/A": 0, "-1": 0, "4294967296": 0} {
		if got := benchrunner.ParseCount(text); got != want {
			t.Errorf("ParseCount(%q) = %d, want %d", text, got, want)
		}
	}
}
