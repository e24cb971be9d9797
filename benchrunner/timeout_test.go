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
		t.Errorf("Patience: %v for 8 bytes, %v for a large alltoall", small, large)
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
					t.Errorf("Patience of %s with %d bytes on %d nodes = %v", collective, size, nodes, d)
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
