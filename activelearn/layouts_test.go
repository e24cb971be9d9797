package activelearn

import (
	"math"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
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
			if o.Seconds > 1 {
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
