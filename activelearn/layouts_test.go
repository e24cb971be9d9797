package activelearn

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/preprocess"
	"tutti/selection"
)

// TestGuardForLayouts checks which algorithms pass if settings hold for all sizes of a layout: also those that were
// measured no slower than the default.
func TestGuardForLayouts(t *testing.T) {
	for _, tc := range []struct {
		name   string
		ring   float64 // measured; the default takes 1
		passes bool
		result GuardResult
	}{
		{"faster", 0.9, true, Confirmed},
		{"faster within the noise", 0.98, true, Tie},
		{"as fast", 1.005, true, BestDefault},
		{"slower", 1.2, false, BestDefault},
	} {
		a := testutil.Must(guarding(t, false, map[string]float64{"ring": tc.ring, "library_default": 1}).ForLayouts(1))(t)
		row := selection.Row{Point: a.space.Points()[0], Options: []selection.Option{{Algorithm: coll.Default, Seconds: 1}}}
		got := a.Guard([]selection.Row{row})
		if passes := len(got.Rows[0].Options) > 1; passes != tc.passes || got.Results[0] != tc.result {
			t.Errorf("%s: passes: %t, %s; want %t, %s", tc.name, passes, got.Results[0], tc.passes, tc.result)
		}
		for _, o := range got.Rows[0].Options {
			if o.Seconds > max(1, min(tc.ring, 1+equalWithin)) || o.Equal != (tc.result != Confirmed && !o.Algorithm.IsDefault()) {
				t.Errorf("%s: %s passes with %g s", tc.name, o.Algorithm, o.Seconds)
			}
		}
	}
}

// TestLayoutPairs checks that a pair has everything that is missing in a layout, and that there is none where the layout is
// left to the library whatever is measured. At 64 B, ring, tree and the default were measured equally fast.
func TestLayoutPairs(t *testing.T) {
	ring, tree := coll.Algorithm{Name: "ring"}, coll.Algorithm{Name: "tree"}
	for _, tc := range []struct {
		name       string
		measured   map[string]float64 // at 8 B
		ring, tree float64            // predicted at 8 B; the default takes 1
		want       int                // missing candidates
	}{
		{"both times are missing", nil, 0.5, 2, 2},
		{"one time is missing", map[string]float64{"library_default": 1}, 0.5, 2, 1},
		{"all others are slower at one size", nil, 1.5, 2, 0},
		{"measured slower", map[string]float64{"library_default": 1, "ring": 1.5}, 0.5, 2, 0},
		{"measured faster", map[string]float64{"library_default": 1, "ring": 0.5}, 0.5, 2, 0},
		{"a faster one is missing", map[string]float64{"library_default": 1, "ring": 0.5}, 0.5, 0.1, 1},
	} {
		a := testutil.Must(guarding(t, false, tc.measured).ForLayouts(1))(t)
		rows := make([]selection.Row, 2)
		for i, p := range a.space.Points() {
			rows[i] = selection.Row{Point: p, Options: []selection.Option{{Algorithm: ring, Seconds: 1}, {Algorithm: tree, Seconds: 1}, {Algorithm: coll.Default, Seconds: 1}}}
		}
		rows[0].Options[0].Seconds, rows[0].Options[1].Seconds = tc.ring, tc.tree
		m := testutil.Must(a.Market(rows, PairOptions{}))(t)
		missing, points := 0, 0
		for _, p := range m.Pairs {
			missing, points = missing+len(p.Candidates), points+p.Points
			gain := math.Log(max(tc.ring, tc.measured["ring"]) / min(tc.ring, tc.tree))
			if tc.measured["ring"] == 0 {
				gain = -math.Log(tc.ring)
			}
			if math.Abs(p.Gain-gain) > 0.01 {
				t.Errorf("%s: gain %g, want %g", tc.name, p.Gain, gain)
			}
		}
		if missing != tc.want || points != 2*len(m.Pairs) || len(m.Pairs) > 1 {
			t.Errorf("%s: %d pairs with %d candidates of %d points, want %d candidates", tc.name, len(m.Pairs), missing, points, tc.want)
		}
	}
}

// TestEqual checks which algorithms count as equally fast as the default at 8 B, where they were measured or, with 0, only
// predicted: they are marked, at most 2 % slower, and not beaten. Without settings for layouts, none is.
func TestEqual(t *testing.T) {
	for _, tc := range []struct {
		name                string
		measured, predicted float64 // times of ring; the default takes 1
		again               float64 // second time of a candidate that took 1: the noise
		want                float64 // time of the marked option, 0 if it is not marked
	}{
		{"predicted a little slower", 0, 1.015, 1.05, 1.015},
		{"predicted slower", 0, 1.03, 1.05, 0},
		{"predicted faster", 0, 0.9, 1.05, 0},
		{"measured a little slower, predicted slower", 1.015, 1.1, 1.05, 1.02},
		{"measured slower within the noise, predicted a little slower", 1.04, 1.015, 1.05, 1.015},
		{"measured slower within the noise, predicted slower", 1.04, 1.03, 1.05, 0},
		{"measured slower by more than the noise, predicted a little slower", 1.2, 1.01, 1, 0},
	} {
		measured := map[string]float64{"library_default": 1}
		if tc.measured > 0 {
			measured["ring"] = tc.measured
		}
		ring := coll.Candidate{Algorithm: coll.Algorithm{Name: "ring"}}
		for bands := range 2 {
			a := testutil.Must(guarding(t, false, measured).ForLayouts(bands))(t)
			ring.Point = a.space.Points()[0]
			a.noise = preprocess.NoiseOf([]preprocess.Replicate{{First: coll.Measurement{Candidate: ring, Seconds: 1}, Again: coll.Measurement{Candidate: ring, Seconds: tc.again}}})
			if bands > 0 {
				task, _ := slices.BinarySearchFunc(a.models.Algorithms(), ring.Algorithm, coll.CompareAlgorithms)
				a.gaps[task][0] = -math.Log10(tc.predicted)
			}
			row := selection.Row{Point: ring.Point, Options: []selection.Option{{Algorithm: ring.Algorithm, Seconds: tc.predicted}, {Algorithm: coll.Default, Seconds: 1}}}
			a.markEqual(row)
			got := row.Options[0]
			if marked := bands > 0 && tc.want > 0; got.Equal != marked || marked && got.Seconds != tc.want || row.Options[1].Equal {
				t.Errorf("%s, %d bands: %+v, want equal with %g", tc.name, bands, row.Options, tc.want)
			}
			if beaten := tc.measured > 0 && (bands == 0 || tc.want == 0); a.beaten(ring) != beaten {
				t.Errorf("%s, %d bands: beaten: %t, want %t", tc.name, bands, a.beaten(ring), beaten)
			}
		}
	}
}

// TestLayoutPairPass checks the gain of a pair where the algorithm may fail to pass: at 8 B nothing is measured, and at 64 B
// ring was measured twice as fast as the default. The probability is that of a test at 5 %, moved by the predicted loss.
func TestLayoutPairPass(t *testing.T) {
	ring, tree := coll.Algorithm{Name: "ring"}, coll.Algorithm{Name: "tree"}
	for _, tc := range []struct {
		name       string
		ring, tree float64 // predicted at 8 B; the default takes 1
		bands      int
		gap        float64 // the default's time over that of the algorithm for 8 B; 0 if there is no pair
	}{
		{"as fast", 1, 2, 1, 1},
		{"a little slower", 1.015, 2, 1, 1 / 1.015},
		{"slower", 1.03, 2, 1, 0},
		{"another one is faster", 1.03, 0.5, 1, 0},
		{"another one is faster, and there are two ranges", 1.03, 0.5, 2, 2},
	} {
		a := testutil.Must(guarding(t, false, nil).ForLayouts(tc.bands))(t)
		p := a.space.Points()
		rows := []selection.Row{
			{Point: p[0], Options: []selection.Option{{Algorithm: ring, Seconds: tc.ring}, {Algorithm: tree, Seconds: tc.tree}, {Algorithm: coll.Default, Seconds: 1}}},
			{Point: p[1], Options: []selection.Option{{Algorithm: ring, Seconds: 0.5}, {Algorithm: coll.Default, Seconds: 1}}},
		}
		pairs := a.layoutPairs(rows, rows, nil)
		if tc.gap == 0 {
			if len(pairs) != 0 {
				t.Errorf("%s: %+v, want none", tc.name, pairs)
			}
			continue
		}
		pass := distuv.UnitNormal.CDF(guardSigmas * (1 + math.Log10(tc.gap)/a.expectedMargin(p[0])))
		want := pass * math.Log(2*tc.gap)
		if len(pairs) != 1 || math.Abs(pairs[0].Gain-want) > 1e-12 || pairs[0].Faster != (pass > 0.5) || len(pairs[0].Candidates) != 2 {
			t.Errorf("%s: %+v, want one with gain %g", tc.name, pairs, want)
		}
	}
}
