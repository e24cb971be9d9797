package live_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"tutti/benchrunner/live"
	"tutti/coll"
	"tutti/internal/testutil"
)

// TestCost checks that the cost of a space is the total cost of the jobs that Plan returns for its candidates.
// Candidates that cannot be measured must be counted.
func TestCost(t *testing.T) {
	for _, parallel := range []live.Parallel{live.ParallelNever, live.ParallelAlways} {
		o := concurrentOptions(t, "n1 n2 n3 n4")
		o.Parallel, o.JobTime, o.NodeBytes = parallel, time.Minute, 4096
		var points []coll.Point
		for nodes := 1; nodes <= 3; nodes++ {
			for _, bytes := range []int64{8, 64, 512, 8192} {
				points = append(points, at(nodes, bytes, "").Point)
			}
		}
		space := coll.NewSpace(points, []coll.Algorithm{{Name: "a"}, {Name: "b"}}, func(coll.Candidate) error { return nil })
		want := live.Cost{}
		for _, j := range testutil.Must(machine(t, o).Plan(t.Context(), batchOf(space.Candidates()...)))(t) {
			want.NodeSeconds += j.NodeSeconds
			want.Expected += j.Expected
		}
		got := testutil.Must(machine(t, o).Cost(t.Context(), space))(t)
		if want.NodeSeconds == 0 || math.Abs(got.NodeSeconds-want.NodeSeconds) > 1e-9 || math.Abs(got.Expected-want.Expected) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", parallel, got, want)
		}
		if refused := fmt.Sprint(got.Refused); refused != "[{its buffers take 8.19e-06 GB on a node, a node has 4.1e-06 GB 6}]" {
			t.Errorf("%s: refused %s", parallel, refused)
		}
	}
}
