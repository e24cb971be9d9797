package campaign

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/journal"
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

// Where errors were wide at one size, deviations are judged wider there, and hardly far from it;
// what an evaluation under way has found counts like what those before it found.
func TestScaleOfEachSize(t *testing.T) {
	of := func(bytes int64, deviations float64) []journal.SizeError {
		return slices.Repeat([]journal.SizeError{{MsgBytes: bytes, Deviations: deviations}}, 20)
	}
	r := &run{}
	r.result.Evaluations = []journal.Evaluation{{Errors: of(8, 0.5)}, {Errors: of(1<<20, 2)}}
	small, large := coll.Point{MsgBytes: 8}, coll.Point{MsgBytes: 1 << 20}
	before := r.lastScale()
	if s, l := before(small), before(large); !(s > 0.5 && s < 0.75 && l > 1.7 && l < 2) {
		t.Errorf("scale %g where errors are half of what is stated, %g where they are twice", s, l)
	}
	if after := r.scale(of(8, 2)); !(after(small) > 1.3) || math.Abs(after(large)-before(large)) > 1e-6 {
		t.Errorf("scale %g after wide errors at a size, %g instead of %g far from it", after(small), after(large), before(large))
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
