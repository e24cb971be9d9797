package campaign

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/metrics"
)

// An upper end is that of what is borne out where chance has no part, and lies above it by the
// quantile of a normal variable where nothing else has.
func TestUpperEnd(t *testing.T) {
	borne := metrics.Borne{Expected: 8, Found: 3}
	if got, want := upperEnd(0.02, 0, borne), 0.02*borne.Upper(); math.Abs(got-want) > 1e-15 {
		t.Errorf("upper end %g without chance, want %g", got, want)
	}
	if got, want := upperEnd(0, 0.01, borne), 1.645*0.01*math.Sqrt(borne.Mean()); math.Abs(got-want) > 1e-15 {
		t.Errorf("upper end %g by chance alone, want %g", got, want)
	}
	if got := upperEnd(0.02, 0.01, borne); !(got > 0.02*borne.Upper() && got < 0.02*borne.Upper()+0.01645) {
		t.Errorf("upper end %g of both", got)
	}
}

// The judge draws points by a stream of its own: strategies draw theirs by seed and round,
// and what was just measured would be judged more often.
func TestJudgeDrawsByItself(t *testing.T) {
	var points []coll.Point
	for i := range 2 * predictedPoints {
		points = append(points, coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: int64(i)})
	}
	space := coll.NewSpace(points, []coll.Algorithm{{Name: "ring"}}, func(coll.Candidate) error { return nil })
	r := &run{spec: Spec{Seed: 7}, problem: Problem{Space: space}}
	drawn := r.samplePoints(3)
	if again := r.samplePoints(3); len(drawn) != predictedPoints || !slices.Equal(drawn, again) {
		t.Fatalf("%d points in one draw, %d in the same again", len(drawn), len(again))
	}
	asked := rand.New(rand.NewPCG(7, 3)).Perm(len(points))[:predictedPoints]
	both := 0
	for _, i := range asked {
		if slices.Contains(drawn, points[i]) {
			both++
		}
	}
	if both > predictedPoints*3/5 { // half are expected
		t.Errorf("%d of %d points are those that the strategy's stream gives", both, predictedPoints)
	}
}
