package activelearn

import (
	"math"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

// TestSampleByWeight checks that points are drawn in proportion to their weights. Some further points,
// which may have weight 0, are drawn evenly.
func TestSampleByWeight(t *testing.T) {
	var points []coll.Point
	for n := range 1000 {
		points = append(points, coll.Point{Collective: coll.Bcast, Nodes: n + 2, PPN: 1, MsgBytes: 8})
	}
	sp := coll.NewSpace(points, []coll.Algorithm{{Name: "a"}, {Name: "b"}}, func(coll.Candidate) error { return nil })
	for _, tc := range []struct {
		name   string
		weight func(p coll.Point) float64
		share  float64 // of the total weight in the first half of the points
	}{
		{"alike", nil, 0.5},
		{"three to one", func(p coll.Point) float64 { return map[bool]float64{true: 3, false: 1}[p.Nodes < 502] }, 0.75},
		{"one half alone", func(p coll.Point) float64 { return map[bool]float64{true: 0, false: 7}[p.Nodes < 502] }, 0},
		{"a single point", func(p coll.Point) float64 { return map[bool]float64{true: 1, false: 0}[p.Nodes == 7] }, 1},
	} {
		r := &regret{opt: Options{Weight: tc.weight}}
		l := NewLedger(sp)
		r.start(l)
		got := r.samplePoints(State{Round: 3, Ledger: l})
		first, all, aside := 0.0, 0.0, 0
		for k, i := range got.points {
			all += got.weights[k]
			if i < 500 {
				first += got.weights[k]
			}
			if got.weights[k] == 0 {
				aside++
			}
		}
		if all != samplePoints || math.Abs(first/all-tc.share) > 0.01 {
			t.Errorf("%s: %g of %g counts in the first half, want a share of %g of %d", tc.name, first, all, tc.share, samplePoints)
		}
		if (aside > 50) != (tc.weight != nil) || !slices.IsSorted(got.points) {
			t.Errorf("%s: %d points aside, in order: %v", tc.name, aside, slices.IsSorted(got.points))
		}
	}
}

// TestRegretFollowsWeights checks that weights direct the measurements. If all weight is on large messages,
// few small messages may be measured.
func TestRegretFollowsWeights(t *testing.T) {
	large := func(p coll.Point) bool { return p.MsgBytes >= 1<<10 }
	share := func(weight func(coll.Point) float64) float64 {
		l := NewLedger(crossing())
		s := testutil.Must(New("regret", Options{Seed: 1, Weight: weight}))(t)
		n, there := 0, 0
		for round := 1; round <= 6; round++ {
			batch := testutil.Must(s.Ask(State{Round: round, Want: 6, Ledger: l}))(t)
			for _, c := range batch {
				machine(t, l, c, 0)
				if round > 1 {
					n++
					if large(c.Point) {
						there++
					}
				}
			}
		}
		return float64(there) / float64(n)
	}
	alike := share(nil)
	heavy := share(func(p coll.Point) float64 {
		if large(p) {
			return 1
		}
		return 0
	})
	light := share(func(p coll.Point) float64 {
		if large(p) {
			return 0
		}
		return 1
	})
	t.Logf("share of measurements from 1 KiB on: %.2f with weight there, %.2f alike, %.2f with weight below", heavy, alike, light)
	if heavy < light+0.3 {
		t.Errorf("share of measurements from 1 KiB on: %.2f with all weight there, %.2f with none", heavy, light)
	}
}
