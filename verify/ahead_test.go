package verify_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/verify"
)

// TestAhead compares the expected rest of a pass with the real one, from the second block on, in verifications on
// simulated machines: little and much noise, no and many slower points, costs of blocks known or not. An estimate must be
// right within a factor of two at 85 of 100 blocks or more; with unknown costs at 70 of 100.
func TestAhead(t *testing.T) {
	seeds := 3
	if testutil.AllCases() {
		seeds = 30
	}
	for _, tc := range []struct {
		name          string
		noise, slower float64
		known         bool
		want          float64
	}{
		{"quiet", 0.005, 0, true, 0.9},
		{"noise", 0.02, 0.03, true, 0.9},
		{"much noise, slower points", 0.05, 0.2, true, 0.85},
		{"unknown costs", 0.02, 0.2, false, 0.7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			right, all := 0, 0
			for seed := range seeds {
				for _, l := range linesOf(t, uint64(seed), tc.noise, tc.slower, tc.known) {
					if all++; math.Abs(math.Log2(l.ahead/l.rest)) <= 1 {
						right++
					}
				}
			}
			if share := float64(right) / float64(all); !(share >= tc.want) {
				t.Errorf("%.2f of %d estimates are right within a factor of two, want %.2f", share, all, tc.want)
			}
		})
	}
}

// line is what the event at the start of a block says is left of its pass, and what was left in fact, in seconds.
type line struct{ ahead, rest float64 }

// linesOf returns one line for each block, from the second on, of a verification of which so many selections are slower.
// A launch takes 6 s, and measures all sizes of a collective on some nodes; a measurement takes 0.5 s.
func linesOf(t *testing.T, seed uint64, noise, slower float64, known bool) []line {
	rng := rand.New(rand.NewPCG(seed, 1))
	ratios := map[coll.Point]float64{}
	m := &machine{noise: noise, seed: seed, ratio: func(p coll.Point) float64 {
		if _, ok := ratios[p]; !ok {
			ratios[p] = 0.7 + 0.3*rng.Float64()
			if rng.Float64() < slower {
				ratios[p] = 1.03 + 0.2*rng.Float64()
			}
		}
		return ratios[p]
	}}
	cost := func(points []coll.Point) float64 {
		launches := map[coll.Point]bool{}
		for _, p := range points {
			p.MsgBytes = 0
			launches[p] = true
		}
		return 6*float64(len(launches)) + 0.5*float64(len(points))
	}
	var now, costs float64
	ends := map[int]float64{} // of each pass
	var events []verify.Event
	var times []float64 // of the events
	m.begin = func(b benchrunner.Batch) {
		var points []coll.Point
		for _, r := range b.Requests {
			points = append(points, r.Point)
		}
		now += cost(points) * math.Exp(0.1*rng.NormFloat64())
		ends[events[len(events)-1].Pass] = now
	}
	var lines []line
	opt := verify.Options{Library: "lib", Rules: rules(seed), Observe: func(e verify.Event) {
		if costs > 0 {
			lines = append(lines, line{ahead: now / costs * e.Ahead})
		}
		events, times = append(events, e), append(times, now)
		costs += e.Cost
	}}
	if known {
		opt.BlockSeconds = func(block []verify.TestPoint) float64 {
			var points []coll.Point
			for _, p := range block {
				points = append(points, p.Point)
			}
			return 2 * cost(points)
		}
	}
	files := &fileWriter{machine: m, rows: rowsOf([]int{2, 4, 8, 16}, smallSizes, coll.Bcast, coll.Allreduce)}
	if _, err := verifyAll(t.Context(), opt, files, &memory{}); err != nil {
		t.Fatal(err)
	}
	for i := range lines {
		lines[i].rest = ends[events[i+1].Pass] - times[i+1]
	}
	return lines
}
